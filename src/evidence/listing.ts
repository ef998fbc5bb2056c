import type { Listing } from '../model/listing.ts';
import type { NetworkKey } from '../model/network.ts';
import type { Receipt } from '../model/payment.ts';
import type { PaymentIdentifier } from '../model/payment-identifier.ts';
import { isPublicRequest } from '../model/request.ts';
import type { PayeeKind, Route } from '../model/route.ts';
import { listCounted } from '../model/route.ts';
import type { RecordedTerms } from '../model/terms.ts';
import type { RecordedDeclaration } from './authority.ts';
import {
  addReplies,
  findNeverSeenTerms,
  listCautionsOfListing,
  listCautionsOfRoute,
  type Namesake,
  type RecordedReply,
} from './cautions.ts';
import type { MergedDeclaration, MergedRoute } from './declarations.ts';
import { getEvidenceStanding, getListingNames, type ListingNames, type Standing } from './names.ts';
import { buildNetworkEntries, getPrimaryNetworkKey, type NetworkEvidence } from './networks.ts';
import { isStillOffered, type SampleSummary } from './sample-summary.ts';
import { cutHistory, getCurrentTerms, listPayableTerms } from './terms.ts';
import { findUndelivered, listRouteProofs } from './verification.ts';

/**
 * Version of the rules by which listings are derived. Raise it if the same evidence gives another listing: then every
 * catalogue is derived again when it is next opened for writing.
 */
export const RULES_VERSION = 6;

/** The decider, reason and time of a removal. */
export interface Delisting {
  by: 'operator' | 'provider' | 'rule';
  reason: string;
  at: string;
}

/** Everything on record about one listing. */
export interface ListingEvidence {
  id: string;
  slug: string;
  base_url: string;
  declarations: readonly RecordedDeclaration[];
  /** Returns the terms history of the route with that id, newest last. */
  getTerms: (routeId: string) => readonly RecordedTerms[];
  getRouteId: (method: string, path: string) => string;
  receipts: readonly Receipt[];
  delisting: Delisting | null;
  /** Returns whether the route with that id names one payee or a fresh one each time; null if that is not known. */
  getPayee: (routeId: string) => PayeeKind | null;
  /** Returns whether the latest valid 402 of the route with that id takes an id of the payment; null if none was seen. */
  getPaymentIdentifier: (routeId: string) => 'none' | PaymentIdentifier | null;
  /** The summary of the samples of its routes. */
  sampled: SampleSummary;
  /** Networks that the listing was ever shown with: a network once offered keeps its entry. */
  known_networks: readonly NetworkKey[];
  /** Finds the listing that one of these names, this standing by evidence and these payees imitates. */
  findNamesake: (names: ListingNames, standing: Standing, payees: readonly string[]) => Namesake | null;
  /** Replies of its provider to cautions. */
  replies: readonly RecordedReply[];
}

/** A listing as readers will see it, except for the times it was listed and changed. */
export type DerivedListing = Omit<Listing, 'listed_at' | 'updated_at' | 'revision'>;

/**
 * Derives what readers see of a listing from everything on record. Pure: the same evidence gives the same listing.
 * `merged` are its merged declarations.
 */
export function deriveListing(evidence: ListingEvidence, merged: MergedDeclaration): DerivedListing {
  const { words, category, inferred, declarations, offered } = merged;
  const turns = evidence.sampled.proven || listCounted(merged.routes).length;
  const routes = merged.routes.map((route) => buildRoute(route, evidence, { turns, offered }));
  const sightings = new Map(routes.map(({ id }, at) => [id, merged.routes[at]?.sightings ?? []]));
  const counted = listCounted(routes);
  const declared = declarations.find(({ price }) => price !== null);
  const price = getPriceRange(listPriced(merged, evidence), declared?.price ?? null);
  const network: NetworkEvidence = {
    routes: counted.map((route) => ({
      ...route,
      sightings: sightings.get(route.id) ?? [],
      silent: !isStillOffered(route.probe, { failing: evidence.sampled.failing, routes: turns }),
    })),
    verified: new Set(routes.flatMap(({ proofs }) => proofs.map((proof) => proof.network))),
    declared: declarations.flatMap(({ networks: keys, source, price: range }) =>
      range ? keys.map((key) => ({ key, observed_at: source.observed_at })) : [],
    ),
    receipts: evidence.receipts,
    known: evidence.known_networks,
    offered,
  };
  const networks = buildNetworkEntries(network);
  const { reliability } = evidence.sampled;
  const state = getState(evidence.delisting, price !== null);
  return {
    id: evidence.id,
    slug: evidence.slug,
    base_url: evidence.base_url,
    title: words.title,
    tagline: words.tagline,
    description: words.description,
    provider_name: words.provider_name,
    category,
    category_inferred: inferred !== null,
    mcp_endpoint: merged.mcp_endpoint,
    docs_url: merged.docs_url,
    ...state,
    price_min: price?.min ?? null,
    price_max: price?.max ?? null,
    primary_network: getPrimaryNetworkKey(networks, network),
    networks,
    routes,
    reliability: { ...reliability, score: reliability.score === null ? null : Math.round(reliability.score) },
    latency: evidence.sampled.latency,
    cautions: addReplies(
      listCautionsOfListing({
        withdrawn_at: offered ? null : getWithdrawal(evidence.declarations),
        namesake: evidence.findNamesake(
          getListingNames({ ...words, base_url: evidence.base_url }),
          getEvidenceStanding({ routes, reliability }),
          listPayees({ routes }),
        ),
        declared: counted.length === 0 && declared ? { at: declared.source.observed_at } : undefined,
      }),
      evidence.replies,
      null,
    ),
    corrections: listCorrections(evidence.receipts),
    sources: merged.sources,
    said_by: merged.said_by,
  };
}

/**
 * Lists the terms of the routes whose prices count. A price known from hearsay alone counts if nothing else has a
 * price.
 */
function listPriced({ routes }: MergedDeclaration, { getRouteId, getTerms }: ListingEvidence): Pick<Route, 'terms'>[] {
  const priced = listCounted(routes).map(({ route: { method, path }, terms_by }) => {
    // A listing that every source withdrew keeps its last price, and offers nothing.
    const terms = [...getTerms(getRouteId(method, path))];
    const isSeen = getCurrentTerms(terms).some(({ evidence }) => evidence === 'observed');
    return { terms, isHearsay: terms_by === 'hearsay' && !isSeen };
  });
  const above = priced.filter(({ isHearsay, terms }) => !isHearsay && terms.length > 0);
  return above.length > 0 ? above : priced;
}

function buildRoute(
  { route: declared, authority, said_by, set_aside, terms_by, source, other_price }: MergedRoute,
  evidence: ListingEvidence,
  { turns, offered }: { turns: number; offered: boolean },
): Route {
  const id = evidence.getRouteId(declared.method, declared.path);
  const terms = evidence.getTerms(id);
  const receipts = listReceipts(evidence, id);
  const proofs = listRouteProofs(receipts, terms).map((proof) => {
    // An operator's own values are not published.
    const isPublic = proof.request && isPublicRequest(proof.request, evidence.base_url, declared);
    return isPublic ? proof : { ...proof, request: null };
  });
  const proof = proofs[0] ?? null;
  const payee = evidence.getPayee(id);
  const probe = evidence.sampled.routes.get(id) ?? null;
  const { failing } = evidence.sampled;
  // Others may have invented a route that is set aside, so all that is said of it is that it was never seen.
  const cautions = set_aside
    ? findNeverSeenTerms({ terms, receipts, authority })
    : listCautionsOfRoute({
        terms,
        authority,
        terms_by,
        receipts,
        payee,
        probe,
        failing,
        routes: turns,
        documents: offered && other_price ? { source: source.name, other: other_price } : undefined,
      });
  const { terms: _offers, payment_identifier: said, ...facts } = declared;
  const seen = evidence.getPaymentIdentifier(id);
  const payment_identifier = seen === 'none' ? undefined : (seen ?? said);
  return {
    ...facts,
    ...(payment_identifier && { payment_identifier }),
    id,
    said_by,
    ...(set_aside && { set_aside }),
    verification: proof ? 'settlement-verified' : 'unverified',
    proof,
    proofs,
    cautions: addReplies(cautions, evidence.replies, declared),
    terms: cutHistory(offered ? terms : withdrawDeclared(terms)),
    undelivered: findUndelivered(receipts),
    payee,
    probe,
  };
}

/** Returns terms with the declared ones as history: nobody offers what no source declares. */
function withdrawDeclared(terms: readonly RecordedTerms[]): RecordedTerms[] {
  return terms.map((one) => (one.evidence === 'declared' ? { ...one, current: false } : one));
}

/** Lists the payees that the routes of a listing currently name, each once. */
export function listPayees({ routes }: Pick<Listing, 'routes'>): string[] {
  return [...new Set(routes.flatMap(listPayableTerms).map(({ pay_to }) => pay_to))].sort();
}

function getWithdrawal(declarations: readonly RecordedDeclaration[]): string | null {
  const times = declarations.flatMap(({ withdrawn_at }) => withdrawn_at ?? []).sort();
  return times.at(-1) ?? null;
}

/** Largest number of published corrections of one listing. */
const MAX_CORRECTIONS = 50;

function listCorrections(receipts: readonly Receipt[]): Listing['corrections'] {
  const corrected = receipts.flatMap(({ id, route_id, correction }) =>
    correction ? [{ receipt_id: id, route_id, ...correction }] : [],
  );
  return corrected.sort((a, b) => (a.at < b.at ? 1 : -1)).slice(0, MAX_CORRECTIONS);
}

function listReceipts({ receipts }: ListingEvidence, routeId: string) {
  return receipts.filter(({ route_id }) => route_id === routeId);
}

function getState(
  delisting: Delisting | null,
  priced: boolean,
): Pick<Listing, 'state' | 'state_reason' | 'state_by' | 'state_at'> {
  if (delisting) {
    return { state: 'delisted', state_reason: delisting.reason, state_by: delisting.by, state_at: delisting.at };
  }
  if (!priced) return { state: 'held', state_reason: 'no_price', state_by: 'rule', state_at: null };
  return { state: 'live', state_reason: null, state_by: null, state_at: null };
}

export interface PriceRange {
  min: number;
  max: number;
}

/**
 * Returns the lowest and highest price of one request, in atomic USDC, over the routes' current terms; the declared
 * range if no route is itemised; null if no price is known.
 */
export function getPriceRange(routes: readonly Pick<Route, 'terms'>[], declared: PriceRange | null): PriceRange | null {
  const amounts = routes.flatMap(({ terms }) => getCurrentTerms(terms)).map(({ amount }) => amount);
  if (amounts.length === 0) return routes.length === 0 ? declared : null;
  return { min: amounts.reduce((a, b) => Math.min(a, b)), max: amounts.reduce((a, b) => Math.max(a, b)) };
}
