import type { Category } from '../model/catalogue.ts';
import type { Reliability } from '../model/listing.ts';
import { NETWORKS, type NetworkKey } from '../model/network.ts';
import { formatUsdc, getUsdcNumber } from '../model/usdc.ts';
import { formatDay } from './words/figures.ts';

/** Moves of listings on one day (UTC) that had any. */
export interface ListingDay {
  readonly day: string;
  /** Went live. */
  readonly listed: number;
  /** Delisted, or held back. */
  readonly taken_out: number;
  /** Got their first verified route, or came back with one. */
  readonly verified: number;
  /** Lost their last verified route, or were removed with it. */
  readonly unverified: number;
}

/** Results of the hosts that were asked in the rounds of one day (UTC). A host counts once a round. */
export interface RoundDay {
  readonly day: string;
  /** Hosts asked, by round, in the rounds whose failures were not ours. */
  readonly asked: number;
  /** Hosts among them that gave a valid 402. */
  readonly valid: number;
  /** Rounds of that day that are left out because their failures were ours. */
  readonly our_rounds: number;
}

/** The live listings of one category in figures. Prices are the lowest of each listing, in atomic USDC. */
export interface CategoryFigures {
  readonly category: Category;
  readonly listings: number;
  readonly verified: number;
  readonly bands: Readonly<Record<Reliability['band'], number>>;
  /** First quartile, median and third quartile; null where there is no listing. */
  readonly quartiles: readonly [number, number, number] | null;
  /** Listings by the lower edge of the price step they fall in. */
  readonly steps: ReadonlyMap<number, number>;
}

/** Figures of the whole catalogue at one revision, for the pages about the market. */
export interface MarketData {
  /** Time of the latest reader-visible change, ISO 8601 UTC. */
  readonly as_of: string;
  readonly live: number;
  readonly verified: number;
  readonly categories: readonly CategoryFigures[];
  /** Live listings by what they advertise and where they are verified; `neither` advertises no network now. */
  readonly networks: Readonly<Record<NetworkKey, { advertised: number; verified: number }>>;
  readonly neither: number;
  readonly listing_days: readonly ListingDay[];
  readonly round_days: readonly RoundDay[];
}

/** Lower edges of the price steps in a power of ten. */
const STEP_DIGITS = [1, 2, 5] as const;

/** Returns the lower edge of the price step (1, 2, 5, 10 … atomic USDC) that an amount falls in. */
export function getPriceStep(amount: number): number {
  const power = 10 ** (String(amount).length - 1);
  const digit = STEP_DIGITS.findLast((step) => step * power <= amount) ?? 1;
  return digit * power;
}

/** Returns the lower edge of the next price step. */
export function getNextPriceStep(step: number): number {
  const power = 10 ** (String(step).length - 1);
  return step === power ? 2 * power : step === 2 * power ? 5 * power : 10 * power;
}

/**
 * Returns quartiles of amounts by the nearest rank, so that each is an amount that somebody asks. `counted` has the
 * different amounts in rising order, each with its number of occurrences.
 */
export function getQuartiles(
  counted: readonly (readonly [amount: number, count: number])[],
): [number, number, number] | null {
  const total = counted.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) return null;
  const pick = (share: number) => {
    let left = Math.max(1, Math.ceil(share * total));
    for (const [amount, count] of counted) {
      left -= count;
      if (left <= 0) return amount;
    }
    return 0;
  };
  return [pick(0.25), pick(0.5), pick(0.75)];
}

const DAY_MS = 24 * 60 * 60 * 1000;
const WEEK_DAYS = 7;

/** Longest history that is drawn by the day; a longer one is drawn by the week. */
const MOST_DAYS = 92;

/** State of the catalogue from the end of one day on which listings moved until the next such day. */
export interface ListingPeriod {
  /** The day: `2026-11-20`. */
  readonly from: string;
  /** Days from the first of all to this one, and to the end of this period. */
  readonly start: number;
  readonly end: number;
  readonly live: number;
  readonly verified: number;
  readonly listed: number;
  readonly taken_out: number;
}

/** Lists the periods from the first listing to the day of the figures. */
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

/** Answers of hosts in one day, or in one week that begins on a Monday. */
export interface RoundPeriod extends Omit<RoundDay, 'day'> {
  readonly from: string;
  /** Its last day. */
  readonly to: string;
  /** Days from the first of all to its first day, and to the end of its last day. */
  readonly start: number;
  readonly end: number;
}

/** Lists answers of hosts by the day, or by the week in a long history. Periods without a round are left out. */
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

/** Returns the day a number of days after another: `2026-11-20` and 1 give `2026-11-21`. */
export function addDays(day: string, count: number): string {
  return formatDay(new Date(Date.parse(day) + count * DAY_MS).toISOString());
}

function getDaysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS);
}

function getMonday(day: string): string {
  return addDays(day, -((new Date(day).getUTCDay() + 6) % WEEK_DAYS));
}

/** The tables of figures, as their addresses name them. */
export const MARKET_TABLES = ['prices', 'categories', 'networks', 'listings', 'probes'] as const;
export type MarketTableName = (typeof MARKET_TABLES)[number];

/** One table of figures, for people and for programs. */
export interface MarketTable {
  readonly name: MarketTableName;
  readonly caption: string;
  readonly columns: readonly { readonly key: string; readonly label: string }[];
  readonly rows: readonly (readonly Cell[])[];
}

const BUILDERS: Readonly<Record<MarketTableName, (data: MarketData) => Omit<MarketTable, 'name'>>> = {
  prices: (data) => ({
    caption:
      'Live listings by category and price step of their lowest price. A step takes in its lower edge, not its upper.',
    columns: [
      { key: 'category', label: 'Category' },
      { key: 'from_usdc', label: 'From, USDC' },
      { key: 'below_usdc', label: 'Below, USDC' },
      { key: 'listings', label: 'Listings' },
    ],
    rows: data.categories.flatMap(({ category, steps }) =>
      [...steps]
        .sort(([a], [b]) => a - b)
        .map(([step, listings]) => [category, formatUsdc(step), formatUsdc(getNextPriceStep(step)), listings]),
    ),
  }),
  categories: (data) => ({
    caption: 'Live listings by category: verification, reliability band, and the quartiles of the lowest price.',
    columns: [
      { key: 'category', label: 'Category' },
      { key: 'listings', label: 'Listings' },
      { key: 'settlement_verified', label: 'Verified' },
      { key: 'established', label: 'Established' },
      { key: 'thin', label: 'Thin' },
      { key: 'unscored', label: 'Unscored' },
      { key: 'price_quartile_1_usdc', label: 'First quartile, USDC' },
      { key: 'price_median_usdc', label: 'Median, USDC' },
      { key: 'price_quartile_3_usdc', label: 'Third quartile, USDC' },
    ],
    rows: data.categories.map(({ category, listings, verified, bands, quartiles }) => [
      ...[category, listings, verified, bands.established, bands.thin, bands.unscored],
      ...(quartiles?.map(getUsdcNumber) ?? [null, null, null]),
    ]),
  }),
  networks: (data) => ({
    caption:
      'Live listings by the network on which they advertise payment now, and on which a payment of ours proved a route.',
    columns: [
      { key: 'network', label: 'Network' },
      { key: 'advertised', label: 'Advertised' },
      { key: 'settlement_verified', label: 'Verified' },
      { key: 'live_listings', label: 'Live listings' },
    ],
    rows: (Object.keys(data.networks) as NetworkKey[]).map((key) => {
      const { advertised, verified } = data.networks[key];
      return [NETWORKS[key].label, advertised, verified, data.live];
    }),
  }),
  listings: (data) => ({
    caption: 'Days on which listings came, went or changed their verification, and what stood at the end of each.',
    columns: [
      { key: 'day', label: 'Day' },
      { key: 'live_listings', label: 'Live' },
      { key: 'settlement_verified', label: 'Verified' },
      { key: 'listed', label: 'Listed' },
      { key: 'taken_out', label: 'Removed' },
    ],
    rows: listListingPeriods(data).map(({ from, live, verified, listed, taken_out }) => [
      ...[from, live, verified, listed, taken_out],
    ]),
  }),
  probes: (data) => ({
    caption:
      'Hosts asked in rounds of six hours, and how many gave a valid 402. Rounds in which the fault was ours count for nothing.',
    columns: [
      { key: 'from', label: 'From' },
      { key: 'to', label: 'To' },
      { key: 'hosts_asked', label: 'Asked' },
      { key: 'valid', label: 'Valid 402' },
      { key: 'rounds_left_out', label: 'Rounds left out' },
    ],
    rows: listRoundPeriods(data).map(({ from, to, asked, valid, our_rounds }) => [from, to, asked, valid, our_rounds]),
  }),
};

/** Builds one table of figures. */
export function buildMarketTable(name: MarketTableName, data: MarketData): MarketTable {
  return { name, ...BUILDERS[name](data) };
}

/** Finds a table by its name in an address. */
export function findMarketTableName(name: string): MarketTableName | undefined {
  return MARKET_TABLES.find((candidate) => candidate === name);
}

/** A value of a table: a count, an amount or a word of ours. Null: nothing was seen. */
type Cell = string | number | null;

/** Text that a spreadsheet would take for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/**
 * Builds a CSV document (RFC 4180): a header row and one line a row. Text that a spreadsheet would run as a formula gets an
 * apostrophe before it; numbers stay numbers.
 */
export function buildCsv(header: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return [header, ...rows].map((row) => `${row.map(writeCell).join(',')}\r\n`).join('');
}

function writeCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
