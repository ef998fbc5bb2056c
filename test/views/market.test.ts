import { describe, expect, it } from 'vitest';
import {
  buildCsv,
  buildMarketTable,
  getNextPriceStep,
  getPriceStep,
  getQuartiles,
  type MarketData,
} from '../../src/views/market.ts';
import {
  buildMarketPage,
  buildPriceChart,
  buildProbeChart,
  type Chart,
  type ChartPanel,
} from '../../src/views/pages/market-page.ts';

const DATA: MarketData = {
  as_of: '2026-11-20T12:00:00.000Z',
  live: 14,
  verified: 3,
  categories: [
    {
      category: 'Data',
      listings: 10,
      verified: 3,
      bands: { established: 4, thin: 1, unscored: 5 },
      quartiles: [1000, 5000, 20_000],
      steps: new Map([
        [1000, 4],
        [5000, 4],
        [20_000, 1],
        [1_000_000, 1],
      ]),
    },
    {
      category: 'Tools',
      listings: 4,
      verified: 0,
      bands: { established: 0, thin: 0, unscored: 4 },
      quartiles: [10, 10, 200],
      steps: new Map([
        [10, 3],
        [200, 1],
      ]),
    },
  ],
  networks: { base: { advertised: 12, verified: 3 }, solana: { advertised: 5, verified: 1 } } as MarketData['networks'],
  neither: 1,
  listing_days: [
    { day: '2026-11-01', listed: 12, taken_out: 0, verified: 0, unverified: 0 },
    { day: '2026-11-05', listed: 3, taken_out: 0, verified: 4, unverified: 0 },
    { day: '2026-11-16', listed: 0, taken_out: 1, verified: 0, unverified: 1 },
  ],
  round_days: [
    { day: '2026-11-10', asked: 40, valid: 36, our_rounds: 0 },
    { day: '2026-11-11', asked: 0, valid: 0, our_rounds: 4 },
    { day: '2026-11-14', asked: 20, valid: 5, our_rounds: 1 },
  ],
};

const CHARTS: readonly Chart[] = [buildPriceChart(DATA), buildProbeChart(DATA)];

const getPercent = (text: string) => Number(text.replace('%', ''));

/** Reads the values back from what is drawn, by the scale that is drawn beside it. */
function readHeights({ bars, scale }: ChartPanel): number[] {
  const [zero, top] = scale;
  if (!zero || !top) throw new Error('no scale');
  const highest = Number(top.label.replace('%', ''));
  return bars.map(({ y, height }) => {
    expect(Math.abs(y + height - zero.y)).toBeLessThan(0.11);
    return ((zero.y - y) / (zero.y - top.y)) * highest;
  });
}

describe('the plots of the market', () => {
  it('begin every scale upwards at 0, on the base line, and keep every bar inside', () => {
    for (const { panels, height } of CHARTS) {
      for (const { scale, base, bars, top } of panels) {
        if (scale.length > 0) expect([scale[0]?.label.replace('%', ''), scale[0]?.y]).toEqual(['0', base]);
        for (const bar of bars) {
          expect(bar.y).toBeGreaterThanOrEqual(top);
          expect(bar.y + bar.height).toBeLessThanOrEqual(base + 0.11);
          expect(getPercent(bar.x)).toBeGreaterThanOrEqual(0);
          expect(getPercent(bar.x) + getPercent(bar.width)).toBeLessThanOrEqual(100.02);
        }
        expect(base).toBeLessThanOrEqual(height);
      }
    }
  });

  it('draw every listing once: the shares of a category add up to all of it', () => {
    for (const panel of buildPriceChart(DATA).panels) {
      expect(readHeights(panel).reduce((sum, share) => sum + share, 0)).toBeCloseTo(100, 0);
    }
  });

  it('place prices where a logarithmic scale has them, between the decades that are named', () => {
    const { ticks, panels } = buildPriceChart(DATA);
    const named = new Map(ticks.map(({ label, x }) => [Number(label), getPercent(x)]));
    const [low, next] = [...named.keys()];
    const decade = ((named.get(next ?? 0) ?? 0) - (named.get(low ?? 0) ?? 0)) / Math.log10((next ?? 0) / (low ?? 1));
    const getX = (price: number) => Math.log10(price / (low ?? 1)) * decade;
    expect(getPercent(panels[0]?.mark?.x ?? '')).toBeCloseTo(getX(0.005), 1);
    const bar = panels[0]?.bars.find(({ words }) => words.includes('1 to below 2 USDC'));
    expect(getPercent(bar?.x ?? '')).toBeGreaterThan(getX(1));
    expect(getPercent(bar?.x ?? '') + getPercent(bar?.width ?? '')).toBeLessThan(getX(2));
  });

  it('leave days without an answer empty, and show those left out as left out', () => {
    const [share, asked] = buildProbeChart(DATA).panels;
    if (!share || !asked) throw new Error('no panels');
    expect(readHeights({ ...share, bars: share.bars.filter(({ tone }) => tone === 'main') })).toEqual([90, 25]);
    expect(share.bars.filter(({ tone }) => tone === 'ours')).toHaveLength(1);
    expect(readHeights(asked).map(Math.round)).toEqual([40, 20]);
    // Five days: the first, and after three empty ones the last.
    expect(asked.bars.map(({ x }) => Math.floor(getPercent(x) / 20))).toEqual([0, 4]);
  });

  it('go by the week, from Mondays, once there is a long time to show', () => {
    const round_days = Array.from({ length: 120 }, (_, number) => ({
      day: new Date(Date.parse('2026-07-01') + number * 86_400_000).toISOString().slice(0, 10),
      ...{ asked: 10, valid: number % 2 === 0 ? 10 : 5, our_rounds: 0 },
    }));
    const { table, panels, title } = buildProbeChart({ ...DATA, round_days });
    expect(title).toBe('How many hosts work, by week');
    expect(table.rows[1]).toEqual(['2026-07-06', '2026-07-12', 70, 50, 0]);
    expect(panels[0]?.bars).toHaveLength(table.rows.length);
    expect(table.rows.reduce((sum, row) => sum + Number(row[2]), 0)).toBe(1200);
  });

  it('say in words what they show, and have all of it as a table', () => {
    for (const { summary, title, table, panels } of CHARTS) {
      expect(title.length * summary.length).toBeGreaterThan(0);
      expect(table.rows.length).toBeGreaterThan(0);
      for (const row of table.rows) expect(row).toHaveLength(table.columns.length);
      for (const { bars } of panels) for (const { words } of bars) expect(words).toMatch(/\d/);
    }
  });

  it('are not drawn where there is nothing to draw: a sentence says what is missing', () => {
    const none = { established: 0, thin: 0, unscored: 0 };
    const empty: MarketData = {
      ...{ as_of: DATA.as_of, live: 0, verified: 0, neither: 0, listing_days: [], round_days: [] },
      categories: [{ category: 'Data', listings: 0, verified: 0, bands: none, quartiles: null, steps: new Map() }],
      networks: {
        base: { advertised: 0, verified: 0 },
        solana: { advertised: 0, verified: 0 },
      } as MarketData['networks'],
    };
    const counts = { live_listings: 0, settlement_verified: 0, as_of: DATA.as_of };
    expect(buildMarketPage(empty, [], counts)).toMatchObject({
      charts: [],
      missing: ['There is no price yet.', 'No host has been probed yet.'],
    });
    const { charts, missing: lacking } = buildMarketPage(DATA, [], counts);
    expect([charts.length, lacking]).toEqual([CHARTS.length, []]);
    const { missing } = buildMarketPage({ ...DATA, round_days: DATA.round_days.slice(0, 1) }, [], counts);
    expect(missing).toEqual([expect.stringContaining('a valid 402 in 36 of 40 cases (90%)')]);
  });

  it('have no part that is empty', () => {
    const empty = { ...DATA.categories[0], category: 'Finance', listings: 0 } as (typeof DATA.categories)[number];
    expect(buildPriceChart({ ...DATA, categories: [...DATA.categories, empty] }).panels).toHaveLength(2);
    for (const { panels } of CHARTS) for (const { bars } of panels) expect(bars.length).toBeGreaterThan(0);
  });
});

describe('the table of listings', () => {
  it('follows what stood from day to day, and ends at what stands now', () => {
    expect(buildMarketTable('listings', DATA).rows).toEqual([
      ['2026-11-01', 12, 0, 12, 0],
      ['2026-11-05', 15, 4, 3, 0],
      ['2026-11-16', 14, 3, 0, 1],
    ]);
  });
});

describe('price steps', () => {
  it('take in their lower edge and end before the next', () => {
    for (const amount of [1, 2, 4, 5, 9, 10, 19, 20, 999, 1000, 4999, 5000, 123_456_789]) {
      const step = getPriceStep(amount);
      expect([step <= amount, amount < getNextPriceStep(step)]).toEqual([true, true]);
      expect(getPriceStep(getNextPriceStep(step))).toBe(getNextPriceStep(step));
    }
  });

  it('leave quartiles to be prices that somebody asks', () => {
    const quartiles = (...amounts: number[]) =>
      getQuartiles([...new Set(amounts)].map((amount) => [amount, amounts.filter((other) => other === amount).length]));
    expect(quartiles(1, 2, 3, 4)).toEqual([1, 2, 3]);
    expect(quartiles(1, 1, 1, 9)).toEqual([1, 1, 1]);
    expect(quartiles(1, 5, 5, 5, 9)).toEqual([5, 5, 5]);
    expect(quartiles(7)).toEqual([7, 7, 7]);
    expect(quartiles()).toBeNull();
  });
});

describe('a CSV document', () => {
  it('quotes what it has to, and lets no text run as a formula', () => {
    const csv = buildCsv(
      ['name', 'count'],
      [
        ['plain', 1],
        ['a "b", c', -2],
        ['=1+1', null],
        ['@x\r\ny', 3],
      ],
    );
    expect(csv).toBe('name,count\r\nplain,1\r\n"a ""b"", c",-2\r\n\'=1+1,\r\n"\'@x\r\ny",3\r\n');
  });
});
