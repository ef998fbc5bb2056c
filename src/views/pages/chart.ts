import type { MarketTable } from './market-tables.ts';

/** A bar of a chart. `x` and `width` are percentages of the width, `y` and `height` pixels. */
export interface ChartBar {
  readonly x: string;
  readonly width: string;
  readonly y: number;
  readonly height: number;
  /** How it is filled: the thing itself, its lesser half, what is unknown, what is left out. */
  readonly tone: 'main' | 'soft' | 'open' | 'ours';
  /** What it shows, with its figures. */
  readonly words: string;
}

/** One of several charts above one another that share the scale along the bottom. */
export interface ChartPanel {
  /** What it shows, with how many it is of. */
  readonly label: string;
  /** Pixels from the top of the drawing to its label, and to its base line. */
  readonly top: number;
  readonly base: number;
  /** The scale upwards; empty where the bars lie. */
  readonly scale: readonly { readonly y: number; readonly label: string }[];
  readonly bars: readonly ChartBar[];
  /** Where a mark crosses it, such as a median. */
  readonly mark: { readonly x: string; readonly words: string } | null;
}

/** A place on the scale along the bottom. */
export interface ChartTick {
  readonly x: string;
  readonly anchor: 'start' | 'middle' | 'end';
  readonly label: string;
}

/** A picture of figures, drawn at any width, with all of it in words and as a table. */
export interface Chart {
  /** Id on its page, and the name of its table. */
  readonly id: string;
  readonly title: string;
  /** What it shows, in a sentence or two with the main figures. */
  readonly summary: string;
  /** What the scale along the bottom counts. */
  readonly axis: string;
  readonly height: number;
  /** Empty where there is nothing to draw yet; the summary says so. */
  readonly panels: readonly ChartPanel[];
  readonly ticks: readonly ChartTick[];
  readonly legend: readonly { readonly tone: ChartBar['tone'] | 'mark'; readonly words: string }[];
  readonly table: MarketTable;
}

/** Room for the label over a panel, and below its base line, in pixels. */
export const LABEL_ROOM = 24;
export const PANEL_GAP = 16;

/** Writes a share of the width: 0.5 as `50%`. */
export function formatX(share: number): string {
  return `${Math.round(share * 10_000) / 100}%`;
}

/** Writes a share for reading, to a tenth of a percent where that says something: `96.2%`, `100%`. */
export function formatShare(part: number, whole: number): string {
  if (whole === 0) return 'none';
  const percent = (part / whole) * 100;
  return `${Number.isInteger(percent) ? percent : percent.toFixed(1)}%`;
}

/** Builds the scale from 0 to a round number at least as high as what is to be shown; `height` in pixels up from `base`. */
export function buildScale(
  highest: number,
  { base, height, format }: { base: number; height: number; format: (value: number) => string },
): { getY: (value: number) => number; top: number; scale: ChartPanel['scale'] } {
  const top = getRoundTop(highest);
  const getY = (value: number) => Math.round((base - (value / top) * height) * 10) / 10;
  return { top, getY, scale: [0, top].map((value) => ({ y: getY(value), label: format(value) })) };
}

/** Gives the next of a few round numbers times a power of ten, none far above what is to be shown. */
function getRoundTop(highest: number): number {
  if (highest <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(highest));
  // What is a whole power up to a rounding error is that power.
  const digit =
    [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((candidate) => candidate * power >= highest * (1 - 1e-9)) ?? 10;
  return digit * power;
}

/** Lists days along the bottom: first and last, and those between that have room on a phone. `days` is the whole length. */
export function listDayTicks(days: number, getDay: (number: number) => string): ChartTick[] {
  if (days <= 1) return [{ x: '0%', anchor: 'start', label: getDay(0) }];
  const count = days >= 6 ? 3 : 2;
  return Array.from({ length: count }, (_, index) => {
    const share = index / (count - 1);
    const anchor = index === 0 ? 'start' : index === count - 1 ? 'end' : 'middle';
    const day = getDay(Math.min(days - 1, Math.floor(share * days)));
    return { x: formatX(share), anchor, label: day };
  });
}
