import type { Category } from '../../model/catalogue.ts';
import type { Reliability } from '../../model/listing.ts';
import type { ListingDay, RoundDay } from '../../model/market-day.ts';
import type { NetworkKey } from '../../model/network.ts';

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

/** What the pages about the market are made of: the whole catalogue in figures, as of one revision. */
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

/** Where the price steps of a power of ten begin. */
const STEP_DIGITS = [1, 2, 5] as const;

/** Gives the lower edge of the price step (1, 2, 5, 10 … atomic USDC) that an amount falls in. */
export function getPriceStep(amount: number): number {
  const power = 10 ** (String(amount).length - 1);
  const digit = STEP_DIGITS.findLast((step) => step * power <= amount) ?? 1;
  return digit * power;
}

/** Gives the lower edge of the price step after one. */
export function getNextPriceStep(step: number): number {
  const power = 10 ** (String(step).length - 1);
  return step === power ? 2 * power : step === 2 * power ? 5 * power : 10 * power;
}

/**
 * Gives quartiles of amounts by the nearest rank, so that each is an amount that somebody asks. `counted` are the
 * different amounts in rising order, each with how often it is asked.
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
