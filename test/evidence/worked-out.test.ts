import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isLongEnoughToDelist } from '../../src/evidence/delisting.ts';
import { getRound } from '../../src/evidence/rounds.ts';
import { getSampleSummary, type KeptSample } from '../../src/evidence/sample-summary.ts';
import { PROBE_OUTCOMES, type ProbeOutcome } from '../../src/model/probe.ts';
import { workOut } from './oracle.ts';

const HOUR = 3_600_000;
const START = Date.parse('2026-01-01T00:00:00.000Z');

/** Outcomes with many failures and valid answers, in runs. */
const outcome = fc.oneof(
  { weight: 5, arbitrary: fc.constant<ProbeOutcome>('payable') },
  { weight: 3, arbitrary: fc.constant<ProbeOutcome>('timeout') },
  { weight: 2, arbitrary: fc.constantFrom<ProbeOutcome>(...PROBE_OUTCOMES) },
);
const phase = fc.record({
  outcome: fc.option(outcome, { nil: null }),
  // Gaps of all sizes, mostly those of the schedule, and the exact limits of the rules.
  gaps: fc.array(
    fc.oneof(fc.double({ min: 5.4, max: 6.6, noNaN: true }), fc.constantFrom(0.01, 1, 4.999, 5, 6, 24, 72, 336, 720)),
    { minLength: 1, maxLength: 60 },
  ),
  mixed: fc.array(outcome, { minLength: 1, maxLength: 7 }),
});

it('the summary of any samples equals that of the simple computation', () => {
  fc.assert(
    fc.property(
      fc.array(phase, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 4 }),
      fc.func(fc.boolean()),
      (phases, routes, isOurs) => {
        let ms = START;
        const samples = phases.flatMap(({ outcome: fixed, gaps, mixed }) =>
          gaps.map((gap, index) => {
            ms += Math.round(gap * HOUR);
            const at = new Date(ms).toISOString();
            const seen = fixed ?? mixed[index % mixed.length] ?? 'payable';
            return {
              ...{ at, round: getRound(at), outcome: seen },
              ...{ cause: null, status: null, latency_ms: null },
              route_id: `r${index % routes}`,
            };
          }),
        );
        const ours = new Set(samples.map(({ round }) => round).filter((round) => round % 3 === 0 && isOurs(round)));
        const {
          reliability,
          failing,
          latest,
          routes: seen,
        } = getSampleSummary(
          samples.map(({ round, ...sample }): KeptSample => ({ ...sample, is_ours: ours.has(round) })),
        );
        const worked = workOut(samples, ours);
        expect({ ...reliability, days: [] }).toEqual({
          ...{ band: worked.band, score: worked.score, samples: worked.samples },
          ...{ last_sample_at: worked.last_sample_at, days: [], window_days: 30, method: 3 },
        });
        expect(failing).toEqual(worked.failing);
        expect(latest?.at).toBe(worked.latest?.at);
        expect([...seen].map(([id, { cause: _c, status: _s, latency: _l, ...probe }]) => [id, probe])).toEqual([
          ...worked.routes,
        ]);
        if (failing && latest) {
          const days = (Date.parse(latest.at) - Date.parse(failing.since)) / (24 * HOUR);
          expect(isLongEnoughToDelist(failing, latest.at)).toBe(days >= 14 && failing.failures >= 10);
        }
      },
    ),
  );
});
