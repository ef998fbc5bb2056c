import type { RoundDay } from '../../model/market-day.ts';
import { formatDay } from '../words/figures.ts';
import type { MarketData } from './market-data.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const WEEK_DAYS = 7;

/** A longer history is drawn by the week. */
const MOST_DAYS = 92;

/** What stood from the end of one day on which listings moved until the next such day. */
export interface ListingPeriod {
  /** The day: `2026-11-20`. */
  readonly from: string;
  /** Days from the first one of all until this one, and until what stood then ends. */
  readonly start: number;
  readonly end: number;
  readonly live: number;
  readonly verified: number;
  readonly listed: number;
  readonly taken_out: number;
}

/** Lists what stood when, from the first listing to the day the figures are as of. */
export function listListingPeriods({ listing_days: days, as_of }: MarketData): ListingPeriod[] {
  const first = days[0]?.day ?? formatDay(as_of);
  const last = getDaysBetween(first, formatDay(as_of)) + 1;
  let [live, verified] = [0, 0];
  return days.map((moved, index) => {
    live += moved.listed - moved.taken_out;
    verified += moved.verified - moved.unverified;
    const next = days[index + 1];
    const end = next ? getDaysBetween(first, next.day) : last;
    const { day: from, listed, taken_out } = moved;
    return { from, start: getDaysBetween(first, from), end, live, verified, listed, taken_out };
  });
}

/** How hosts answered in one day, or one week from a Monday on. */
export interface RoundPeriod extends Omit<RoundDay, 'day'> {
  readonly from: string;
  /** Its last day. */
  readonly to: string;
  /** Days from the first one of all to its first, and to the end of its last. */
  readonly start: number;
  readonly end: number;
}

/** Lists how hosts answered, by the day, or by the week where that is a long time. Periods without a round are left out. */
export function listRoundPeriods({ round_days: days }: Pick<MarketData, 'round_days'>): RoundPeriod[] {
  const [first, last] = [days[0]?.day, days.at(-1)?.day];
  if (first === undefined || last === undefined) return [];
  const length = getDaysBetween(first, last) < MOST_DAYS ? 1 : WEEK_DAYS;
  const origin = length === 1 ? first : getMonday(first);
  const byPeriod = Map.groupBy(days, ({ day }) => Math.floor(getDaysBetween(origin, day) / length));
  return [...byPeriod].map(([number, members]) => {
    const sum = (key: 'asked' | 'valid' | 'our_rounds') => members.reduce((total, day) => total + day[key], 0);
    const [start, end] = [number * length, (number + 1) * length];
    const at = { from: addDays(origin, start), to: addDays(origin, end - 1), start, end };
    return { ...at, asked: sum('asked'), valid: sum('valid'), our_rounds: sum('our_rounds') };
  });
}

/** Gives the day a number of days after another: `2026-11-20` and 1 give `2026-11-21`. */
export function addDays(day: string, count: number): string {
  return formatDay(new Date(Date.parse(day) + count * DAY_MS).toISOString());
}

function getDaysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);
}

function getMonday(day: string): string {
  return addDays(day, -((new Date(day).getUTCDay() + 6) % WEEK_DAYS));
}
