import { z } from 'zod';
import { findMark, MARKS } from '../../evidence/marks.ts';
import { getPriceCeilings } from '../../evidence/terms.ts';
import { findProvedPrice, isProofOld } from '../../evidence/verification.ts';
import { category } from '../../model/catalogue.ts';
import { cautionCode, cautionSeverity, isFromStart } from '../../model/caution.ts';
import {
  getHost,
  getVerifiedRouteCount,
  type Listing,
  type LiveListing,
  listCautionSummaries,
  reliabilityBand,
  slug,
} from '../../model/listing.ts';
import { isPaidOn, NETWORKS, type NetworkKey, networkKey } from '../../model/network.ts';
import { latency } from '../../model/probe.ts';
import { listCounted } from '../../model/route.ts';
import { formatPrice, formatPriceRange, formatUsdc, getUsdcNumber, parseUsdc } from '../../model/usdc.ts';
import { buildUrl, PATHS } from '../links.ts';
import type { Site } from '../site.ts';
import { formatCount, formatDay } from '../words/figures.ts';
import { listStandings } from '../words/standing.ts';
import { type MatchedRoute, matchedRoute } from './matched-route.ts';

/** A caution of a listing; there is one entry for each code. */
const agentCaution = z
  .object({
    code: cautionCode,
    severity: cautionSeverity.describe('danger: do not pay. notice: worth knowing before paying'),
    route: z.string().nullable().describe('The one route it is about; null for several, or the whole listing'),
    routes: z.int().nonnegative().describe('How many routes it is about'),
    since: z.iso.datetime().nullable(),
  })
  .meta({ id: 'AgentCaution' });

const ceiling = z.literal(true).describe('There where that price is the most that a call may cost (scheme upto)');

/** A listing as `/agent/list` and the search tool show it. */
export const agentItem = z
  .object({
    slug,
    id: z.uuid(),
    title: z.string().describe("Provider's text"),
    tagline: z.string().describe("Provider's text, unless this service made it"),
    tagline_is_ours: z.literal(true).optional().describe('True where this service made the tagline from the routes'),
    category,
    provider_name: z.string().describe("Provider's text"),
    base_url: z.url(),
    host: z
      .string()
      .describe('Host of base_url, other scripts in punycode: the part of its name that nobody else can take'),
    page_url: z.url(),
    price_min_usdc: z.number(),
    price_max_usdc: z.number(),
    networks: z.array(networkKey).describe('Networks that it is paid on: seen, or declared by its sources'),
    declared_networks: z
      .array(networkKey)
      .optional()
      .describe('Of these, those that its sources declare and no dated evidence shows; only where there are some'),
    endpoints_count: z.int().nonnegative().describe('Its routes, without those set aside'),
    verified_route_count: z.int().nonnegative(),
    last_verified_at: z.iso
      .datetime()
      .nullable()
      .describe('Time of the latest payment that verifies a route now; null when no route is verified'),
    payment_verified: z.boolean().describe('True when at least one route is settlement-verified'),
    verified_price_usdc: z
      .number()
      .optional()
      .describe('Lowest price that was verified of routes that ask another price now; only where one does'),
    reliability_band: reliabilityBand,
    reliability_score: z.number().nullable(),
    latency: latency.nullable().describe('Of its valid answers to probes; null while fewer than 12 were measured'),
    updated_at: z.iso.datetime(),
    cautions: z
      .array(agentCaution)
      .describe('What speaks against its routes, the gravest first; empty where nothing does'),
    marked: z
      .object({ as: z.enum(MARKS), because: z.string() })
      .optional()
      .describe('There where it is not an API run to be bought: it comes after others that fit as well'),
    match: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe('In answers to `q` or `path`: how much of the request the listing answers, rare words counting most'),
    route: matchedRoute
      .optional()
      .describe(
        'In answers to `q` or `path`: its route that answers most of the request, of those that pass the filters',
      ),
    same_product: z
      .array(slug)
      .optional()
      .describe('In the document of one listing: others that are the same product at another address, 20 at most'),
    source_names: z.array(z.string()).describe('Names or addresses of the sources that its texts and claims come from'),
    price_min_is_ceiling: ceiling.optional(),
    price_max_is_ceiling: ceiling.optional(),
  })
  .meta({ id: 'AgentItem' });
export type AgentItem = z.infer<typeof agentItem>;

/** The verification of a listing: the number of verified routes, the time of the latest proof, and the time of these facts. */
export type Verification = Pick<
  AgentItem,
  'endpoints_count' | 'verified_route_count' | 'last_verified_at' | 'updated_at' | 'verified_price_usdc'
>;

/** Returns the number of routes of a listing that are verified now, and the time of the latest payment for them. */
function getVerification({ routes, updated_at }: Pick<Listing, 'routes' | 'updated_at'>): Verification {
  const times = routes.flatMap(({ proof }) => proof?.verified_at ?? []).toSorted();
  const prices = routes.flatMap(({ proof, terms }) => findProvedPrice(proof, terms) ?? []);
  return {
    endpoints_count: listCounted(routes).length,
    verified_route_count: getVerifiedRouteCount({ routes }),
    last_verified_at: times.at(-1) ?? null,
    updated_at,
    ...(prices.length > 0 && { verified_price_usdc: getUsdcNumber(Math.min(...prices)) }),
  };
}

/** Returns true if this service wrote the tagline of a listing, because no source gives one. */
function isTaglineOurs({ tagline, said_by }: Pick<LiveListing, 'tagline' | 'said_by'>): boolean {
  return tagline !== '' && said_by.tagline === undefined;
}

/** Builds the short form of a live listing. */
export function buildAgentItem(listing: LiveListing, site: Pick<Site, 'baseUrl'>): AgentItem {
  const verification = getVerification(listing);
  const ceilings = getPriceCeilings(listing);
  const declared = listing.networks.filter((entry) => entry.declared);
  const marked = findMark(listing);
  return {
    slug: listing.slug,
    id: listing.id,
    title: listing.title,
    tagline: listing.tagline,
    category: listing.category,
    provider_name: listing.provider_name,
    base_url: listing.base_url,
    host: getHost(listing.base_url),
    page_url: buildUrl(site.baseUrl, PATHS.listing(listing.slug)),
    price_min_usdc: getUsdcNumber(listing.price_min),
    price_max_usdc: getUsdcNumber(listing.price_max),
    networks: listing.networks.filter(isPaidOn).map(({ key }) => key),
    ...(declared.length > 0 && { declared_networks: declared.map(({ key }) => key) }),
    ...verification,
    payment_verified: verification.verified_route_count > 0,
    reliability_band: listing.reliability.band,
    reliability_score: listing.reliability.score,
    latency: listing.latency,
    updated_at: listing.updated_at,
    cautions: listCautionSummaries(listing),
    ...(marked && { marked }),
    ...(isTaglineOurs(listing) && { tagline_is_ours: true as const }),
    source_names: listing.sources.map(({ name }) => name),
    ...(ceilings.min && { price_min_is_ceiling: true }),
    ...(ceilings.max && { price_max_is_ceiling: true }),
  };
}

/** Extent of a listing's verification: all of its routes on record, some, or none. */
export type VerifiedExtent = 'all' | 'some' | 'none';

/** Returns the extent of a listing's verification. */
function getVerifiedExtent({ verified_route_count, endpoints_count }: Verification): VerifiedExtent {
  if (verified_route_count === 0) return 'none';
  return verified_route_count === endpoints_count ? 'all' : 'some';
}

/** Writes the verified routes and the day of the latest payment for a mark: `1 of 2 routes verified, 2026-11-20`. */
export function formatVerifiedRatio(verification: Verification): string {
  return formatRatio(verification, 'verified');
}

/** Writes the same with the specification's word: `1 of 2 routes settlement-verified, 2026-11-20`. */
export function formatVerification(verification: Verification): string {
  return formatRatio(verification, 'settlement-verified');
}

/** Counts the verified routes of all: `1 of 2 routes`. */
function formatRouteRatio({ verified_route_count: verified, endpoints_count: total }: Verification): string {
  return `${verified} of ${formatCount(total, 'route')}`;
}

/** Writes the sentence on routes that are not verified; empty where no route is verified. */
export function formatOtherRoutes(verification: Verification): string {
  const extent = getVerifiedExtent(verification);
  if (extent === 'none') return '';
  return extent === 'all' ? 'Any other route is unverified.' : 'All other routes are unverified.';
}

function formatRatio(verification: Verification, state: string): string {
  const { last_verified_at: at, updated_at } = verification;
  if (getVerifiedExtent(verification) === 'none') return 'unverified';
  const [ratio, price] = [formatRouteRatio(verification), formatListingPrice(verification)];
  return `${ratio} ${at === null ? state : formatProof(at, updated_at, `${state}, `)}${price}`;
}

/** Writes the price at which a listing was verified; empty if that is its current price. */
export function formatListingPrice({ verified_price_usdc, verified_route_count }: Verification): string {
  const words = formatVerifiedPrice({ verified_price_usdc });
  return words && verified_route_count > 1 ? `, one${words}` : words;
}

/** Writes the price of a verified route, to follow the day: ` at 0.01 USDC`; empty if that is its current price. */
export function formatVerifiedPrice({ verified_price_usdc }: Pick<MatchedRoute, 'verified_price_usdc'>): string {
  return verified_price_usdc === undefined ? '' : ` at ${formatUsdc(getAtomic(verified_price_usdc))} USDC`;
}

/**
 * Writes the day of a proof as of a time (ISO 8601 UTC), after `state`: `verified 2026-11-20`. An old proof must not look like a
 * current one, so its state is always `last proved 2026-08-01`.
 */
export function formatProof(verifiedAt: string, asOf: string, state = ''): string {
  return `${isProofOld(verifiedAt, asOf) ? 'last proved ' : state}${formatDay(verifiedAt)}`;
}

/** Writes the networks of a listing from its short form: `Base, Solana (declared, not seen)`. */
export function formatItemNetworks({ networks, declared_networks = [] }: AgentItem): string {
  const isDeclared = (key: NetworkKey) => declared_networks.includes(key);
  return networks.map((key) => `${NETWORKS[key].label}${isDeclared(key) ? ' (declared, not seen)' : ''}`).join(', ');
}

/** Writes the prices of a listing from its short form: `0.001`, `0.001-0.05`, `up to 0.05`. */
export function formatItemPrice(item: AgentItem): string {
  const ceilings = { min: item.price_min_is_ceiling === true, max: item.price_max_is_ceiling === true };
  return formatPriceRange(getAtomic(item.price_min_usdc), getAtomic(item.price_max_usdc), ceilings);
}

/**
 * Lists the standings of a listing from its short form, the gravest first. If the terms of only some of its routes were never
 * seen, it says of how many.
 */
export function listItemStandings(item: Verification & Pick<AgentItem, 'cautions'>): ReturnType<typeof listStandings> {
  const extent = getVerifiedExtent(item);
  const tone = extent === 'all' ? 'proved' : 'partly';
  const total = item.endpoints_count;
  const cautions = item.cautions.map((caution) =>
    isFromStart(caution) && caution.routes < total
      ? { ...caution, extent: `${caution.routes} of ${total} routes ` }
      : caution,
  );
  return listStandings(cautions, extent === 'none' ? null : { tone, text: formatVerifiedRatio(item) });
}

/** Writes the price of an offer of a found route. */
export function formatOfferPrice({ price_usdc, is_ceiling }: MatchedRoute['offers'][number]): string {
  return formatPrice(getAtomic(price_usdc), is_ceiling);
}

/** Returns the atomic units of an amount that documents have as a JSON number. */
export function getAtomic(usdc: number): number {
  return parseUsdc(usdc.toFixed(6)) ?? 0;
}
