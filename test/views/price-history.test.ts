import { describe, expect, it } from 'vitest';
import type { Change } from '../../src/model/change.ts';
import { buildPriceHistory, MAX_PRICE_STEPS } from '../../src/views/listing/history.ts';

type Range = { min: number | null; max: number | null };

function makePriced(day: string, [min, max]: readonly [number | null, number | null], reason = 'probed'): Change {
  const to: Range = { min, max };
  return {
    revision: 1,
    at: `${day}T12:00:00.000Z`,
    slug: 'x',
    listing_id: '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01',
    kind: 'priced',
    reason,
    detail: { from: null, to },
  };
}

const UNTIL = '2026-11-20T12:00:00.000Z';
const DECLARED = makePriced('2026-10-11', [1000, 50_000], 'declared_by_manifest');

describe('the price over time', () => {
  it('is one sentence where it never changed', () => {
    const history = buildPriceHistory([DECLARED], UNTIL);
    expect(history).toMatchObject({ plot: null, cut: false });
    expect(history.summary).toBe('0.001-0.05 USDC per request since 2026-10-11, as declared. It has not changed.');
    expect(buildPriceHistory([DECLARED], UNTIL, { confirmed: true }).summary).toBe(
      '0.001-0.05 USDC per request since 2026-10-11, as declared, and seen by a probe since. It has not changed.',
    );
    expect(buildPriceHistory([], UNTIL)).toMatchObject({ summary: 'Nothing is on record of its price.', rows: [] });
  });

  it('says what it is now, how it came to be known, how often it changed and between what', () => {
    const changes = [DECLARED, makePriced('2026-10-31', [1000, 1000]), makePriced('2026-11-10', [2500, 20_000])];
    const { summary, rows } = buildPriceHistory(changes, UNTIL);
    expect(summary).toBe(
      '0.0025-0.02 USDC per request since 2026-11-10, seen by a probe. 2 changes since 2026-10-11; between 0.001 and 0.05 USDC in that time.',
    );
    expect(rows.map(({ since, price, why }) => [since, price, why])).toEqual([
      ['2026-10-11 12:00 UTC', '0.001-0.05', 'a manifest says so'],
      ['2026-10-31 12:00 UTC', '0.001', 'a probe saw it so'],
      ['2026-11-10 12:00 UTC', '0.0025-0.02', 'a probe saw it so'],
    ]);
  });

  it('shows a time without a price as such, and draws nothing there', () => {
    const changes = [DECLARED, makePriced('2026-10-31', [null, null]), makePriced('2026-11-10', [1000, 1000])];
    const { rows, plot } = buildPriceHistory(changes, UNTIL);
    expect(rows[1]?.price).toBe('not known');
    expect(plot?.lines.map(({ x1, x2 }) => [x1, x2])).toEqual([
      ['0%', '50%'],
      ['0%', '50%'],
      ['75%', '100%'],
    ]);
    const gone = buildPriceHistory([DECLARED, makePriced('2026-10-31', [null, null])], UNTIL);
    expect(gone.plot).toBeNull();
    expect(gone.summary).toMatch(/^No price is known since 2026-10-31/);
  });

  it('keeps to the latest of very many changes and says that there were more', () => {
    const many = Array.from({ length: MAX_PRICE_STEPS + 5 }, (_, at) =>
      makePriced(new Date(Date.UTC(2026, 8, 1 + at)).toISOString().slice(0, 10), [1000 + at, 1000 + at]),
    );
    const history = buildPriceHistory(many, UNTIL);
    expect([history.rows.length, history.cut, history.rows.at(-1)?.price]).toEqual([MAX_PRICE_STEPS, true, '0.001064']);
  });
});

describe('the plot of a price', () => {
  const changes = [DECLARED, makePriced('2026-10-31', [1000, 20_000]), makePriced('2026-11-10', [1000, 80_000])];
  const { plot } = buildPriceHistory(changes, UNTIL);

  it('begins at 0 and ends at a round price that holds the highest', () => {
    expect(plot?.scale).toEqual([
      { y: 0, price: '0.08' },
      { y: 75, price: '0.04' },
      { y: 150, price: '0' },
    ]);
    for (const highest of [1, 2, 3, 7, 9, 999, 1000, 1001, 123_456, 10_000_000_000]) {
      const steps = [makePriced('2026-10-11', [1, 1]), makePriced('2026-10-31', [1, highest])];
      const [top, half, zero] = buildPriceHistory(steps, UNTIL).plot?.scale ?? [];
      const [end, middle] = [Number(top?.price), Number(half?.price)];
      expect(end).toBeGreaterThanOrEqual(highest / 1_000_000);
      expect(end).toBeLessThanOrEqual(Math.max(2, highest * 2) / 1_000_000);
      expect(middle * 2).toBeCloseTo(end, 12);
      expect(zero?.price).toBe('0');
    }
  });

  it('goes by steps from the first price to the last change of the listing, each where its time is', () => {
    const horizontal = plot?.lines.filter(({ y1, y2 }) => y1 === y2) ?? [];
    const high = horizontal.filter(({ y1 }) => y1 < 148);
    expect(high.map(({ x1, x2, y1 }) => [x1, x2, y1])).toEqual([
      ['0%', '50%', 56.3],
      ['50%', '75%', 112.5],
      ['75%', '100%', 0],
    ]);
    const vertical = plot?.lines.filter(({ y1, y2 }) => y1 !== y2) ?? [];
    expect(vertical.map(({ x1, x2, y1, y2 }) => [x1, x2, y1, y2])).toEqual([
      ['50%', '50%', 56.3, 112.5],
      ['75%', '75%', 112.5, 0],
    ]);
  });

  it('tells what was declared from what was seen, and dates every point', () => {
    expect(plot?.lines.filter(({ basis }) => basis === 'declared').map(({ x1, x2 }) => [x1, x2])).toEqual([
      ['0%', '50%'],
      ['0%', '50%'],
    ]);
    expect(plot?.dots.map(({ words }) => words)).toContain('2026-11-10: 0.08 USDC');
    expect(plot?.dots).toHaveLength(6);
  });

  it('writes days under it that do not run into one another', () => {
    expect(plot?.days.map(({ x, day, anchor }) => [x, day, anchor])).toEqual([
      ['0%', '2026-10-11', 'start'],
      ['50%', '2026-10-31', 'middle'],
      ['100%', '2026-11-20', 'end'],
    ]);
  });

  it('holds when everything changed at one moment', () => {
    const at = makePriced('2026-11-20', [1000, 1000]);
    const now = buildPriceHistory([at, makePriced('2026-11-20', [2000, 2000])], at.at).plot;
    expect(now?.lines.every(({ x1, x2 }) => /^\d/.test(x1) && /^\d/.test(x2))).toBe(true);
  });
});
