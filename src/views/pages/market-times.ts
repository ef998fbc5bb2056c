import { formatCount, formatDay } from '../words/figures.ts';
import {
  buildScale,
  type Chart,
  type ChartBar,
  type ChartPanel,
  formatShare,
  formatX,
  LABEL_ROOM,
  listDayTicks,
  PANEL_GAP,
} from './chart.ts';
import type { MarketData } from './market-data.ts';
import {
  addDays,
  type ListingPeriod,
  listListingPeriods,
  listRoundPeriods,
  type RoundPeriod,
} from './market-periods.ts';
import { buildMarketTable } from './market-tables.ts';

const PANEL_HEIGHT = 96;
const SMALL_HEIGHT = 40;

/** Builds the chart of live listings and of those verified over time, each from 0 on a scale of its own. */
export function buildListingsChart(data: MarketData): Chart {
  const periods = listListingPeriods(data);
  const first = periods[0]?.from ?? formatDay(data.as_of);
  const days = Math.max(1, periods.at(-1)?.end ?? 1);
  const draw = (top: number, height: number, key: 'live' | 'verified', label: string): ChartPanel => {
    const base = top + LABEL_ROOM + height;
    const highest = Math.max(1, ...periods.map((period) => period[key]));
    const { getY, scale } = buildScale(highest, {
      base,
      height,
      format: (value) => String(Math.round(value * 10) / 10),
    });
    const bars = periods.map((period): ChartBar => {
      const y = getY(period[key]);
      return {
        ...placeDays(period, days),
        y,
        height: Math.round((base - y) * 10) / 10,
        tone: key === 'verified' ? 'main' : 'soft',
        words: `From ${period.from}: ${period[key]}${key === 'verified' ? ` of ${period.live} verified` : ` live; ${period.listed} listed, ${period.taken_out} taken out that day`}`,
      };
    });
    return { label, top, base, scale, bars, mark: null };
  };
  const live = draw(0, PANEL_HEIGHT, 'live', `Live listings: ${data.live}`);
  const verified = draw(
    live.base + PANEL_GAP,
    SMALL_HEIGHT,
    'verified',
    `Of those settlement-verified: ${data.verified}, ${formatShare(data.verified, data.live)}`,
  );
  const taken = periods.reduce((total, { taken_out }) => total + taken_out, 0);
  return {
    id: 'listings',
    title: 'Listings over time',
    summary: `${formatCount(data.live, 'live listing')} and ${data.verified} verified on ${formatDay(data.as_of)}; the first came on ${first}, and ${taken === 0 ? 'none was' : `${formatCount(taken, 'time')} one was`} taken out.`,
    axis: 'Day (UTC)',
    height: verified.base + 1,
    panels: [live, verified],
    ticks: listDayTicks(days, (number) => addDays(first, number)),
    legend: [
      { tone: 'soft', words: 'live' },
      { tone: 'main', words: 'settlement-verified' },
    ],
    table: buildMarketTable('listings', data),
  };
}

/** Builds the chart of how hosts answered over time: the share of valid answers, and how many hosts that is of. */
export function buildProbeChart(data: MarketData): Chart {
  const periods = listRoundPeriods(data);
  const first = periods[0]?.from ?? formatDay(data.as_of);
  const days = Math.max(1, periods.at(-1)?.end ?? 1);
  const [asked, valid] = [sumOf(periods, 'asked'), sumOf(periods, 'valid')];
  const span = (periods[0]?.end ?? 1) === 1 ? 'day' : 'week';
  const base = LABEL_ROOM + PANEL_HEIGHT;
  const { getY, scale } = buildScale(1, { base, height: PANEL_HEIGHT, format: (share) => formatShare(share, 1) });
  const shares = periods
    .filter((period) => period.asked > 0)
    .map((period) => buildBar(period, days, { y: getY(period.valid / period.asked), base, tone: 'main' }));
  const left = periods
    .filter((period) => period.asked === 0)
    .map((period) => buildBar(period, days, { y: base - 5, base, tone: 'ours' }));
  const top = base + PANEL_GAP;
  const small = top + LABEL_ROOM + SMALL_HEIGHT;
  const counts = buildScale(Math.max(1, ...periods.map((period) => period.asked)), {
    ...{ base: small, height: SMALL_HEIGHT },
    format: String,
  });
  return {
    id: 'probes',
    title: `Probe health by ${span}`,
    summary:
      asked === 0
        ? 'No host has been asked yet.'
        : `Hosts gave a valid 402 in ${valid} of ${asked} cases (${formatShare(valid, asked)}), a host counted once in each six hours in which it was asked. What is live and what was taken out since both count.`,
    axis: `Day (UTC)${span === 'week' ? ', by weeks from Monday' : ''}`,
    height: small + 1,
    panels:
      periods.length === 0
        ? []
        : [
            { label: 'Share of hosts with a valid 402', top: 0, base, scale, bars: [...shares, ...left], mark: null },
            {
              ...{ label: 'Hosts asked, by round of six hours', top, base: small, scale: counts.scale, mark: null },
              bars: periods
                .filter((period) => period.asked > 0)
                .map((period) => buildBar(period, days, { y: counts.getY(period.asked), base: small, tone: 'soft' })),
            },
          ],
    ticks: periods.length === 0 ? [] : listDayTicks(days, (number) => addDays(first, number)),
    legend: [
      { tone: 'main', words: 'valid 402' },
      { tone: 'soft', words: 'asked' },
      { tone: 'ours', words: 'left out: the fault was ours' },
    ],
    table: buildMarketTable('probes', data),
  };
}

function buildBar(
  period: RoundPeriod,
  days: number,
  { y, base, tone }: { y: number; base: number; tone: ChartBar['tone'] },
): ChartBar {
  const { from, to, asked, valid, our_rounds } = period;
  const when = from === to ? from : `${from} to ${to}`;
  const left = our_rounds > 0 ? `${our_rounds} of its rounds left out` : '';
  const said = asked > 0 ? `${valid} of ${asked} (${formatShare(valid, asked)})` : '';
  const words = `${when}: ${[said, left].filter(Boolean).join('; ')}`;
  return { ...placeDays(period, days, 0.12), y, height: Math.round((base - y) * 10) / 10, tone, words };
}

function placeDays({ start, end }: Pick<ListingPeriod, 'start' | 'end'>, days: number, gap = 0) {
  const width = (end - start) / days;
  return { x: formatX(start / days + (width * gap) / 2), width: formatX(width * (1 - gap)) };
}

function sumOf(periods: readonly RoundPeriod[], key: 'asked' | 'valid'): number {
  return periods.reduce((total, period) => total + period[key], 0);
}
