import { describe, expect, it } from 'vitest';
import { getReliability, getWilsonLowerBound, scoreSamples, UNSCORED } from '../../src/evidence/reliability.ts';
import type { ProbeOutcome } from '../../src/model/probe.ts';
import { NOW } from '../records.ts';

const HOUR = 60 * 60 * 1000;

/** Samples every `hours` hours back from now, the newest first; outcomes repeat. */
function makeSamples(count: number, hours: number, outcomes: readonly ProbeOutcome[] = ['payable']) {
  return Array.from({ length: count }, (_, index) => ({
    at: new Date(Date.parse(NOW) - index * hours * HOUR).toISOString(),
    outcome: outcomes[index % outcomes.length] ?? 'payable',
  }));
}

describe('the Wilson lower bound', () => {
  it.each([
    // n/(n+z²) where all succeed; the others computed by hand from the formula.
    [50, 50, 0.92865],
    [12, 12, 0.75751],
    [90, 100, 0.82563],
    [0, 20, 0],
  ])('of %i of %i is %f', (successes, total, expected) => {
    expect(getWilsonLowerBound(successes, total)).toBeCloseTo(expected, 4);
  });
});

describe('reliability, method version 3', () => {
  it('has no score without 12 samples over 3 days', () => {
    expect(getReliability([], NOW)).toEqual(UNSCORED);
    expect(getReliability(makeSamples(11, 24), NOW)).toMatchObject({ band: 'unscored', score: null, samples: 11 });
    expect(getReliability(makeSamples(40, 1), NOW)).toMatchObject({ band: 'unscored', score: null, samples: 40 });
  });

  it('is thin from 12 samples over 3 days and established from 50 over 14', () => {
    expect(getReliability(makeSamples(13, 6), NOW)).toMatchObject({ band: 'thin', score: 77.2, samples: 13 });
    expect(getReliability(makeSamples(56, 6), NOW)).toMatchObject({ band: 'thin', samples: 56 });
    expect(getReliability(makeSamples(57, 6), NOW)).toEqual({
      band: 'established',
      score: 93.7,
      samples: 57,
      window_days: 30,
      method: 3,
      last_sample_at: NOW,
      days: expect.any(Array),
    });
  });

  it('weights each sample by the time it stands for, a day at most', () => {
    const at = (hours: number) => new Date(Date.parse(NOW) + hours * HOUR).toISOString();
    const take = (hours: number, outcome: ProbeOutcome = 'payable') => ({ at: at(hours), outcome });
    // 6 hours each: the same as without weights.
    expect(scoreSamples([take(0), take(6, 'timeout'), take(12), take(18)])).toEqual({ share: 0.75, effective: 4 });
    // 3+3, 3+12, 12+12, 12+3 hours.
    const sparse = scoreSamples([take(54, 'timeout'), take(0), take(30, 'timeout'), take(6, 'timeout')]);
    expect(sparse.share).toBeCloseTo(6 / 60);
    expect(sparse.effective).toBeCloseTo(60 ** 2 / (6 ** 2 + 15 ** 2 + 24 ** 2 + 15 ** 2));
    // A month without probes: each side of the gap gets half a day of it.
    expect(scoreSamples([take(0), take(30 * 24, 'timeout')])).toEqual({ share: 0.5, effective: 2 });
  });

  it('gives sparse and dense samples only the weight of their time', () => {
    // Twenty days of valid answers every six hours, then ten of failures: once a day, or every six hours.
    const valid = Array.from({ length: 80 }, (_, index) => -720 + index * 6);
    const build = (step: number) => [
      ...valid.map((hours) => ({
        at: new Date(Date.parse(NOW) + hours * HOUR + 1).toISOString(),
        outcome: 'payable' as const,
      })),
      ...Array.from({ length: 240 / step }, (_, index) => ({
        at: new Date(Date.parse(NOW) - (240 - step * (index + 1)) * HOUR).toISOString(),
        outcome: 'timeout' as const,
      })),
    ];
    const [daily, often] = [24, 6].map((step) => getReliability(build(step), NOW).score ?? 0) as [number, number];
    expect(scoreSamples(build(24)).share).toBeCloseTo(scoreSamples(build(6)).share, 1);
    // By count alone daily failures would be 10 of 90 and give 81.
    expect(often).toBeGreaterThan(55);
    expect(often).toBeLessThan(60);
    expect(Math.abs(often - daily)).toBeLessThan(5);
  });

  it('counts the samples of the window by day', () => {
    const mixed: ProbeOutcome[] = ['payable', 'timeout', 'payable', 'rate_limited'];
    expect(getReliability(makeSamples(6, 6, mixed), NOW).days).toEqual([
      { day: '2026-11-19', valid: 1, failed: 1, inconclusive: 1 },
      { day: '2026-11-20', valid: 2, failed: 1, inconclusive: 0 },
    ]);
  });

  it('counts a valid 402 as good, whatever it asks, and every conclusive failure as bad', () => {
    const mixed: ProbeOutcome[] = ['payable', 'payable_with_changed_terms', 'timeout', 'no_402'];
    expect(getReliability(makeSamples(60, 6, mixed), NOW).score).toBe(37.7);
  });

  it('leaves out inconclusive samples, older ones and future ones', () => {
    const unclear = makeSamples(40, 6, ['input_rejected', 'rate_limited', 'blocked_address', 'internal']);
    expect(getReliability(unclear, NOW)).toEqual({ ...UNSCORED, days: expect.any(Array) });
    const old = makeSamples(13, 6).map(({ outcome }, index) => ({
      at: new Date(Date.parse(NOW) - (30 * 24 + index) * HOUR).toISOString(),
      outcome,
    }));
    expect(getReliability([...old, ...makeSamples(2, 6)], NOW).samples).toBe(2);
    expect(getReliability([{ at: '2027-01-01T00:00:00.000Z', outcome: 'payable' }], NOW)).toEqual(UNSCORED);
  });
});
