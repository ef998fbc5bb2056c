import { getCurrentTerms } from '../../evidence/terms.ts';
import { CHANGE_KINDS, type Change, type ChangeKind } from '../../model/change.ts';
import { DAY_MS } from '../../model/duration.ts';
import type { Reliability, SampledDay } from '../../model/listing.ts';
import { listCounted } from '../../model/route.ts';
import { cutText } from '../../model/text.ts';
import { formatPrice, formatPriceRange, formatUsdc, NO_CEILINGS, type PriceCeilings } from '../../model/usdc.ts';
import { describeDecision, describeReason, readDetail } from '../words/decision.ts';
import { formatCount, formatDay, formatMinute } from '../words/figures.ts';
import type { PublicListing } from './record.ts';

/** One decision about a listing, as its page shows it. */
export interface DecisionRow {
  /** ISO 8601 UTC. */
  readonly at: string;
  /** The same for readers, to the minute. */
  readonly when: string;
  readonly what: string;
  readonly why: string;
  /** First lines of its evidence, each cut to a length. Some are in the words of sources. */
  readonly evidence: readonly string[];
}

/** Most decisions that a page shows: the latest. */
export const MAX_DECISIONS = 10;

/** Kinds of change that are often mere sightings: a score that drifts, or a 402 that confirms the declared terms. */
export const NOISY_KINDS: readonly ChangeKind[] = ['scored', 'routed'];

/** Kinds of change that a page shows, besides the noisy ones. An unchanged listing that was seen again is not shown. */
export const DECISION_KINDS = CHANGE_KINDS.filter((kind) => kind !== 'seen' && !NOISY_KINDS.includes(kind));

const EVIDENCE_LINES = 3;
const EVIDENCE_LENGTH = 200;

/** Builds the latest decisions about a listing, the latest first, from its changes in any order. */
export function buildDecisionRows(changes: readonly Change[]): DecisionRow[] {
  // Decisions of one revision stay in the order in which they were taken.
  const latest = changes.filter(isDecision).toSorted((a, b) => b.revision - a.revision);
  return latest.slice(0, MAX_DECISIONS).map((change) => {
    const { at, what, why, evidence } = describeDecision(change);
    const lines = evidence.slice(0, EVIDENCE_LINES).map((line) => cutText(line, EVIDENCE_LENGTH));
    return { at, when: formatMinute(at), what, why, evidence: lines };
  });
}

/** Returns false for a score that drifts within its band, and for a probe with the expected result. */
function isDecision(change: Change): boolean {
  if (change.kind === 'scored') {
    const scored = readDetail('scored', change);
    return scored === undefined || scored.from.band !== scored.to.band;
  }
  if (change.kind !== 'routed' || change.reason !== 'probed') return true;
  const routed = readDetail('routed', change);
  return routed === undefined || routed.added.length + routed.removed.length + routed.terms.length > 0;
}

/** A row of the price table: one price, its start and its reason. */
export interface PriceRow {
  /** ISO 8601 UTC. */
  readonly at: string;
  /** The same for readers, to the minute. */
  readonly since: string;
  /** USDC per request: `0.001`, `0.001-0.05`, `not known`. */
  readonly price: string;
  /** Reason in words. */
  readonly why: string;
  readonly basis: PriceBasis;
}

/** Prices of a listing over time, as its page shows them. */
export interface PriceHistory {
  /** The whole history in one or two sentences. */
  readonly summary: string;
  /** Null if there are fewer than two prices. */
  readonly plot: PricePlot | null;
  /** Oldest first. */
  readonly rows: readonly PriceRow[];
  /** True if there were more changes than these. */
  readonly cut: boolean;
}

/** Most changes of a price that a page shows: the latest. */
export const MAX_PRICE_STEPS = 60;

/**
 * Builds the history of a listing's price from its `priced` changes, oldest first, up to the time of the last reader-visible
 * change (`until`, ISO 8601 UTC). If there are more than fit, the latest are shown. `confirmed` is true if 402 answers have asked
 * this price since, which is not recorded as a change.
 */
export function buildPriceHistory(
  changes: readonly Change[],
  until: string,
  { confirmed = false }: { confirmed?: boolean } = {},
): PriceHistory {
  const shown = changes.slice(-MAX_PRICE_STEPS);
  const steps = shown.flatMap((change): PriceStep[] => {
    const to = readDetail('priced', change)?.to;
    if (!to) return [];
    const { min, max, ceilings = NO_CEILINGS } = to;
    const price = min === null || max === null ? null : { min, max, ceilings };
    return [{ at: change.at, price, basis: getBasis(change.reason) }];
  });
  return {
    summary: formatPriceSummary(steps, confirmed),
    plot: steps.filter(({ price }) => price !== null).length > 1 ? buildPricePlot(steps, until) : null,
    rows: shown.flatMap(({ at, reason }, index) => {
      const step = steps[index];
      if (!step) return [];
      return { at, since: formatMinute(at), price: formatStep(step), why: describeReason(reason), basis: step.basis };
    }),
    cut: shown.length < changes.length,
  };
}

/** Returns true if the current price of every route of a listing was seen in a 402, and not only declared. */
export function isPriceSeen(routes: PublicListing['routes']): boolean {
  const offers = listCounted(routes).flatMap(({ terms }) => getCurrentTerms(terms));
  return offers.length > 0 && offers.every(({ evidence }) => evidence === 'observed');
}

/** Returns the origin of a price; `observed` also if a rule put the listing back, since a probe saw it answer. */
function getBasis(reason: string): PriceBasis {
  return reason === 'probed' || reason === 'relisted_by_rule' ? 'observed' : 'declared';
}

function formatStep({ price }: PriceStep): string {
  return price === null ? 'not known' : formatPriceRange(price.min, price.max, price.ceilings);
}

const BASIS_WORDS: Readonly<Record<PriceBasis, string>> = {
  observed: 'seen by a probe',
  declared: 'as declared',
};
const CONFIRMED = 'as declared, and seen by a probe since';

function formatPriceSummary(steps: readonly PriceStep[], confirmed: boolean): string {
  const [first, last] = [steps[0], steps.at(-1)];
  if (!first || !last) return 'Nothing is on record of its price.';
  const isConfirmed = confirmed && last.basis === 'declared' && last.price !== null;
  const since = `since ${last.at.slice(0, 10)}, ${isConfirmed ? CONFIRMED : BASIS_WORDS[last.basis]}`;
  const now = last.price === null ? `No price is known ${since}` : `${formatStep(last)} USDC per request ${since}`;
  if (steps.length === 1) return `${now}. It has not changed.`;
  const prices = steps.flatMap(({ price }) => price ?? []);
  const [low, high] = [Math.min(...prices.map(({ min }) => min)), Math.max(...prices.map(({ max }) => max))];
  const extent = prices.length > 0 ? `; between ${formatUsdc(low)} and ${formatUsdc(high)} USDC in that time` : '';
  const changes = steps.length - 1;
  return `${now}. ${changes} ${changes === 1 ? 'change' : 'changes'} since ${first.at.slice(0, 10)}${extent}.`;
}

/** Origin of a price: a probe saw a 402 ask it, or a source declared it (or no longer does). */
type PriceBasis = 'observed' | 'declared';

/** The lowest and highest price of a listing from one time on, in atomic USDC; null: no price was known. */
interface PriceStep {
  readonly at: string;
  readonly price: { readonly min: number; readonly max: number; readonly ceilings: PriceCeilings } | null;
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
  /** The price from then on, in words. */
  readonly words: string;
}

/** A period of a plot, filled between the lowest and the highest price. */
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

/** Plot of the lowest and highest price over time as steps, from 0 up, for any width. */
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

const PLOT_HEIGHT = 150;

/** Least distance of two days as a share of the width: closer ones would overlap on a phone. */
const DAY_GAP = 0.26;

/** Builds the plot of the steps of a price, the earliest first, up to a time (ISO 8601 UTC). */
function buildPricePlot(steps: readonly PriceStep[], until: string): PricePlot {
  const start = Date.parse(steps[0]?.at ?? until);
  const span = Math.max(1, Date.parse(until) - start);
  const getShare = (at: string) => Math.min(1, (Date.parse(at) - start) / span);
  const top = getScaleTop(Math.max(1, ...steps.map(({ price }) => price?.max ?? 0)));
  const getY = (amount: number) => Math.round(PLOT_HEIGHT * (1 - amount / top) * 10) / 10;
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
      const isCeiling = amount === price.max ? price.ceilings.max : price.ceilings.min;
      const y = getY(amount);
      lines.push({ x1, x2, y1: y, y2: y, basis });
      dots.push({ x: x1, y, basis, words: `${formatDay(at)}: ${formatPrice(amount, isCeiling)} USDC` });
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
  return { height: PLOT_HEIGHT, scale, bands, lines, dots, days: listDays(steps, until, getShare) };
}

/** Returns the end of the scale: the next 1, 2, 4, 6, 8 or 10 times a power of ten, so that its half is round, too. */
function getScaleTop(highest: number): number {
  const power = 10 ** Math.floor(Math.log10(highest));
  const digits = [1, 2, 4, 6, 8].find((digit) => digit * power >= highest) ?? 10;
  return Math.max(2, digits * power);
}

/** Lists the first and the last day, and the days of changes in between for which there is room. */
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

/** Result of a day of samples. `none`: no sample was taken. */
export type StripState = 'valid' | 'mixed' | 'failed' | 'inconclusive' | 'none';

/** One day (UTC) of a strip. */
export interface StripDay {
  /** `2026-11-20`. */
  readonly day: string;
  readonly state: StripState;
  /** The result in words. */
  readonly words: string;
  /** Filled shape in its cell, as SVG path data; null without one. */
  readonly filled: string | null;
  /** Outlined shape in its cell, as SVG path data; null without one. */
  readonly outlined: string | null;
}

/** Every day in the window of the score, the earliest first, as a picture and in words. */
export interface ProbeStrip {
  /** The whole strip in one sentence. */
  readonly summary: string;
  readonly from: string;
  readonly to: string;
  readonly width: number;
  readonly height: number;
  readonly days: readonly StripDay[];
}

/** Geometry of a cell. The bar is centred, on the base line. */
const CELL = { width: 20, height: 56, left: 3, bar: 14, top: 2, base: 54 } as const;

/**
 * Builds the strip of a listing's samples by day, up to the day of the last sample; null without samples. Results differ in
 * height, fill and strokes, so the strip is readable without colour.
 */
export function buildProbeStrip({
  days,
  window_days,
  last_sample_at = null,
}: Pick<Reliability, 'days' | 'window_days'> & Partial<Reliability>): ProbeStrip | null {
  const to = [...days.map(({ day }) => day), last_sample_at?.slice(0, 10) ?? ''].sort().at(-1);
  if (!to) return null;
  const byDay = new Map(days.map((sampled) => [sampled.day, sampled]));
  const first = Date.parse(to) - window_days * DAY_MS;
  const cells = Array.from({ length: window_days + 1 }, (_, at) => {
    const day = new Date(first + at * DAY_MS).toISOString().slice(0, 10);
    return buildStripDay(day, byDay.get(day), at * CELL.width);
  });
  return {
    summary: formatProbeSummary(days),
    from: cells[0]?.day ?? to,
    to,
    width: cells.length * CELL.width,
    height: CELL.height,
    days: cells,
  };
}

/** Builds the cell of a legend: a day with the result `state`. */
export function buildLegendDay(state: Exclude<StripState, 'none'>): StripDay {
  const counts = { valid: Number(state === 'valid' || state === 'mixed') * 2, failed: 0, inconclusive: 0 };
  if (state === 'mixed' || state === 'failed') counts.failed = 2;
  if (state === 'inconclusive') counts.inconclusive = 1;
  return buildStripDay('', { day: '', ...counts }, 0);
}

function buildStripDay(day: string, sampled: SampledDay | undefined, x: number): StripDay {
  if (!sampled) return { day, state: 'none', words: 'no sample', filled: null, outlined: null };
  const { valid, failed, inconclusive } = sampled;
  const words = [
    ...(valid > 0 ? [`${valid} valid`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(inconclusive > 0 ? [`${inconclusive} inconclusive`] : []),
  ].join(', ');
  const left = x + CELL.left;
  const middle = left + CELL.bar / 2;
  if (failed > 0 && valid > 0) {
    const split =
      CELL.base - Math.round((CELL.base - CELL.top) * Math.min(Math.max(valid / (valid + failed), 0.2), 0.7));
    return {
      day,
      state: 'mixed',
      words,
      filled: drawBox(left, split, CELL.base),
      outlined: drawBox(left + 1, CELL.top + 1, split - 3, CELL.bar - 2),
    };
  }
  if (failed > 0) {
    const [right, top, base] = [left + CELL.bar - 1, CELL.top + 1, CELL.base - 1];
    const cross = `M${left + 1} ${top}L${right} ${base}M${right} ${top}L${left + 1} ${base}`;
    return { day, state: 'failed', words, filled: null, outlined: drawBox(left + 1, top, base, CELL.bar - 2) + cross };
  }
  if (valid > 0) return { day, state: 'valid', words, filled: drawBox(left, CELL.top, CELL.base), outlined: null };
  const dot = `M${middle - 3} ${CELL.base - 4}a3 3 0 1 0 6 0a3 3 0 1 0 -6 0`;
  return { day, state: 'inconclusive', words, filled: dot, outlined: null };
}

function drawBox(left: number, top: number, base: number, width: number = CELL.bar): string {
  return `M${left} ${top}h${width}V${base}h-${width}z`;
}

/** Writes `28 of 30 days without a failure; 112 of 118 samples valid`. Inconclusive samples are counted apart. */
function formatProbeSummary(days: readonly SampledDay[]): string {
  const sum = (key: 'valid' | 'failed' | 'inconclusive') => days.reduce((total, day) => total + day[key], 0);
  const [valid, failed, inconclusive] = [sum('valid'), sum('failed'), sum('inconclusive')];
  const unclear = inconclusive > 0 ? `${formatCount(inconclusive, 'sample')} told nothing` : '';
  if (valid + failed === 0) return unclear;
  const conclusive = days.filter((day) => day.valid + day.failed > 0);
  const clean = conclusive.filter((day) => day.failed === 0).length;
  const parts = [
    `${clean} of ${formatCount(conclusive.length, 'day')} without a failure`,
    `${valid} of ${formatCount(valid + failed, 'sample')} valid`,
    ...(unclear ? [`${unclear} and ${inconclusive === 1 ? 'is' : 'are'} left out`] : []),
  ];
  return parts.join('; ');
}
