import { toSlug } from '../../evidence/slug.ts';
import { getCeilings, getCurrentTerms } from '../../evidence/terms.ts';
import { findChangedOffer, findProvedPrice } from '../../evidence/verification.ts';
import { NETWORKS } from '../../model/network.ts';
import type { PaidAnswer } from '../../model/payment.ts';
import { formatRoute, type RouteProof } from '../../model/route.ts';
import { isCeiling, type RecordedTerms, type Terms } from '../../model/terms.ts';
import { upperFirst } from '../../model/text.ts';
import { formatPrice, formatPriceRange, formatUsdc } from '../../model/usdc.ts';
import { PATHS } from '../links.ts';
import { formatDay } from '../words/figures.ts';
import { describeRouteAuthors } from '../words/source.ts';
import { listStandings, type Standing } from '../words/standing.ts';
import type { OutputFields, PaidAnswers } from './fields.ts';
import { formatProof } from './item.ts';
import type { PublicListing } from './record.ts';
import type { PublicRoute } from './route-record.ts';

/** Characters of an id in an anchor: 48 bits, so that no two routes of one listing share one. */
const ANCHOR_LENGTH = 13;

/** Paths of words and templates (`:id`, `{id}`), short enough for an anchor. Different paths give different anchors. */
const READABLE = /^(?=.{2,120}$)(?:\/(?:[a-z\d]\w*(?:-\w+)*|:[a-z\d]\w*|\{[a-z\d]\w*\}))+$/i;

/**
 * Returns the anchor of a route's row on its listing's page, which is also the name of its own page: `get-v1-forecast`. Hyphens
 * of the path are doubled, to tell them from slashes. Any other path is abridged and ends in a part of the route's id.
 */
export function getRouteAnchor({ id, method, path }: Readonly<Record<'id' | 'method' | 'path', string>>): string {
  if (!READABLE.test(path)) return `${toSlug(formatRoute({ method, path }))}---${id.slice(0, ANCHOR_LENGTH)}`;
  const words = path.replaceAll('-', '--').replaceAll('/', '-').replaceAll(':', '_').replaceAll('{', '__');
  return `${method.toLowerCase()}${words.replaceAll('}', '')}`;
}

/** Returns true if a name is that of a route's page: its anchor, or `route-` with a part of its id, which old links have. */
export function isRoutePage(name: string, route: PublicRoute): boolean {
  return name === getRouteAnchor(route) || name === `route-${route.id.slice(0, ANCHOR_LENGTH)}`;
}

/** Returns the anchor of a payment's line on the page of its listing. */
export function getProofAnchor({ receipt_id }: RouteProof): string {
  return `receipt-${receipt_id.slice(0, ANCHOR_LENGTH)}`;
}

/** Finds the path of a receipt's page; null if the payment was made elsewhere and only its proof is on record. */
export function findReceiptHref(id: string, receipts: PaidAnswers): string | null {
  return receipts.has(id) ? PATHS.receipt(id) : null;
}

/** Finds the answer to the payment that proves a route now; null if it is not on record. */
export function findPaidAnswer({ proof }: PublicRoute, receipts: PaidAnswers): PaidAnswer | null {
  return (proof && receipts.get(proof.receipt_id)) ?? null;
}

/** A payment that proves a route. */
export interface ProvedRoute {
  readonly route: PublicRoute;
  readonly proof: RouteProof;
}

/** Lists the payments that prove routes, one for each network, the latest first (specification, "Listing page"). */
export function listProvedRoutes(routes: readonly PublicRoute[]): ProvedRoute[] {
  return routes
    .flatMap((route) => route.proofs.map((proof) => ({ route, proof })))
    .sort((a, b) => (formatDay(a.proof.verified_at) < formatDay(b.proof.verified_at) ? 1 : -1));
}

/** Writes the price that a proved route asks now, in USDC; null if it is the paid price. */
export function formatPriceNow({ route, proof }: ProvedRoute): string | null {
  const changed = findChangedOffer(proof, route.terms);
  return changed && formatPrice(changed.amount, isCeiling(changed));
}

/**
 * Writes the verification of a route as of a time: `settlement-verified 2026-11-20`, with ` at 0.01 USDC` if it now asks another
 * price.
 */
export function formatRouteVerification({ proof, terms }: PublicRoute, asOf: string): string {
  if (!proof) return 'unverified';
  const proved = findProvedPrice(proof, terms);
  const price = proved === null ? '' : ` at ${formatUsdc(proved)} USDC`;
  return `${formatProof(proof.verified_at, asOf, 'settlement-verified ')}${price}`;
}

/** Lists the standings of a route as of a time (ISO 8601 UTC), the gravest first. */
export function listRouteStandings(route: PublicRoute, asOf: string): readonly Standing[] {
  const proof = { tone: 'proved', text: formatRouteVerification(route, asOf) } as const;
  return listStandings(route.cautions, route.proof ? proof : null);
}

/** Describes the author of a route's output: the provider, another source, or the answer to a paid call. */
export function describeOutputBasis(
  listing: PublicListing,
  route: PublicRoute,
  { output, answer }: { output: OutputFields | null; answer: PaidAnswer | null },
): string {
  const author = describeRouteAuthors(listing, route, ['output']) || 'its source';
  const call = `the answer to our paid call on ${route.proof && formatDay(route.proof.verified_at)}`;
  if (answer?.fields?.length) {
    const theirs = [
      ...(output?.rows.some(({ meaning }) => meaning !== '') ? ['meanings'] : []),
      ...(output?.sample || output?.rows.some(({ example }) => example !== '') ? ['examples'] : []),
    ].join(' and ');
    const rest = theirs ? `${upperFirst(theirs)} are in the words of ${author}.` : 'The provider gives no example.';
    return `Names and types are those of ${call}. ${rest}`;
  }
  const declared = output
    ? `In the words of ${author}.`
    : `The provider does not say what it returns${route.mime_type ? `, only its type: ${route.mime_type}` : ''}.`;
  return answer ? `${upperFirst(call)} was ${answer.content_type ?? 'of no stated type'}. ${declared}` : declared;
}

/** The price before the current one, and whether the current one is higher. */
interface EarlierPrice {
  readonly price: string;
  readonly until: string;
  readonly has_risen: boolean;
}

/** One current price of a route, with its networks, its evidence, and other prices that were declared or seen. */
export interface RouteOffer {
  /** USDC per request. */
  readonly price: string;
  /** Networks with the same price: `Base, Solana`. */
  readonly networks: string;
  /** `observed`: seen in a 402 answer. `declared`: stated by a source. */
  readonly evidence: 'observed' | 'declared';
  /** Day of the latest dated evidence; null for a bare claim. */
  readonly seen_on: string | null;
  /** The previous price, if a 402 asked another one. */
  readonly was: EarlierPrice | null;
  /** Price that a source declares, if a 402 asks another one. */
  readonly declared: string | null;
}

/** Lists the current offers of a route; offers that differ only in the network are one. */
export function listRouteOffers(terms: readonly RecordedTerms[]): RouteOffer[] {
  const offers = getCurrentTerms(terms).map((offer) => ({
    network: NETWORKS[offer.network].label,
    price: formatPrice(offer.amount, isCeiling(offer)),
    evidence: offer.evidence,
    seen_on: offer.last_seen_at === null ? null : formatDay(offer.last_seen_at),
    was: findEarlierPrice(offer, terms),
    declared: findDeclaredPrice(offer, terms),
  }));
  const alike = Map.groupBy(offers, ({ network: _network, ...offer }) => JSON.stringify(offer));
  return [...alike.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const { network: _network, ...offer } = first;
    return { ...offer, networks: [...new Set(group.map(({ network }) => network).sort())].join(', ') };
  });
}

/** Finds the last price that a 402 asked on the network of an offer before, unless it is still asked. */
function findEarlierPrice(
  { network, evidence, amount }: RecordedTerms,
  terms: readonly RecordedTerms[],
): EarlierPrice | null {
  if (evidence !== 'observed') return null;
  const observed = terms.filter((other) => other.evidence === 'observed' && other.network === network);
  const asked = new Set(observed.filter(({ current }) => current).map(({ amount }) => amount));
  const past = observed.filter(({ current, last_seen_at }) => !current && last_seen_at !== null);
  const last = past.sort((a, b) => ((a.last_seen_at ?? '') < (b.last_seen_at ?? '') ? 1 : -1))[0];
  if (!last || asked.has(last.amount)) return null;
  const price = formatPrice(last.amount, isCeiling(last));
  return { price, until: formatDay(last.last_seen_at ?? ''), has_risen: amount > last.amount };
}

function findDeclaredPrice(
  { network, amount, evidence }: RecordedTerms,
  terms: readonly RecordedTerms[],
): string | null {
  if (evidence !== 'observed') return null;
  const declared = terms.filter((other) => other.current && other.evidence === 'declared' && other.network === network);
  const [first] = declared;
  if (!first || declared.some((other) => other.amount === amount)) return null;
  return formatPrice(first.amount, isCeiling(first));
}

/** Writes the prices of some offers as a range, `0.001 or up to 0.05`; empty if there are none. */
export function formatOfferRange(terms: readonly Terms[]): string {
  const amounts = terms.map(({ amount }) => amount);
  const [min, max] = [Math.min(...amounts), Math.max(...amounts)];
  return amounts.length === 0 ? '' : formatPriceRange(min, max, getCeilings(terms, min, max));
}

/** Writes the evidence for an offer: `402 seen 2026-11-20`, `declared, seen 2026-11-20`, `declared, undated`. */
export function formatOfferEvidence({ evidence, seen_on }: RouteOffer): string {
  if (evidence === 'observed') return `402 seen ${seen_on ?? 'at an unknown time'}`;
  return seen_on === null ? 'declared, undated' : `declared, seen ${seen_on}`;
}

/** Writes the change of a price: `rose from 0.001, asked until 2026-10-02`; empty if no other price was seen. */
export function formatPriceChange({ was }: RouteOffer): string {
  return was ? `${was.has_risen ? 'rose' : 'fell'} from ${was.price}, asked until ${was.until}` : '';
}

/** Writes the differences of an offer from prices seen or declared before; empty without any. */
export function formatOfferHistory(offer: RouteOffer): string {
  return [formatPriceChange(offer), offer.declared ? `declared ${offer.declared}` : ''].filter(Boolean).join('; ');
}

/** Least number of routes for which the page has a filter. */
export const FILTERED_FROM = 9;
