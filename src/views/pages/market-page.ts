import { formatUsdc } from '../../model/usdc.ts';
import type { ChangeNews } from '../changes.ts';
import { PATHS } from '../links.ts';
import {
  addDays,
  buildMarketTable,
  type CategoryFigures,
  getNextPriceStep,
  listRoundPeriods,
  MARKET_TABLES,
  type MarketData,
  type MarketTable,
  type RoundPeriod,
} from '../market.ts';
import { type Counts, formatCount, formatCounts, formatDay, formatMinute } from '../words/figures.ts';
import { buildNewsRow, type NewsRow } from './changes-page.ts';

/** The page about the market as a whole. */
export interface MarketPage {
  /** Time of the figures, to the minute. */
  readonly as_of: string;
  readonly counts: string;
  /** Charts with something to draw. */
  readonly charts: readonly Chart[];
  /** A sentence for each chart without anything to draw. */
  readonly missing: readonly string[];
  readonly news: readonly NewsRow[];
  /** The figures as CSV: those of the charts, and others. */
  readonly tables: readonly { readonly name: string; readonly path: string }[];
}

/** Builds the page about the market. */
export function buildMarketPage(data: MarketData, news: readonly ChangeNews[], counts: Counts): MarketPage {
  const charts = [buildPriceChart(data), buildProbeChart(data)];
  return {
    as_of: formatMinute(data.as_of),
    counts: formatCounts(counts),
    charts: charts.filter(({ missing }) => missing === null),
    missing: charts.flatMap(({ missing }) => missing ?? []),
    news: news.map(buildNewsRow),
    tables: MARKET_TABLES.map((name) => ({ name, path: PATHS.marketData(name) })),
  };
}

/** A bar of a chart. `x` and `width` are percentages of the width, `y` and `height` pixels. */
interface ChartBar {
  readonly x: string;
  readonly width: string;
  readonly y: number;
  readonly height: number;
  /** Its fill: the thing itself, what it is a share of, what is left out. */
  readonly tone: 'main' | 'soft' | 'ours';
  /** Its content in words, with its figures. */
  readonly words: string;
}

/** One of several charts above one another that share the scale along the bottom. */
export interface ChartPanel {
  /** Its content, with the number of things counted. */
  readonly label: string;
  /** Pixels from the top of the drawing to its label, and to its base line. */
  readonly top: number;
  readonly base: number;
  /** The scale upwards. */
  readonly scale: readonly { readonly y: number; readonly label: string }[];
  readonly bars: readonly ChartBar[];
  /** A mark across it, such as a median. */
  readonly mark: { readonly x: string; readonly words: string } | null;
}

/** A place on the scale along the bottom. */
interface ChartTick {
  readonly x: string;
  readonly anchor: 'start' | 'middle' | 'end';
  readonly label: string;
}

/** A picture of figures, drawn at any width, with all of it in words and as a table. */
export interface Chart {
  /** Id on its page, and the name of its table. */
  readonly id: string;
  readonly title: string;
  /** Its content in a sentence or two with the main figures. */
  readonly summary: string;
  /** Unit of the scale along the bottom. */
  readonly axis: string;
  readonly height: number;
  /** Text in its place where there is nothing to draw yet; else null. */
  readonly missing: string | null;
  readonly panels: readonly ChartPanel[];
  readonly ticks: readonly ChartTick[];
  readonly legend: readonly { readonly tone: ChartBar['tone'] | 'mark'; readonly words: string }[];
  readonly table: MarketTable;
}

/** Room for the label over a panel, and below its base line, in pixels. */
const LABEL_ROOM = 24;
const PANEL_GAP = 16;

/** Writes a share of the width: 0.5 as `50%`. */
function formatX(share: number): string {
  return `${Math.round(share * 10_000) / 100}%`;
}

/** Writes a share for reading, to a tenth of a percent where that says something: `96.2%`, `100%`. */
function formatShare(part: number, whole: number): string {
  if (whole === 0) return 'none';
  const percent = (part / whole) * 100;
  return `${Number.isInteger(percent) ? percent : percent.toFixed(1)}%`;
}

/** Builds the scale from 0 to a round number not below the highest value; `height` in pixels up from `base`. */
function buildScale(
  highest: number,
  { base, height, format }: { base: number; height: number; format: (value: number) => string },
): { getY: (value: number) => number; top: number; scale: ChartPanel['scale'] } {
  const top = getRoundTop(highest);
  const getY = (value: number) => Math.round((base - (value / top) * height) * 10) / 10;
  return { top, getY, scale: [0, top].map((value) => ({ y: getY(value), label: format(value) })) };
}

/** Returns the next of a few round numbers times a power of ten, close above the highest value. */
function getRoundTop(highest: number): number {
  if (highest <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(highest));
  // A number that is a whole power but for a rounding error counts as that power.
  const digit =
    [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((candidate) => candidate * power >= highest * (1 - 1e-9)) ?? 10;
  return digit * power;
}

/** Lists days along the bottom: first and last, and those between that have room on a phone. `days` is the whole length. */
function listDayTicks(days: number, getDay: (number: number) => string): ChartTick[] {
  if (days <= 1) return [{ x: '0%', anchor: 'start', label: getDay(0) }];
  const count = days >= 6 ? 3 : 2;
  return Array.from({ length: count }, (_, index) => {
    const share = index / (count - 1);
    const anchor = index === 0 ? 'start' : index === count - 1 ? 'end' : 'middle';
    const day = getDay(Math.min(days - 1, Math.floor(share * days)));
    return { x: formatX(share), anchor, label: day };
  });
}

const TIME_PANEL_HEIGHT = 96;
const SMALL_HEIGHT = 40;

/** The share of a bar's room that is left free beside it, half on each side. */
const GAP_SHARE = 0.12;

/** Builds the chart of how many hosts work over time: the share of valid answers, and how many hosts that is of. */
export function buildProbeChart(data: MarketData): Chart {
  const periods = listRoundPeriods(data);
  const first = periods[0]?.from ?? formatDay(data.as_of);
  const days = Math.max(1, periods.at(-1)?.end ?? 1);
  const [asked, valid] = [sumOf(periods, 'asked'), sumOf(periods, 'valid')];
  const summary = `Hosts gave a valid 402 in ${valid} of ${asked} cases (${formatShare(valid, asked)}), a host counted once in each six hours in which it was asked. What is live and what was removed since both count.`;
  const span = (periods[0]?.end ?? 1) === 1 ? 'day' : 'week';
  const base = LABEL_ROOM + TIME_PANEL_HEIGHT;
  const { getY, scale } = buildScale(1, { base, height: TIME_PANEL_HEIGHT, format: (share) => formatShare(share, 1) });
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
    title: `How many hosts work, by ${span}`,
    missing: asked === 0 ? 'No host has been probed yet.' : days < 2 ? summary : null,
    summary,
    axis: `Day (UTC)${span === 'week' ? ', by weeks from Monday' : ''}`,
    height: small + 1,
    panels: [
      { label: 'Share of hosts with a valid 402', top: 0, base, scale, bars: [...shares, ...left], mark: null },
      {
        ...{ label: 'Hosts asked, by round of six hours', top, base: small, scale: counts.scale, mark: null },
        bars: periods
          .filter((period) => period.asked > 0)
          .map((period) => buildBar(period, days, { y: counts.getY(period.asked), base: small, tone: 'soft' })),
      },
    ],
    ticks: listDayTicks(days, (number) => addDays(first, number)),
    legend: [
      { tone: 'main', words: 'valid 402' },
      { tone: 'soft', words: 'asked' },
      ...(left.length > 0 ? ([{ tone: 'ours', words: 'left out: the fault was ours' }] as const) : []),
    ],
    table: buildMarketTable('probes', data),
  };
}

function buildBar(
  period: RoundPeriod,
  days: number,
  { y, base, tone }: { y: number; base: number; tone: ChartBar['tone'] },
): ChartBar {
  const { from, to, start, end, asked, valid, our_rounds } = period;
  const when = from === to ? from : `${from} to ${to}`;
  const left = our_rounds > 0 ? `${our_rounds} of its rounds left out` : '';
  const said = asked > 0 ? `${valid} of ${asked} (${formatShare(valid, asked)})` : '';
  const words = `${when}: ${[said, left].filter(Boolean).join('; ')}`;
  const [x, width] = [start / days, (end - start) / days];
  const place = { x: formatX(x + (width * GAP_SHARE) / 2), width: formatX(width * (1 - GAP_SHARE)) };
  return { ...place, y, height: Math.round((base - y) * 10) / 10, tone, words };
}

function sumOf(periods: readonly RoundPeriod[], key: 'asked' | 'valid'): number {
  return periods.reduce((total, period) => total + period[key], 0);
}

/** Lists the categories that have listings. */
function listOccupied({ categories }: MarketData): CategoryFigures[] {
  return categories.filter(({ listings }) => listings > 0);
}

const PRICE_PANEL_HEIGHT = 44;

/** Builds the chart of what a call costs by category: one panel each, all on one logarithmic scale of price and one scale of share. */
export function buildPriceChart(data: MarketData): Chart {
  const categories = listOccupied(data);
  const steps = categories.flatMap((figures) => [...figures.steps.keys()]);
  const low = getDecade(Math.min(...steps, 1_000_000));
  const high = Math.max(getNextPriceStep(Math.max(...steps, low)), low * 10);
  const getX = (amount: number) => Math.log10(amount / low) / Math.log10(high / low);
  const shares = categories.flatMap(({ listings, steps: counts }) => [...counts.values()].map((n) => n / listings));
  const highest = Math.max(...shares, 0.1);
  const panels = categories.map((figures, index) => buildPanel(figures, index, { getX, highest }));
  const middle = categories.filter(({ quartiles }) => quartiles !== null);
  return {
    id: 'prices',
    title: 'What a call costs, by category',
    missing: data.live === 0 ? 'There is no price yet.' : null,
    summary: `Lowest price per request of ${formatCount(data.live, 'live listing')}. Medians: ${middle.map(({ category, quartiles }) => `${category} ${formatUsdc(quartiles?.[1] ?? 0)}`).join(', ')} USDC.`,
    axis: 'Lowest USDC per request, logarithmic',
    height: (panels.at(-1)?.base ?? 0) + 1,
    panels,
    ticks: listDecades(low, high, getX),
    legend: [
      { tone: 'main', words: 'share of the category’s listings in a price step' },
      { tone: 'mark', words: 'median' },
    ],
    table: buildMarketTable('prices', data),
  };
}

function buildPanel(
  { category, listings, steps, quartiles }: CategoryFigures,
  index: number,
  { getX, highest }: { getX: (amount: number) => number; highest: number },
): ChartPanel {
  const top = index * (LABEL_ROOM + PRICE_PANEL_HEIGHT + PANEL_GAP);
  const base = top + LABEL_ROOM + PRICE_PANEL_HEIGHT;
  const { getY, scale } = buildScale(highest, {
    ...{ base, height: PRICE_PANEL_HEIGHT },
    format: (share) => formatShare(share, 1),
  });
  const bars = [...steps].map(([step, count]) => {
    const [from, to] = [getX(step), getX(getNextPriceStep(step))];
    const y = getY(count / listings);
    return {
      x: formatX(from + ((to - from) * GAP_SHARE) / 2),
      width: formatX((to - from) * (1 - GAP_SHARE)),
      y,
      height: Math.round((base - y) * 10) / 10,
      tone: 'main' as const,
      words: `${category}, ${formatUsdc(step)} to below ${formatUsdc(getNextPriceStep(step))} USDC: ${count} of ${listings} (${formatShare(count, listings)})`,
    };
  });
  const median = quartiles?.[1];
  return {
    label: `${category}: ${formatCount(listings, 'listing')}${median === undefined ? '' : `, median ${formatUsdc(median)}`}`,
    ...{ top, base, scale, bars },
    mark:
      median === undefined
        ? null
        : { x: formatX(getX(median)), words: `Median of ${category}: ${formatUsdc(median)} USDC` },
  };
}

function getDecade(amount: number): number {
  return 10 ** (String(amount).length - 1);
}

function listDecades(low: number, high: number, getX: (amount: number) => number): ChartTick[] {
  const decades = [];
  for (let amount = low; amount <= high; amount *= 10) decades.push(amount);
  // Five labels have room on a phone.
  const every = Math.ceil(decades.length / 5);
  return decades
    .filter((_, index) => index % every === 0)
    .map((amount) => {
      const share = getX(amount);
      return {
        x: formatX(share),
        anchor: share === 0 ? 'start' : share > 0.95 ? 'end' : 'middle',
        label: formatUsdc(amount),
      };
    });
}
