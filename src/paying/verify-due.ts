import { findListing, listListings } from '../catalogue/read/listings.ts';
import { findLastAttempt, findPayment } from '../catalogue/read/payments.ts';
import { ServiceError } from '../errors.ts';
import { getCurrentTerms } from '../evidence/terms.ts';
import {
  drawRoutes,
  isDueForProof,
  isOpenToDraw,
  listDrawableRoutes,
  listDueRoutes,
  PROOF_METHOD,
} from '../evidence/verification.ts';
import { isDangerous } from '../model/caution.ts';
import { DAY_MS } from '../model/duration.ts';
import { isLive, type Listing } from '../model/listing.ts';
import { UNCONFIRMED } from '../model/payment.ts';
import { formatRoute, type Route } from '../model/route.ts';
import type { Payer } from './payer.ts';
import { isInputOfOthers, verifyRoute } from './verify-route.ts';

/** The result of a run for one route. */
export interface DueRoute {
  slug: string;
  route: string;
  /** `due`: there was no budget to pay. `skipped`: nothing was paid, for the given reason. */
  outcome: 'verified' | 'not_delivered' | 'not_settled' | 'open' | 'skipped' | 'due';
  reason: string | null;
  /** The amount paid, or to be paid, in atomic USDC; null if not known. */
  amount: number | null;
  /** Time of its proof before the run; null if it had none. */
  last_proved_at: string | null;
  /** True if it was not due, but drawn at random from the proven routes. */
  drawn: boolean;
}

/** The result of a run over the due and the drawn routes. Amounts are atomic USDC. */
export interface DueResult {
  budget: number | null;
  /** The sum that was paid, or may have been. */
  spent: number;
  /** Routes that were due at the start. */
  due: number;
  /** Proven routes that could be drawn at the start. */
  drawable: number;
  /** Proven routes that were drawn; 0 without a budget. */
  drawn: number;
  /** Due and drawn routes that the run did not reach. */
  left: number;
  /** `done`: every due and drawn route was handled. Otherwise the reason why the run ended early. */
  ended: string;
  routes: DueRoute[];
}

/** Reasons that concern the payer and not one route: the run cannot pay anything more. */
const RUN_ENDING_REASONS = new Set([
  'cap_per_day',
  'payment_open',
  'stopped',
  'balance',
  'clock_differs',
  'chain_behind',
  'rpc_failed',
  'wrong_chain',
  'journal_failed',
  'transaction_taken',
]);

/**
 * Pays for proven routes drawn at random, which get their share of the budget, and then for the routes whose proof is
 * missing or old, in the order of `listDueRoutes`, until all are done, the budget is used up, or nothing more can be paid.
 * Each result is recorded at once, so the next run continues from there. Without a budget nothing is drawn or paid, and
 * the due routes are listed.
 */
export async function verifyDue(payer: Payer, budget: number | null, random: () => number): Promise<DueResult> {
  const { catalogue, now, signal, say } = payer;
  const [live, at] = [(await listListings(catalogue)).filter(isLive), now().toISOString()];
  const [due, drawable] = [listDueRoutes(live, at), listDrawableRoutes(live, at)];
  const getPriceOf = ({ route }: { route: Route }) => getPrice(payer, route);
  const drawn = budget === null ? [] : drawRoutes(drawable, { budget, getPrice: getPriceOf, random });
  const plan = [...drawn, ...due];
  const counts = { due: due.length, drawable: drawable.length, drawn: drawn.length, left: plan.length };
  const result: DueResult = { budget, spent: 0, ...counts, ended: 'done', routes: [] };
  for (const [index, { listing: planned, route: wanted }] of plan.entries()) {
    if (signal.aborted) result.ended = 'interrupted';
    if (result.ended !== 'done') break;
    // An earlier payment of this run may have changed the listing.
    const listing = await findListing(catalogue, { id: planned.id });
    const route = listing?.routes.find(({ id }) => id === wanted.id);
    result.left -= 1;
    if (!listing || !route) continue;
    const entry: DueRoute = {
      slug: listing.slug,
      route: formatRoute(route),
      outcome: 'due',
      reason: null,
      amount: getPrice(payer, route),
      last_proved_at: route.proof?.verified_at ?? null,
      drawn: index < drawn.length,
    };
    result.routes.push(entry);
    const reason = await findObstacle(payer, listing, route, budget === null ? null : budget - result.spent);
    if (reason !== null) Object.assign(entry, { outcome: 'skipped', reason });
    if (reason !== null || budget === null) continue;
    say(`${index + 1} of ${plan.length}: ${entry.slug}, ${entry.route}`);
    result.ended = await payForRoute(payer, { listing, route, most: budget - result.spent }, entry);
    if (entry.outcome !== 'skipped' && entry.outcome !== 'not_settled') result.spent += entry.amount ?? 0;
    // A route that ended the run before it was paid was not reached.
    if (result.ended !== 'done' && entry.outcome === 'skipped') result.left += 1;
  }
  return result;
}

/** Finds the reason why a route is skipped; null if it can be paid for now. */
async function findObstacle(payer: Payer, listing: Listing, route: Route, left: number | null): Promise<string | null> {
  const { catalogue, now, rails } = payer;
  const at = now().getTime();
  const isSince = (time: string | null, days: number) => time !== null && at - Date.parse(time) < days * DAY_MS;
  const time = now().toISOString();
  if (!isLive(listing) || !(isDueForProof(route, time) || isOpenToDraw(route, time))) return 'not_due';
  const cautions = [...listing.cautions, ...listing.routes.flatMap((one) => one.cautions)];
  const lastOfSeller = await findLastAttempt(
    catalogue,
    listing.routes.map(({ id }) => id),
  );
  if (isDangerous(cautions) && isSince(lastOfSeller, PROOF_METHOD.retried_after_days)) return 'under_caution';
  // A payment that did not settle, or may not have, is repeated on another day. A payment with the input of others may prove
  // nothing, so it is not repeated so soon.
  const last = await findLastAttempt(catalogue, [route.id]);
  if (isSince(last, 1)) return 'tried_today';
  if (isInputOfOthers(listing, route) && isSince(last, PROOF_METHOD.retried_after_days)) return 'tried_lately';
  const price = getPrice(payer, route);
  if (price === null) return rails.length === 0 ? null : 'no_price';
  return left !== null && price > left ? 'beyond_budget' : null;
}

/**
 * Returns the lowest price on record on a network with a wallet, or on any network if there is no wallet; null if no
 * price is known.
 */
function getPrice({ rails }: Payer, route: Route): number | null {
  const amounts = getCurrentTerms(route.terms)
    .filter((offer) => rails.length === 0 || rails.some((rail) => rail.network === offer.network))
    .map(({ amount }) => amount);
  return amounts.length === 0 ? null : Math.min(...amounts);
}

/** Pays for one route and writes the result to `entry`. Returns `done`, or the reason why nothing more can be paid. */
async function payForRoute(
  payer: Payer,
  { listing, route, most }: { listing: Listing; route: Route; most: number },
  entry: DueRoute,
): Promise<string> {
  let id: string | undefined;
  try {
    const { refused } = await verifyRoute(payer, listing, {
      route: formatRoute(route),
      input: undefined,
      most,
      onPrepared: (payment) => {
        id = payment.id;
      },
    });
    if (id === undefined) Object.assign(entry, { outcome: 'skipped', reason: refused ?? 'not_paid' });
    else await describeOutcome(payer, id, entry);
    return entry.outcome === 'open' && entry.reason !== UNCONFIRMED ? 'payment_open' : 'done';
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (id === undefined) Object.assign(entry, { outcome: 'skipped', reason: error.reason });
    else await describeOutcome(payer, id, entry);
    if (error.code === 'internal') throw error;
    return RUN_ENDING_REASONS.has(error.reason) ? error.reason : 'done';
  }
}

async function describeOutcome({ catalogue }: Payer, id: string, entry: DueRoute): Promise<void> {
  const payment = await findPayment(catalogue, id);
  if (!payment) throw new Error(`the ledger has lost the payment ${id}`);
  const { state, reason, delivered, unrecognised, amount } = payment;
  const outcome = delivered ? 'verified' : 'not_delivered';
  Object.assign(entry, {
    amount,
    outcome: state === 'settled' ? outcome : state === 'not_settled' ? 'not_settled' : 'open',
    reason: reason ?? unrecognised,
  });
}
