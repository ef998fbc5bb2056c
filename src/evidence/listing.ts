import type { Listing } from '../model/listing.ts';
import type { NetworkKey } from '../model/network.ts';
import type { Receipt } from '../model/receipt.ts';
import type { PayeeKind, Route } from '../model/route.ts';
import type { RecordedTerms } from '../model/terms.ts';
import {
  addReplies,
  listCautionsOfListing,
  listCautionsOfRoute,
  type Namesake,
  type RecordedReply,
} from './cautions.ts';
import { type MergedDeclaration, mergeDeclarations, type StandingDeclaration } from './declarations.ts';
import { getListingNames, type ListingNames } from './names.ts';
import { buildNetworkEntries, getPrimaryNetworkKey, type NetworkEvidence } from './networks.ts';
import { listPayableTerms } from './payable.ts';
import { getPriceRange } from './price.ts';
import { isStillOffered, type Sampled } from './sampled.ts';
import { cutHistory } from './terms.ts';
import { findUndelivered, listRouteProofs, listVerifiedNetworks } from './verification.ts';

/** Who took the listing out, why and when. */
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
  declarations: readonly StandingDeclaration[];
  /** Terms history of the route with that id, newest last. */
  getTerms: (routeId: string) => readonly RecordedTerms[];
  getRouteId: (method: string, path: string) => string;
  receipts: readonly Receipt[];
  delisting: Delisting | null;
  /** Whether the route with that id is known to name one payee, or a fresh one each time. */
  getPayee: (routeId: string) => PayeeKind | null;
  /** What the samples of its routes come to. */
  sampled: Sampled;
  /** Networks that readers were ever shown an entry for: a network once offered keeps its entry. */
  known_networks: readonly NetworkKey[];
  /** Finds a better known listing at another domain that goes by one of these names and is not paid to these payees. */
  findNamesake: (names: ListingNames, payees: readonly string[]) => Namesake | null;
  /** What its provider replies to cautions. */
  replies: readonly RecordedReply[];
}

/** A listing as readers will see it, but for when it was listed and changed. */
export type DerivedListing = Omit<Listing, 'listed_at' | 'updated_at' | 'revision'>;

/**
 * Derives what readers see of a listing from all that is on record. Pure: the same evidence gives the same listing.
 */
export function deriveListing(evidence: ListingEvidence): { listing: DerivedListing; merged: MergedDeclaration } {
  const merged = mergeDeclarations(evidence.declarations);
  const { words, category, inferred, standing, offered } = merged;
  const routes = merged.routes.map(({ route }) => buildRoute(route, evidence, merged.routes.length));
  const declared = standing.find(({ price }) => price !== null);
  const price = getPriceRange(routes, declared?.price ?? null);
  const network: NetworkEvidence = {
    routes: routes.map((route) => ({
      ...route,
      silent: !isStillOffered(route.probe, { failing: evidence.sampled.failing, routes: routes.length }),
    })),
    verified: new Set(routes.flatMap(({ id, terms }) => listVerifiedNetworks(listReceipts(evidence, id), terms))),
    declared: standing.flatMap(({ networks: keys, source, price: range }) =>
      range ? keys.map((key) => ({ key, observed_at: source.observed_at })) : [],
    ),
    receipts: evidence.receipts,
    known: evidence.known_networks,
    offered,
  };
  const networks = buildNetworkEntries(network);
  const state = getState(evidence.delisting, price !== null);
  return {
    merged,
    listing: {
      id: evidence.id,
      slug: evidence.slug,
      base_url: evidence.base_url,
      title: words.title,
      tagline: words.tagline,
      description: words.description,
      provider_name: words.provider_name,
      category,
      category_inferred: inferred !== null,
      mcp_endpoint: standing.find((source) => source.mcp_endpoint)?.mcp_endpoint ?? null,
      docs_url: standing.find((source) => source.docs_url)?.docs_url ?? null,
      ...state,
      price_min: price?.min ?? null,
      price_max: price?.max ?? null,
      primary_network: getPrimaryNetworkKey(networks, network),
      networks,
      routes,
      reliability: evidence.sampled.reliability,
      cautions: addReplies(
        listCautionsOfListing({
          withdrawn_at: offered ? null : getWithdrawal(evidence.declarations),
          namesake: findNamesake(evidence, words, routes),
          declared: routes.length === 0 && declared ? { at: declared.source.observed_at } : undefined,
        }),
        evidence.replies,
        null,
      ),
      corrections: listCorrections(evidence.receipts),
      sources: standing.map(({ source }) => source),
    },
  };
}

function buildRoute(
  declared: MergedDeclaration['routes'][number]['route'],
  evidence: ListingEvidence,
  routes: number,
): Route {
  const id = evidence.getRouteId(declared.method, declared.path);
  const terms = evidence.getTerms(id);
  const receipts = listReceipts(evidence, id);
  const proofs = listRouteProofs(receipts, terms);
  const proof = proofs[0] ?? null;
  const payee = evidence.getPayee(id);
  const probe = evidence.sampled.routes.get(id) ?? null;
  const cautions = listCautionsOfRoute({ terms, receipts, payee, probe, failing: evidence.sampled.failing, routes });
  const { terms: _offers, ...facts } = declared;
  return {
    ...facts,
    id,
    verification: proof ? 'settlement-verified' : 'unverified',
    proof,
    proofs,
    cautions: addReplies(cautions, evidence.replies, declared),
    terms: cutHistory(terms),
    undelivered: findUndelivered(receipts),
    payee,
    probe,
  };
}

/** Says whether readers know a listing well: it is settlement-verified, or its reliability is established. */
export function isWellKnown({ routes, reliability }: Pick<Listing, 'routes' | 'reliability'>): boolean {
  return reliability.band === 'established' || routes.some(({ proof }) => proof !== null);
}

/** Only a listing that is not well known itself, and not at a domain of its own name, can imitate another. */
function findNamesake(evidence: ListingEvidence, words: MergedDeclaration['words'], routes: Route[]): Namesake | null {
  if (isWellKnown({ routes, reliability: evidence.sampled.reliability })) return null;
  const names = getListingNames({ ...words, base_url: evidence.base_url });
  const borrowed = names.names.filter((name) => !names.own.includes(name));
  return borrowed.length === 0 ? null : evidence.findNamesake({ ...names, names: borrowed }, listPayees({ routes }));
}

/** Lists whom the routes of a listing ask to be paid, as things stand, each once. */
export function listPayees({ routes }: Pick<Listing, 'routes'>): string[] {
  return [...new Set(routes.flatMap(listPayableTerms).map(({ pay_to }) => pay_to))].sort();
}

function getWithdrawal(declarations: readonly StandingDeclaration[]): string | null {
  const times = declarations.flatMap(({ withdrawn_at }) => withdrawn_at ?? []).sort();
  return times.at(-1) ?? null;
}

/** More corrections of one listing than anybody reads. */
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
