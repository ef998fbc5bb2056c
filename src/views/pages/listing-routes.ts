import { getCurrentTerms } from '../../evidence/terms.ts';
import { NETWORKS } from '../../model/network.ts';
import type { Route } from '../../model/route.ts';
import type { RecordedTerms } from '../../model/terms.ts';
import { formatUsdc } from '../../model/usdc.ts';
import { formatDay } from '../times.ts';

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
}

/** One current price of a route, where it is paid, and what it rests on. */
export interface RouteOffer {
  /** USDC per request. */
  readonly price: string;
  /** Networks on which it is asked alike: `Base, Solana`. */
  readonly networks: string;
  /** `observed`: a 402 answer was seen to ask it. `declared`: a source says so. */
  readonly evidence: 'observed' | 'declared';
  /** Day of the latest dated evidence; null for a bare claim. */
  readonly seen_on: string | null;
}

/** A route as the table of all routes shows it. */
export interface RouteRow {
  readonly method: string;
  readonly path: string;
  /** Provider's text; may be empty. */
  readonly description: string;
  readonly verified: boolean;
  readonly offers: readonly RouteOffer[];
}

/** Lists the verified routes of a listing, the latest first. */
export function listVerifiedRoutes(routes: readonly Route[]): VerifiedRoute[] {
  return routes
    .flatMap(({ method, path, proof, terms }) => {
      if (!proof) return [];
      const now = getCurrentTerms(terms).find(({ network }) => network === proof.network)?.amount;
      return {
        method,
        path,
        price: formatUsdc(proof.amount),
        price_now: now === undefined || now === proof.amount ? null : formatUsdc(now),
        network: NETWORKS[proof.network].label,
        verified_on: formatDay(proof.verified_at),
        transaction: proof.transaction,
        receipt_url: proof.transaction_url,
      };
    })
    .sort((a, b) => (a.verified_on < b.verified_on ? 1 : -1));
}

/** Builds one row of the table of all routes. */
export function buildRouteRow({ method, path, description, proof, terms }: Route): RouteRow {
  return { method, path, description, verified: proof !== null, offers: buildOffers(getCurrentTerms(terms)) };
}

/** Offers that differ in their network alone are one line. */
function buildOffers(terms: readonly RecordedTerms[]): RouteOffer[] {
  const alike = Map.groupBy(terms, ({ amount, evidence, last_seen_at }) => `${amount} ${evidence} ${last_seen_at}`);
  return [...alike.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const labels = new Set(group.map(({ network }) => NETWORKS[network].label).sort());
    return {
      price: formatUsdc(first.amount),
      networks: [...labels].join(', '),
      evidence: first.evidence,
      seen_on: first.last_seen_at === null ? null : formatDay(first.last_seen_at),
    };
  });
}

/** Says what an offer rests on: `402 seen 2026-11-20`, `declared, seen 2026-11-20`, `declared, undated`. */
export function formatOfferEvidence({ evidence, seen_on }: RouteOffer): string {
  if (evidence === 'observed') return `402 seen ${seen_on ?? 'at an unknown time'}`;
  return seen_on === null ? 'declared, undated' : `declared, seen ${seen_on}`;
}
