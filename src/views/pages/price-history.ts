import { z } from 'zod';
import { getCurrentTerms } from '../../evidence/terms.ts';
import type { Change } from '../../model/change.ts';
import type { Listing } from '../../model/listing.ts';
import { formatPriceRange, formatUsdc } from '../../model/usdc.ts';
import { describeReason } from '../reasons.ts';
import { formatMinute } from '../times.ts';
import { buildPricePlot, type PriceBasis, type PricePlot, type PriceStep } from './price-plot.ts';

/** One price in the table of all: what it was, from when on, and why. */
export interface PriceRow {
  /** ISO 8601 UTC. */
  readonly at: string;
  /** The same as a reader reads it, to the minute. */
  readonly since: string;
  /** USDC per request: `0.001`, `0.001-0.05`, `not known`. */
  readonly price: string;
  /** Why it is so, in words. */
  readonly why: string;
  readonly basis: PriceBasis;
}

/** What a listing has cost, as its page shows it. */
export interface PriceHistory {
  /** All of it in one sentence or two. */
  readonly summary: string;
  /** Null where there are not two prices to compare. */
  readonly plot: PricePlot | null;
  /** The earliest first. */
  readonly rows: readonly PriceRow[];
  /** Whether there were more changes than these. */
  readonly cut: boolean;
}

/** How many of the latest changes of a price a page shows. */
export const MAX_PRICE_STEPS = 60;

const range = z
  .object({ min: z.int().nullable(), max: z.int().nullable() })
  .transform(({ min, max }) => (min === null || max === null ? null : { min, max }));
const priced = z.object({ to: range });

/**
 * Builds the history of a listing's price from its `priced` changes, the earliest first, up to the time of the last
 * reader-visible change (`until`, ISO 8601 UTC). The later ones are shown where there are more than a page takes.
 * `confirmed` says that 402 answers were since seen to ask this price, which changes nothing on record of it.
 */
export function buildPriceHistory(
  changes: readonly Change[],
  until: string,
  { confirmed = false }: { confirmed?: boolean } = {},
): PriceHistory {
  const shown = changes.slice(-MAX_PRICE_STEPS);
  const steps = shown.flatMap(({ at, reason, detail }): PriceStep[] => {
    const parsed = priced.safeParse(detail);
    return parsed.success ? [{ at, price: parsed.data.to, basis: getBasis(reason) }] : [];
  });
  return {
    summary: formatSummary(steps, confirmed),
    plot: steps.filter(({ price }) => price !== null).length > 1 ? buildPricePlot(steps, until) : null,
    rows: shown.flatMap(({ at, reason }, index) => {
      const step = steps[index];
      if (!step) return [];
      return { at, since: formatMinute(at), price: formatStep(step), why: describeReason(reason), basis: step.basis };
    }),
    cut: shown.length < changes.length,
  };
}

/** Says whether what every priced route of a listing asks now was seen in a 402, rather than declared alone. */
export function isPriceSeen(routes: Listing['routes']): boolean {
  const offers = routes.flatMap(({ terms }) => getCurrentTerms(terms));
  return offers.length > 0 && offers.every(({ evidence }) => evidence === 'observed');
}

/** A rule puts back what a probe saw answer. */
function getBasis(reason: string): PriceBasis {
  return reason === 'probed' || reason === 'relisted_by_rule' ? 'observed' : 'declared';
}

function formatStep({ price }: PriceStep): string {
  return price === null ? 'not known' : formatPriceRange(price.min, price.max);
}

const BASIS_WORDS: Readonly<Record<PriceBasis, string>> = {
  observed: 'seen by a probe',
  declared: 'as declared',
};
const CONFIRMED = 'as declared, and seen by a probe since';

function formatSummary(steps: readonly PriceStep[], confirmed: boolean): string {
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
