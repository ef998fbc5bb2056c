import { describe, expect, it } from 'vitest';
import { findLatency } from '../../src/evidence/latency.ts';
import { getSampleSummary, type KeptSample } from '../../src/evidence/sample-summary.ts';
import { NOW } from '../records.ts';

const HOUR = 60 * 60 * 1000;

/** Valid answers that took so long, one every `hours` hours back from now, of the routes in turn. */
function makeSamples(times: readonly (number | null)[], { hours = 6, routes = ['a'] } = {}): KeptSample[] {
  return times.map((latency_ms, index) => {
    const at = new Date(Date.parse(NOW) - index * hours * HOUR).toISOString();
    const route_id = routes[index % routes.length] ?? 'a';
    return { ...{ route_id, at, is_ours: false, latency_ms }, outcome: 'payable', cause: null, status: 402 };
  });
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe('latency', () => {
  it('is known from twelve valid answers on', () => {
    expect(findLatency(makeSamples(upTo(11)), NOW)).toBeNull();
    expect(findLatency(makeSamples(upTo(12)), NOW)).toEqual({ median_ms: 6, p95_ms: 12, probes: 12 });
  });

  it.each([
    // By the definition of the nearest rank: the smallest that at least so many percent do not exceed.
    [13, 7, 13],
    [19, 10, 19],
    [20, 10, 19],
    [100, 50, 95],
  ])('of 1 to %i ms is %i ms in the middle and %i ms for 95 %%', (count, median_ms, p95_ms) => {
    expect(findLatency(makeSamples(upTo(count).toReversed()), NOW)).toEqual({ median_ms, p95_ms, probes: count });
  });

  it('leaves out answers that are not valid, were not measured, or are older than 30 days', () => {
    const valid = makeSamples(Array<number>(12).fill(80));
    const failed = makeSamples([1, 1]).map((sample) => ({ ...sample, outcome: 'server_error' as const }));
    const old = makeSamples([1, 1]).map((sample) => ({ ...sample, at: '2026-10-21T11:59:59.000Z' }));
    const all = [...valid, ...failed, ...makeSamples([null, null]), ...old];
    expect(findLatency(all, NOW)).toEqual({ median_ms: 80, p95_ms: 80, probes: 12 });
  });
});

describe('the summary of samples', () => {
  it('has the latency of the listing, and of each route that was asked often enough', () => {
    const samples = makeSamples(
      upTo(30).map((index) => index * 10),
      { routes: ['a', 'b', 'b', 'b'] },
    );
    const { latency, routes } = getSampleSummary(samples);
    expect(latency).toEqual({ median_ms: 150, p95_ms: 290, probes: 30 });
    expect(routes.get('a')?.latency).toBeNull();
    expect(routes.get('b')?.latency).toMatchObject({ probes: 22 });
  });

  it('counts answers that are close together once, and leaves out rounds of our own fault', () => {
    const spaced = makeSamples(Array<number>(20).fill(80));
    const late = spaced.map((sample, index) => (index < 4 ? { ...sample, latency_ms: 9000, is_ours: true } : sample));
    const again = makeSamples(Array<number>(50).fill(1), { hours: 0 }).map((sample) => ({
      ...sample,
      at: new Date(Date.parse(spaced[19]?.at ?? '') + 1000).toISOString(),
    }));
    const { latency } = getSampleSummary([...late, ...again]);
    expect(latency).toEqual({ median_ms: 80, p95_ms: 80, probes: 16 });
  });
});
