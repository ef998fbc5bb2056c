import { describe, expect, it } from 'vitest';
import { getSampleSummary, isStillOffered, type KeptSample, NO_SAMPLES } from '../../src/evidence/sample-summary.ts';
import type { ProbeOutcome } from '../../src/model/probe.ts';

const HOUR = 3_600_000;
const START = Date.parse('2026-11-01T00:00:00.000Z');

/** One sample every six hours, of the routes in turn. */
function makeSamples(outcomes: readonly ProbeOutcome[], routes: readonly string[] = ['a']): KeptSample[] {
  return outcomes.map((outcome, index) => {
    const at = new Date(START + index * 6 * HOUR).toISOString();
    return {
      route_id: routes[index % routes.length] ?? 'a',
      at,
      outcome,
      cause: null,
      status: null,
      latency_ms: null,
      is_ours: false,
    };
  });
}

describe('the summary of samples', () => {
  it('is empty without samples', () => {
    expect(getSampleSummary([])).toEqual(NO_SAMPLES);
  });

  it('has the latest probe, the last valid answer and the failures since then for each route', () => {
    const { routes, latest } = getSampleSummary(
      makeSamples(['payable', 'timeout', 'payable', 'rate_limited', 'no_402', 'payable'], ['a', 'b']),
    );
    expect(routes.get('a')).toMatchObject({ outcome: 'no_402', valid_at: '2026-11-01T12:00:00.000Z', failures: 1 });
    expect(routes.get('b')).toMatchObject({ outcome: 'payable', valid_at: '2026-11-02T06:00:00.000Z', failures: 0 });
    expect(latest).toMatchObject({ route_id: 'b', outcome: 'payable' });
  });

  it('says since when the valid answers of a route can be read in two ways, until one cannot', () => {
    const samples = makeSamples(['payable', 'payable', 'timeout', 'payable_with_changed_terms', 'timeout', 'payable']);
    const getSince = (causes: readonly (string | null)[]) => {
      const taken = causes.map((cause, index) => ({ ...samples[index], cause }) as KeptSample);
      return getSampleSummary(taken).routes.get('a')?.reads_differently_since;
    };
    const two = 'reads_differently';
    expect(getSince([null, two, null, two, null])).toBe('2026-11-01T06:00:00.000Z');
    expect(getSince([two, two])).toBe('2026-11-01T00:00:00.000Z');
    expect(getSince([two, null, null, two])).toBe('2026-11-01T18:00:00.000Z');
    expect(getSince([two, two, null, two, null, null])).toBeUndefined();
    expect(getSince([two, null, null, 'amount'])).toBeUndefined();
  });

  it('ignores failures in rounds of our own fault, and keeps valid answers', () => {
    const samples = makeSamples(['payable', 'timeout', 'timeout', 'payable', 'timeout']);
    const { reliability, failing } = getSampleSummary(
      samples.map((sample, index) => ({ ...sample, is_ours: index >= 1 && index < 4 })),
    );
    expect(reliability).toMatchObject({ samples: 3 });
    expect(failing).toEqual({ since: '2026-11-01T18:00:00.000Z', failures: 1 });
  });
});

describe('a route', () => {
  const failing = { since: '2026-11-01T00:00:00.000Z', failures: 4 };

  it('counts as offered until it failed three times in a row', () => {
    expect(isStillOffered(null, { failing: undefined, routes: 1 })).toBe(true);
    expect(isStillOffered({ failures: 2 }, { failing: undefined, routes: 1 })).toBe(true);
    expect(isStillOffered({ failures: 3 }, { failing: undefined, routes: 1 })).toBe(false);
  });

  it('does not count as offered if its whole listing failed and each route had its turn', () => {
    expect(isStillOffered({ failures: 1 }, { failing, routes: 4 })).toBe(false);
    expect(isStillOffered({ failures: 1 }, { failing, routes: 5 })).toBe(true);
  });
});

it('simultaneous failures of several routes count as one', () => {
  const at = '2026-11-20T00:00:00.000Z';
  const together = Array.from({ length: 12 }, (_, index) => ({
    ...{ route_id: `r${index}`, outcome: 'timeout' as const, cause: null, status: null },
    ...{ latency_ms: null, is_ours: false },
    at: new Date(Date.parse(at) + index * 1000).toISOString(),
  }));
  const valid = { ...together[0], at: '2026-11-19T18:00:00.000Z', outcome: 'payable' as const } as KeptSample;
  expect(getSampleSummary([valid, ...together]).failing).toEqual({ since: valid.at, failures: 1 });
  const again = together.map((sample) => ({ ...sample, route_id: 'r0' }));
  expect(getSampleSummary([valid, ...again]).routes.get('r0')).toMatchObject({ failures: 1 });
});
