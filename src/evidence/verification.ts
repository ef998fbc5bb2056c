import { DAY_MS } from '../model/duration.ts';
import type { Listing } from '../model/listing.ts';
import { isPublicChain, NETWORKS } from '../model/network.ts';
import type { Receipt } from '../model/payment.ts';
import { formatRoute, type Route, type RouteProof, type UndeliveredCall } from '../model/route.ts';
import type { RecordedTerms } from '../model/terms.ts';
import { compareTexts } from '../model/text.ts';
import { getCurrentTerms } from './terms.ts';

/**
 * Times in days: how long a proof counts as current, when it is renewed, how soon a seller with a caution of danger is
 * paid again, and how soon a proven route can be drawn. `drawn_share` is the part of a budget that pays for drawn routes.
 */
export const PROOF_METHOD = Object.freeze({
  current_days: 90,
  renewed_after_days: 60,
  retried_after_days: 7,
  drawn_share: 0.2,
  drawn_after_days: 3,
});

/** Returns whether a proof is too old to count as current. Times are ISO 8601 UTC. */
export function isProofOld(verifiedAt: string, at: string): boolean {
  return getAgeInDays(verifiedAt, at) > PROOF_METHOD.current_days;
}

/**
 * Returns whether a route is due for a paid call: it has an example request, and its proof is missing or due for
 * renewal.
 */
export function isDueForProof({ example, proof }: Pick<Route, 'example' | 'proof'>, at: string): boolean {
  if (example === null) return false;
  return proof === null || getAgeInDays(proof.verified_at, at) > PROOF_METHOD.renewed_after_days;
}

/**
 * Returns whether a proven route can be paid for again before it is due: it has an example request, and its proof is not
 * fresh.
 */
export function isOpenToDraw(route: Pick<Route, 'example' | 'proof'>, at: string): boolean {
  if (route.example === null || route.proof === null || isDueForProof(route, at)) return false;
  return getAgeInDays(route.proof.verified_at, at) > PROOF_METHOD.drawn_after_days;
}

/** A route to be paid for, and its listing. */
export interface DueProof<Listed> {
  readonly listing: Listed;
  readonly route: Route;
}

/**
 * Lists the routes that are due for a paid call, in this order: routes without a proof before those with an old one;
 * one route of each listing before a second one of any; then the listing with the higher reliability, the one with more
 * routes seen payable, and the older proof.
 */
export function listDueRoutes<Listed extends Pick<Listing, 'slug' | 'reliability' | 'routes'>>(
  listings: readonly Listed[],
  at: string,
): DueProof<Listed>[] {
  const due = listings.flatMap((listing) => {
    const payable = listing.routes.filter(({ probe }) => probe?.valid_at != null).length;
    const score = listing.reliability.score ?? -1;
    const routes = listing.routes.filter((route) => isDueForProof(route, at)).sort(compareByProof);
    return routes.map((route, turn) => ({ listing, route, turn, payable, score }));
  });
  return due
    .sort(
      (a, b) =>
        Number(a.route.proof !== null) - Number(b.route.proof !== null) ||
        a.turn - b.turn ||
        b.score - a.score ||
        b.payable - a.payable ||
        compareByProof(a.route, b.route) ||
        compareTexts(a.listing.slug, b.listing.slug),
    )
    .map(({ listing, route }) => ({ listing, route }));
}

/** Lists the proven routes that can be drawn. */
export function listDrawableRoutes<Listed extends Pick<Listing, 'routes'>>(
  listings: readonly Listed[],
  at: string,
): DueProof<Listed>[] {
  return listings.flatMap((listing) =>
    listing.routes.filter((route) => isOpenToDraw(route, at)).map((route) => ({ listing, route })),
  );
}

/**
 * Draws at random the routes that `drawn_share` of a budget pays for, so that a seller who stops delivering can be
 * found on any day. A price that only partly fits into the remaining share is drawn with that probability: on average
 * the share is kept even by a budget of one call. Amounts are atomic USDC; routes whose price is not known are left
 * out.
 */
export function drawRoutes<Drawable>(
  drawable: readonly Drawable[],
  { budget, getPrice, random }: { budget: number; getPrice: (one: Drawable) => number | null; random: () => number },
): Drawable[] {
  const pool = [...drawable];
  const drawn: Drawable[] = [];
  let left = budget * PROOF_METHOD.drawn_share;
  while (pool.length > 0 && left > 0) {
    const [one] = pool.splice(Math.floor(random() * pool.length), 1);
    const price = one === undefined ? null : getPrice(one);
    if (one === undefined || price === null || price > budget) continue;
    if (price <= left || random() < left / price) drawn.push(one);
    left -= price;
  }
  return drawn;
}

function compareByProof(a: Route, b: Route): number {
  return (
    compareTexts(a.proof?.verified_at ?? '', b.proof?.verified_at ?? '') || compareTexts(formatRoute(a), formatRoute(b))
  );
}

function getAgeInDays(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / DAY_MS;
}

/**
 * Lists the current proofs of a route, the latest first: for each network the latest paid call that was delivered,
 * unless the terms seen since then name another payee, asset or network. A changed price does not end a proof. A later
 * paid call that was not delivered, on any network, ends every earlier proof.
 */
export function listRouteProofs(receipts: readonly Receipt[], terms: readonly RecordedTerms[]): RouteProof[] {
  const counted = listCountedReceipts(receipts);
  const failedAt = counted.find(({ delivered }) => !delivered)?.settled_at ?? '';
  const proving = counted.filter(
    (receipt) => receipt.delivered && receipt.settled_at > failedAt && isStillAsked(receipt, terms),
  );
  const latest = Map.groupBy(proving, ({ network }) => network);
  return [...latest.values()]
    .flatMap(([first]) => first ?? [])
    .map(buildProof)
    .sort((a, b) => (a.verified_at < b.verified_at ? 1 : -1));
}

/** Finds the latest paid call of a route if it settled but was not delivered; null otherwise. */
export function findUndelivered(receipts: readonly Receipt[]): UndeliveredCall | null {
  const [latest] = listCountedReceipts(receipts);
  if (!latest || latest.delivered) return null;
  const { id, settled_at, network, amount, genesis, unrecognised } = latest;
  const public_chain = isPublicChain(network, genesis);
  return { receipt_id: id, at: settled_at, network, amount, public_chain, unrecognised };
}

/** Lists the receipts that count, the latest first: settled, and not corrected by the operator. */
export function listCountedReceipts(receipts: readonly Receipt[]): Receipt[] {
  return receipts.filter(({ settled, correction }) => settled && correction === null).toSorted(compareReceipts);
}

/**
 * Sorts receipts, the latest first. If two settled in the same second, the one that was not delivered counts as later.
 */
function compareReceipts(a: Receipt, b: Receipt): number {
  if (a.settled_at !== b.settled_at) return a.settled_at < b.settled_at ? 1 : -1;
  if (a.delivered !== b.delivered) return a.delivered ? 1 : -1;
  return a.id < b.id ? -1 : 1;
}

function buildProof(receipt: Receipt): RouteProof {
  const { id, network, amount, ceiling, pay_to, settled_at, transaction, genesis, request } = receipt;
  const isPublic = isPublicChain(network, genesis);
  return {
    receipt_id: id,
    network,
    amount,
    ...(ceiling !== undefined && { ceiling }),
    pay_to,
    verified_at: settled_at,
    transaction,
    public_chain: isPublic,
    request,
    transaction_url: isPublic ? NETWORKS[network].getTransactionUrl(transaction) : null,
  };
}

/** The price of a proof and its network. The price is the ceiling if there was one. */
type PaidPrice = Pick<RouteProof, 'network' | 'amount' | 'ceiling'>;

/**
 * Returns the cheapest offer that a route makes now on the network of a proof, if it asks another price than was proved;
 * null otherwise.
 */
export function findChangedOffer(proof: PaidPrice, terms: readonly RecordedTerms[]): RecordedTerms | null {
  const offers = getCurrentTerms(terms).filter(({ network }) => network === proof.network);
  const [lowest] = offers.toSorted((a, b) => a.amount - b.amount);
  return lowest && lowest.amount !== (proof.ceiling ?? proof.amount) ? lowest : null;
}

/** Returns the price that verified a route, in atomic USDC, if the route asks another now; null otherwise. */
export function findProvedPrice(proof: PaidPrice | null | undefined, terms: readonly RecordedTerms[]): number | null {
  return proof && findChangedOffer(proof, terms) ? (proof.ceiling ?? proof.amount) : null;
}

function isStillAsked(receipt: Receipt, terms: readonly RecordedTerms[]): boolean {
  const observed = terms.filter(({ current, evidence }) => current && evidence === 'observed');
  if (observed.length === 0) return true;
  return observed.some(
    ({ network, asset, pay_to }) =>
      network === receipt.network && asset === receipt.asset && (pay_to === null || pay_to === receipt.pay_to),
  );
}
