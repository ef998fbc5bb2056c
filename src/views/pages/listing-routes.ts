import { getCurrentTerms } from '../../evidence/terms.ts';
import { isProofOld } from '../../evidence/verification.ts';
import type { CautionSeverity } from '../../model/caution.ts';
import { NETWORKS } from '../../model/network.ts';
import type { Route, RouteProof } from '../../model/route.ts';
import { formatUsdc } from '../../model/usdc.ts';
import { formatCautionLabel } from '../caution-words.ts';
import { formatLastProved } from '../description.ts';
import { PATHS } from '../links.ts';
import { formatOutcome, getOutcomeWeight, type OutcomeWeight } from '../outcome-words.ts';
import { formatDay } from '../times.ts';
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
  /** The receipt's page; null where the payment was made elsewhere and only its proof is on record. */
  readonly record_href: string | null;
  /** Anchor of this proof on the listing's page. */
  readonly anchor: string;
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

/** A caution as the row of its route marks it. */
export interface RouteCaution {
  readonly severity: CautionSeverity;
  /** `paid, nothing delivered, since 2026-11-20`. */
  readonly text: string;
  /** The page of the receipt that it rests on; null where there is none. */
  readonly href: string | null;
  /** Its provider's words. */
  readonly reply: string | null;
}

/** A route as the table of all routes shows it. */
export interface RouteRow {
  /** Anchor of this row on the listing's page: see `getRouteAnchor`. */
  readonly anchor: string;
  readonly method: string;
  readonly path: string;
  /** Provider's text; may be empty. */
  readonly description: string;
  readonly verified: boolean;
  /** Its mark in words, with the day: `Settlement-verified 2026-11-20`, or `Last proved 2026-08-01` once that is long ago. */
  readonly verification: string;
  /** What speaks against it, the gravest first. */
  readonly cautions: readonly RouteCaution[];
  /** Null while it was never probed. */
  readonly probe: RouteProbeRow | null;
  readonly offers: readonly RouteOffer[];
}

/** The ids of the receipts that have a page. */
export type ReceiptIds = ReadonlySet<string>;

const NO_RECEIPTS: ReceiptIds = new Set();

/** How much of an id goes into an anchor: 48 bits, so that no two routes of one listing share one. */
const ANCHOR_LENGTH = 13;

/** Gives the anchor of a route's row on its listing's page. It follows from the route's id, so no path can break it. */
export function getRouteAnchor(routeId: string): string {
  return `route-${routeId.slice(0, ANCHOR_LENGTH)}`;
}

function findReceiptHref(id: string, receipts: ReceiptIds): string | null {
  return receipts.has(id) ? PATHS.receipt(id) : null;
}

/** Lists what proves the routes of a listing, a payment on each network for itself, the latest first. */
export function listVerifiedRoutes(routes: readonly Route[], receipts = NO_RECEIPTS): VerifiedRoute[] {
  return routes
    .flatMap(({ method, path, proofs, terms }) =>
      proofs.map((proof) => {
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
          record_href: findReceiptHref(proof.receipt_id, receipts),
          anchor: `receipt-${proof.receipt_id.slice(0, ANCHOR_LENGTH)}`,
        };
      }),
    )
    .sort((a, b) => (a.verified_on < b.verified_on ? 1 : -1));
}

/** Money on a local test chain is worth nothing, so a payment there is never shown as one on the network itself. */
function formatChain({ network, public_chain }: RouteProof): string {
  const { label } = NETWORKS[network];
  return public_chain ? label : `a local test chain for ${label}`;
}

function formatRouteVerification(proof: RouteProof | null, asOf: string): string {
  if (!proof) return 'Unverified';
  if (isProofOld(proof.verified_at, asOf)) return formatLastProved(proof.verified_at).replace(/^l/, 'L');
  return `Settlement-verified ${formatDay(proof.verified_at)}`;
}

/** Builds one row of the table of all routes, as things are at a time (ISO 8601 UTC). */
export function buildRouteRow(route: Route, asOf: string, receipts = NO_RECEIPTS): RouteRow {
  const { id, method, path, description, proof, cautions, terms, probe } = route;
  return {
    anchor: getRouteAnchor(id),
    method,
    path,
    description,
    verified: proof !== null,
    verification: formatRouteVerification(proof, asOf),
    cautions: cautions.map(({ code, severity, since, evidence, reply }) => ({
      severity,
      text: formatCautionLabel(code, since),
      href: evidence.receipt_id === undefined ? null : findReceiptHref(evidence.receipt_id, receipts),
      reply: reply?.text ?? null,
    })),
    probe: probe && {
      words: formatOutcome(probe.outcome, probe.cause),
      weight: getOutcomeWeight(probe.outcome),
      on: formatDay(probe.at),
      valid_on: probe.valid_at === null ? null : formatDay(probe.valid_at),
    },
    offers: listRouteOffers(terms),
  };
}
