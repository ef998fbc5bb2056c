import { formatUsdc } from '../../model/usdc.ts';
import { formatDay } from '../times.ts';

/** How a price came to be known: a probe saw a 402 ask it, or a source declared it (or no longer does). */
export type PriceBasis = 'observed' | 'declared';

/** The lowest and highest price of a listing from one time on, in atomic USDC; null: no price was known. */
export interface PriceStep {
  readonly at: string;
  readonly price: { readonly min: number; readonly max: number } | null;
  readonly basis: PriceBasis;
}

/** A stroke of a plot. `x` is a percentage of the width, `y` pixels from the top. */
export interface PlotLine {
  readonly x1: string;
  readonly x2: string;
  readonly y1: number;
  readonly y2: number;
  readonly basis: PriceBasis;
}

/** A change of the lowest or highest price. */
export interface PlotDot {
  readonly x: string;
  readonly y: number;
  readonly basis: PriceBasis;
  /** What it was from then on. */
  readonly words: string;
}

/** The time that lies between the lowest and the highest price. */
export interface PlotBand {
  readonly x: string;
  readonly width: string;
  readonly y: number;
  readonly height: number;
}

/** A day under the plot. */
export interface PlotDay {
  readonly x: string;
  readonly anchor: 'start' | 'middle' | 'end';
  readonly day: string;
}

/** Lowest and highest price over time as steps, from 0 up. It is drawn at any width. */
export interface PricePlot {
  /** Pixels from the top to the base line, which is 0 USDC. */
  readonly height: number;
  /** Prices of the scale, from the top down to 0, in USDC. */
  readonly scale: readonly { readonly y: number; readonly price: string }[];
  readonly bands: readonly PlotBand[];
  readonly lines: readonly PlotLine[];
  readonly dots: readonly PlotDot[];
  readonly days: readonly PlotDay[];
}

const HEIGHT = 150;

/** Days closer together than this share of the width would run into one another on a phone. */
const DAY_GAP = 0.26;

/** Builds the plot of the steps of a price, the earliest first, up to a time (ISO 8601 UTC). */
export function buildPricePlot(steps: readonly PriceStep[], until: string): PricePlot {
  const start = Date.parse(steps[0]?.at ?? until);
  const span = Math.max(1, Date.parse(until) - start);
  const getShare = (at: string) => Math.min(1, (Date.parse(at) - start) / span);
  const top = getScaleTop(Math.max(1, ...steps.map(({ price }) => price?.max ?? 0)));
  const getY = (amount: number) => Math.round(HEIGHT * (1 - amount / top) * 10) / 10;
  const bands: PlotBand[] = [];
  const lines: PlotLine[] = [];
  const dots: PlotDot[] = [];
  for (const [index, { at, price, basis }] of steps.entries()) {
    if (price === null) continue;
    const next = steps[index + 1];
    const [from, to] = [getShare(at), next ? getShare(next.at) : 1];
    const [x1, x2] = [formatShare(from), formatShare(to)];
    const levels = [...new Set([price.min, price.max])];
    for (const amount of levels) {
      const y = getY(amount);
      lines.push({ x1, x2, y1: y, y2: y, basis });
      dots.push({ x: x1, y, basis, words: `${formatDay(at)}: ${formatUsdc(amount)} USDC` });
    }
    if (levels.length > 1) {
      const [y, base] = [getY(price.max), getY(price.min)];
      bands.push({ x: x1, width: formatShare(to - from), y, height: Math.round((base - y) * 10) / 10 });
    }
    if (!next?.price) continue;
    for (const edge of ['min', 'max'] as const) {
      const [y1, y2] = [getY(price[edge]), getY(next.price[edge])];
      if (y1 !== y2) lines.push({ x1: x2, x2, y1, y2, basis: next.basis });
    }
  }
  const scale = [top, top / 2, 0].map((amount) => ({ y: getY(amount), price: formatUsdc(amount) }));
  return { height: HEIGHT, scale, bands, lines, dots, days: listDays(steps, until, getShare) };
}

/** Gives where the scale ends: the next 1, 2, 4 or 10 times a power of ten, whose half is an even amount as well. */
function getScaleTop(highest: number): number {
  const power = 10 ** Math.floor(Math.log10(highest));
  const digits = [1, 2, 4, 6, 8].find((digit) => digit * power >= highest) ?? 10;
  return Math.max(2, digits * power);
}

/** First and last day always, and of the days of changes between those that have room. */
function listDays(steps: readonly PriceStep[], until: string, getShare: (at: string) => number): PlotDay[] {
  const [first] = steps;
  if (!first) return [];
  const shown = [{ share: 0, at: first.at, anchor: 'start' as PlotDay['anchor'] }];
  for (const { at } of steps.slice(1)) {
    const share = getShare(at);
    const last = shown.at(-1)?.share ?? 0;
    const gap = last === 0 ? DAY_GAP * 1.5 : DAY_GAP;
    if (share - last >= gap && 1 - share >= DAY_GAP * 1.5) shown.push({ share, at, anchor: 'middle' });
  }
  shown.push({ share: 1, at: until, anchor: 'end' });
  return shown.map(({ share, at, anchor }) => ({ x: formatShare(share), anchor, day: formatDay(at) }));
}

function formatShare(share: number): string {
  return `${Math.round(share * 10_000) / 100}%`;
}
