import type { Reliability, SampledDay } from '../../model/listing.ts';
import { formatCount } from '../description.ts';

/** How a day of samples came out. `none`: no sample was taken. */
export type StripState = 'valid' | 'mixed' | 'failed' | 'inconclusive' | 'none';

/** One day (UTC) of a strip. */
export interface StripDay {
  /** `2026-11-20`. */
  readonly day: string;
  readonly state: StripState;
  /** What came out, in words. */
  readonly words: string;
  /** What fills its cell, as SVG path data; null where nothing does. */
  readonly filled: string | null;
  /** What is drawn in outline in its cell; null where nothing is. */
  readonly outlined: string | null;
}

/** Every day that the window of the score touches, the earliest first, as a picture and in words. */
export interface ProbeStrip {
  /** All of it in one sentence. */
  readonly summary: string;
  readonly from: string;
  readonly to: string;
  readonly width: number;
  readonly height: number;
  readonly days: readonly StripDay[];
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Units of a cell: the bar is in the middle of it, on the base line. */
const CELL = { width: 20, height: 56, left: 3, bar: 14, top: 2, base: 54 } as const;

/**
 * Builds the strip of a listing's samples by day, up to the day of the last of them; null while there is none. Days are
 * told apart by height, fill and strokes, so that no colour is needed.
 */
export function buildProbeStrip({ days, window_days, last_sample_at }: Reliability): ProbeStrip | null {
  const to = [...days.map(({ day }) => day), last_sample_at?.slice(0, 10) ?? ''].sort().at(-1);
  if (!to) return null;
  const byDay = new Map(days.map((sampled) => [sampled.day, sampled]));
  const first = Date.parse(to) - window_days * DAY_MS;
  const cells = Array.from({ length: window_days + 1 }, (_, at) => {
    const day = new Date(first + at * DAY_MS).toISOString().slice(0, 10);
    return buildDay(day, byDay.get(day), at * CELL.width);
  });
  return {
    summary: formatSummary(days),
    from: cells[0]?.day ?? to,
    to,
    width: cells.length * CELL.width,
    height: CELL.height,
    days: cells,
  };
}

/** Gives the cell of a legend: that of a day on which `state` came out. */
export function buildLegendDay(state: Exclude<StripState, 'none'>): StripDay {
  const counts = { valid: Number(state === 'valid' || state === 'mixed') * 2, failed: 0, inconclusive: 0 };
  if (state === 'mixed' || state === 'failed') counts.failed = 2;
  if (state === 'inconclusive') counts.inconclusive = 1;
  return buildDay('', { day: '', ...counts }, 0);
}

function buildDay(day: string, sampled: SampledDay | undefined, x: number): StripDay {
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
      ...{ day, state: 'mixed', words },
      filled: drawBox(left, split, CELL.base),
      outlined: `${drawBox(left + 1, CELL.top + 1, split - 3, CELL.bar - 2)}`,
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

/** `28 of 30 days without a failure; 112 of 118 samples valid`. Inconclusive samples count for nothing and are named apart. */
function formatSummary(days: readonly SampledDay[]): string {
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
