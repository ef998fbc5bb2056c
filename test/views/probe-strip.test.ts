import { describe, expect, it } from 'vitest';
import { getReliability, UNSCORED } from '../../src/evidence/reliability.ts';
import type { ProbeOutcome } from '../../src/model/probe.ts';
import { buildLegendDay, buildProbeStrip } from '../../src/views/listing/history.ts';

/** Samples of some days of November 2026, one an hour from midnight on. */
function makeReliability(days: Readonly<Record<number, readonly ProbeOutcome[]>>) {
  const samples = Object.entries(days).flatMap(([day, outcomes]) =>
    outcomes.map((outcome, hour) => ({
      at: new Date(Date.UTC(2026, 10, Number(day), hour)).toISOString(),
      outcome,
    })),
  );
  return getReliability(samples, samples.at(-1)?.at ?? '2026-11-20T12:00:00.000Z');
}

const EVERY_KIND = makeReliability({
  16: ['payable', 'payable_with_changed_terms'],
  17: ['payable', 'timeout', 'input_rejected'],
  18: ['no_402', 'refused'],
  20: ['internal'],
});

describe('the strip of probe results', () => {
  it('is none where no sample was taken', () => {
    expect(buildProbeStrip(UNSCORED)).toBeNull();
  });

  it('shows every day that the window touches, up to that of the last sample, whatever day it is today', () => {
    const strip = buildProbeStrip(EVERY_KIND);
    expect(strip).toMatchObject({ from: '2026-10-21', to: '2026-11-20' });
    expect(strip?.days).toHaveLength(31);
    expect(strip?.days.slice(-5).map(({ day, state, words }) => [day, state, words])).toEqual([
      ['2026-11-16', 'valid', '2 valid'],
      ['2026-11-17', 'mixed', '1 valid, 1 failed, 1 inconclusive'],
      ['2026-11-18', 'failed', '2 failed'],
      ['2026-11-19', 'none', 'no sample'],
      ['2026-11-20', 'inconclusive', '1 inconclusive'],
    ]);
    expect(strip?.days.slice(0, -5).every(({ state }) => state === 'none')).toBe(true);
  });

  it('crosses the end of a year and a leap day without losing a day', () => {
    const leap = buildProbeStrip({ ...UNSCORED, days: [{ day: '2028-03-05', valid: 1, failed: 0, inconclusive: 0 }] });
    expect(leap?.days.map(({ day }) => day)).toContain('2028-02-29');
    const year = buildProbeStrip({ ...UNSCORED, days: [{ day: '2027-01-02', valid: 1, failed: 0, inconclusive: 0 }] });
    expect([year?.from, year?.days.length]).toEqual(['2026-12-03', 31]);
  });

  it('says in one sentence on how many days nothing failed, how many samples were valid, and how many told nothing', () => {
    expect(buildProbeStrip(EVERY_KIND)?.summary).toBe(
      '1 of 3 days without a failure; 3 of 6 samples valid; 2 samples told nothing and are left out',
    );
    expect(buildProbeStrip(makeReliability({ 20: ['payable'] }))?.summary).toBe(
      '1 of 1 day without a failure; 1 of 1 sample valid',
    );
    expect(buildProbeStrip(makeReliability({ 20: ['rate_limited'] }))?.summary).toBe('1 sample told nothing');
  });

  it('tells days apart by what is drawn, not by colour: filled, half filled, outlined and crossed, a dot, nothing', () => {
    const drawn = Object.fromEntries((buildProbeStrip(EVERY_KIND)?.days ?? []).map((day) => [day.state, day]));
    const getForm = (state: string) => [drawn[state]?.filled, drawn[state]?.outlined].map((path) => path ?? '');
    const forms = ['valid', 'mixed', 'failed', 'inconclusive', 'none'].map((state) =>
      getForm(state).map((path) => path.replace(/[\d. -]+/g, '')),
    );
    expect(forms).toEqual([
      ['MhVhz', ''],
      ['MhVhz', 'MhVhz'],
      ['', 'MhVhzMLML'],
      ['Maa', ''],
      ['', ''],
    ]);
  });

  it('draws every cell inside its own place', () => {
    const strip = buildProbeStrip(EVERY_KIND);
    for (const [at, { filled, outlined }] of (strip?.days ?? []).entries()) {
      for (const [, x] of `${filled ?? ''}${outlined ?? ''}`.matchAll(/[ML]([\d.]+) /g)) {
        expect(Number(x)).toBeGreaterThan(at * 20);
        expect(Number(x)).toBeLessThan((at + 1) * 20);
      }
    }
    expect(strip?.width).toBe(31 * 20);
  });

  it('has a legend of the same forms', () => {
    for (const state of ['valid', 'mixed', 'failed', 'inconclusive'] as const) {
      expect(buildLegendDay(state).state).toBe(state);
    }
  });
});
