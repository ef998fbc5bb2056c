import { getCurrentTerms } from '../../evidence/terms.ts';
import { NETWORKS } from '../../model/network.ts';
import type { Route, RouteProof } from '../../model/route.ts';
import { formatUsdc } from '../../model/usdc.ts';
import { PATHS } from '../links.ts';
import { formatOutcome, getOutcomeWeight, type OutcomeWeight } from '../outcome-words.ts';
import { formatDay } from '../times.ts';
import type { ReceiptView } from './receipt-view.ts';
import { listRouteOffers, type RouteOffer } from './route-offers.ts';

/** A route that a paid test call proved (specification, "Listing page": method, path, price, date, receipt). */
export interface VerifiedRoute {
  readonly method: string;
  readonly path: string;
  /** What was paid, in USDC. */
  readonly price: string;
  /** What the route asks now, in USDC, where that is another price; else null. */
  readonly price_now: string | null;
  readonly network: string;
  /** Day of the payment. */
  readonly verified_on: string;
  readonly transaction: string;
  /** The receipt on the chain; null for a chain without an explorer. */
  readonly receipt_url: string | null;
  /** The whole receipt as JSON. */
  readonly record_href: string;
  /** Null where the payment was made elsewhere and only its proof is on record. */
  readonly receipt: ReceiptView | null;
}

/** How the latest probe of a route came out. */
export interface RouteProbeRow {
  /** In a few words: `no 402: not found (404)`. */
  readonly words: string;
  readonly weight: OutcomeWeight;
  /** Day of that probe. */
  readonly on: string;
  /** Day of the last valid 402; null where none is on record. */
  readonly valid_on: string | null;
}

/** A route as the table of all routes shows it. */
export interface RouteRow {
  readonly method: string;
  readonly path: string;
  /** Provider's text; may be empty. */
  readonly description: string;
  readonly verified: boolean;
  /** Day of the payment that verified it; null while it is unverified. */
  readonly verified_on: string | null;
  /** Day on which a paid call was settled and brought nothing, where no later one did better; null otherwise. */
  readonly undelivered_on: string | null;
  /** The receipt of that call as JSON. */
  readonly undelivered_href: string | null;
  /** Whether each challenge names a payee of its own, so that payees are not compared. */
  readonly payee_rotates: boolean;
  /** Null while it was never probed. */
  readonly probe: RouteProbeRow | null;
  readonly offers: readonly RouteOffer[];
}

/** Lists the verified routes of a listing, the latest first. */
export function listVerifiedRoutes(
  routes: readonly Route[],
  receipts: ReadonlyMap<string, ReceiptView> = new Map(),
): VerifiedRoute[] {
  return routes
    .flatMap(({ method, path, proof, terms }) => {
      if (!proof) return [];
      const now = getCurrentTerms(terms).find(({ network }) => network === proof.network)?.amount;
      return {
        method,
        path,
        price: formatUsdc(proof.amount),
        price_now: now === undefined || now === proof.amount ? null : formatUsdc(now),
        network: formatChain(proof),
        verified_on: formatDay(proof.verified_at),
        transaction: proof.transaction,
        receipt_url: proof.transaction_url,
        record_href: PATHS.agentReceipt(proof.receipt_id),
        receipt: receipts.get(proof.receipt_id) ?? null,
      };
    })
    .sort((a, b) => (a.verified_on < b.verified_on ? 1 : -1));
}

/** Money on a local test chain is worth nothing, so a payment there is never shown as one on the network itself. */
function formatChain({ network, public_chain }: RouteProof): string {
  const { label } = NETWORKS[network];
  return public_chain ? label : `a local test chain for ${label}`;
}

/** Builds one row of the table of all routes. */
export function buildRouteRow(route: Route): RouteRow {
  const { method, path, description, proof, undelivered, terms, payee, probe } = route;
  return {
    method,
    path,
    description,
    verified: proof !== null,
    verified_on: proof && formatDay(proof.verified_at),
    undelivered_on: undelivered && formatDay(undelivered.at),
    undelivered_href: undelivered && PATHS.agentReceipt(undelivered.receipt_id),
    payee_rotates: payee === 'rotating',
    probe: probe && {
      words: formatOutcome(probe.outcome, probe.cause),
      weight: getOutcomeWeight(probe.outcome),
      on: formatDay(probe.at),
      valid_on: probe.valid_at === null ? null : formatDay(probe.valid_at),
    },
    offers: listRouteOffers(terms),
  };
}
