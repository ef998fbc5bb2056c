import { z } from 'zod';
import { listMissing } from '../evidence/abilities.ts';
import { MARKS } from '../evidence/marks.ts';
import { getCurrentTerms } from '../evidence/terms.ts';
import type { Ability } from '../model/ability.ts';
import { category } from '../model/catalogue.ts';
import { CAUTIONS, type Caution, getCautionPhrase, isFromStart } from '../model/caution.ts';
import { reliabilityBand } from '../model/listing.ts';
import { networkKey } from '../model/network.ts';
import { isPayable } from '../model/probe.ts';
import type { RequestExample } from '../model/request.ts';
import { formatRoute, type RouteProbe, routeVerification } from '../model/route.ts';
import { isCeiling } from '../model/terms.ts';
import { formatPrice, formatUsdc } from '../model/usdc.ts';
import {
  type AgentItem,
  agentItem,
  formatItemPrice,
  formatListingPrice,
  formatOfferPrice,
  formatProof,
  formatVerifiedPrice,
  type Verification,
} from '../views/listing/item.ts';
import type { MatchedRoute } from '../views/listing/matched-route.ts';
import type { PublicHead } from '../views/listing/record.ts';
import { listOtherDangers } from '../views/listing/result.ts';
import type { PublicRoute } from '../views/listing/route-record.ts';
import { formatOfferRange } from '../views/listing/routes.ts';
import { describeCaution } from '../views/words/caution.ts';
import { formatDay } from '../views/words/figures.ts';
import { formatOutcome } from '../views/words/outcome.ts';
import { RETRY_WORDS } from '../views/words/retry.ts';
import { formatReply, getTokenEstimate, shortenSchema, shortenText } from './compact.ts';

/** Longest quotes in a search result, in UTF-16 units. A longer address is left out, since a cut one could not be called. */
const ITEM_LENGTHS = { title: 80, description: 200, input: 240, output: 160, address: 300 };

/** An object from the provider. It may be any JSON; a recursive schema would only say that at length. */
const anyObject = z.looseObject({});

/** A search result. With `q` it has the best route of a listing, with enough to check and call it; otherwise the listing. */
export const compactItem = z.object({
  caution: z.string().optional(),
  marked: z.enum(MARKS).optional().describe('Not an API run to be bought'),
  match: z.number().optional(),
  slug: agentItem.shape.slug,
  title: z.string().describe("Provider's text, cut"),
  method: z.string().optional(),
  url: z.string().optional().describe('Fill in :name and {name} first'),
  host: z.string().optional(),
  description: z.string().optional(),
  price_usdc: z.string().describe('Per request, with networks'),
  verified: z.string().describe('Of the route: no, or when; of a listing: 1 of 2 routes, when'),
  input: z.string().optional().describe('? is optional'),
  example: anyObject.optional(),
  output: z.string().optional(),
  category: agentItem.shape.category.optional(),
  reliability: z.string().optional().describe('0-100, band'),
});
export type CompactItem = z.infer<typeof compactItem>;

/** Builds the search result of a listing from its short form. */
export function buildCompactItem(item: AgentItem): CompactItem {
  const { route, reliability_score: score, reliability_band: band } = item;
  const description = shortenText(route?.description || item.tagline, ITEM_LENGTHS.description);
  const cautions = route ? listFoundCautions(item, route) : item.cautions;
  return {
    ...(cautions.length > 0 && { caution: formatCautions(cautions) }),
    ...(item.marked && { marked: item.marked.as }),
    ...(item.match !== undefined && { match: item.match }),
    slug: item.slug,
    title: shortenText(item.title, ITEM_LENGTHS.title),
    ...(route ? buildCompactMatch(route, description, item) : buildCompactWhole(item, description)),
    ...(score !== null && { reliability: `${score} ${band}` }),
  };
}

function buildCompactMatch(route: MatchedRoute, description: string, { updated_at }: AgentItem) {
  const { method, url, offers, verified, verified_at: at, input, example, outputs } = route;
  return {
    method,
    ...(url.length <= ITEM_LENGTHS.address ? { url } : { host: new URL(url).host }),
    ...(description !== '' && { description }),
    price_usdc: offers.map((offer) => `${formatOfferPrice(offer)} ${offer.network}`).join(', '),
    verified: verified && at !== null ? `${formatProof(at, updated_at)}${formatVerifiedPrice(route)}` : 'no',
    ...(input !== undefined && { input: shortenText(input, ITEM_LENGTHS.input) }),
    ...(example && isShortExample(example) && { example }),
    ...(outputs.length > 0 && { output: shortenText(outputs.join(', '), ITEM_LENGTHS.output) }),
  };
}

function buildCompactWhole(item: AgentItem, description: string) {
  return {
    host: item.host,
    ...(description !== '' && { description }),
    price_usdc: `${formatItemPrice(item)} ${item.networks.join(', ')}`.trimEnd(),
    verified: formatCompactRatio(item),
    category: item.category,
  };
}

/** Lists the cautions of a found route, and the dangers of the listing's other routes. */
function listFoundCautions(item: AgentItem, route: MatchedRoute): AgentItem['cautions'] {
  const own = route.cautions.map((caution) => ({ ...caution, route: formatRoute(route), routes: 1 }));
  return [...own, ...listOtherDangers(item, route)];
}

/** Longest quotes of a whole listing, in UTF-16 units. A longer optional address is left out. */
const LISTING_LENGTHS = { title: 80, description: 300, provider: 60, address: 200 };

const compactNetwork = z.object({
  key: networkKey,
  advertised: z.boolean(),
  declared: z.literal(true).optional(),
  settlement_verified: z.boolean(),
  last_seen_at: z.string().optional(),
  last_verified_at: z.string().optional(),
});

/** A listing as `get_listing` shows it, without its routes. */
export const compactListing = z.object({
  caution: z.string().optional(),
  title: z.string(),
  host: z.string(),
  description: z.string(),
  provider_name: z.string(),
  category,
  price_usdc: z.string(),
  networks: z.array(compactNetwork),
  verified_routes: z.string(),
  reliability: z.object({
    band: reliabilityBand,
    score: z.number().optional(),
    samples: z.int().nonnegative(),
    last_sample_at: z.string().optional(),
  }),
  mcp_endpoint: z.string().optional(),
  docs_url: z.string().optional(),
  page_url: z.string(),
  updated_at: z.string(),
});
export type CompactListing = z.infer<typeof compactListing>;

/** Builds the answer of `get_listing` for a live listing, without its routes. */
export function buildCompactListing(listing: PublicHead): CompactListing {
  const { band, score, samples, last_sample_at } = listing.reliability;
  const { cautions } = listing;
  return {
    ...(cautions.length > 0 && { caution: formatCautions(cautions) }),
    title: shortenText(listing.title, LISTING_LENGTHS.title),
    host: listing.host,
    description: shortenText(listing.description, LISTING_LENGTHS.description),
    provider_name: shortenText(listing.provider_name, LISTING_LENGTHS.provider),
    category: listing.category,
    price_usdc: formatItemPrice(listing),
    networks: listing.network_entries.map(buildCompactNetwork),
    verified_routes: formatCompactRatio(listing),
    reliability: {
      band,
      ...(score !== null && { score }),
      samples,
      ...(last_sample_at !== null && { last_sample_at }),
    },
    ...(isShort(listing.mcp_endpoint) && { mcp_endpoint: listing.mcp_endpoint }),
    ...(isShort(listing.docs_url) && { docs_url: listing.docs_url }),
    page_url: listing.page_url,
    updated_at: listing.updated_at,
  };
}

function buildCompactNetwork(entry: PublicHead['network_entries'][number]): z.infer<typeof compactNetwork> {
  const { key, advertised, declared, settlement_verified, last_seen_at, last_verified_at } = entry;
  return {
    key,
    advertised,
    ...(declared && { declared }),
    settlement_verified,
    ...(last_seen_at !== null && { last_seen_at }),
    ...(last_verified_at !== null && { last_verified_at }),
  };
}

function isShort(address: string | null): address is string {
  return address !== null && address.length <= LISTING_LENGTHS.address;
}

/** Builds what stands on further pages of routes: what speaks against the listing as a whole, and so against each of them. */
export function buildListingCaution({ cautions, listing_cautions }: PublicHead): { caution?: string } {
  const ofListing = cautions.filter(({ code }) => listing_cautions.some((one) => one.code === code));
  return ofListing.length === 0 ? {} : { caution: formatCautions(ofListing) };
}

/** Longest name of a route that a caution quotes, in UTF-16 units. */
const CAUTIONED_LENGTH = 60;

/** Writes a danger as a sentence, since it is decisive, and a notice as its label. Route names are the providers'. */
function formatCautions(cautions: AgentItem['cautions']): string {
  const parts = cautions.map(({ code, severity, route, routes, since }) => {
    const day = since === null ? '' : `, ${isFromStart({ code }) ? 'declared' : 'since'} ${formatDay(since)}`;
    if (severity === 'notice') return `${CAUTIONS[code].label}${day}`;
    const subject = route === null ? `${routes} routes` : shortenText(route, CAUTIONED_LENGTH);
    return `DANGER, do not pay, ${code}${day}: ${getCautionPhrase(code)} (${subject})`;
  });
  return parts.join('; ');
}

/** Writes the number of verified routes and the day of the latest payment in few tokens: `1 of 2, 2026-11-20`. */
function formatCompactRatio(verification: Verification): string {
  const { verified_route_count, endpoints_count, last_verified_at, updated_at } = verification;
  const ratio = `${verified_route_count} of ${endpoints_count}`;
  if (last_verified_at === null) return ratio;
  return `${ratio}, ${formatProof(last_verified_at, updated_at)}${formatListingPrice(verification)}`;
}

/** Longest description of a route that is quoted, in UTF-16 units. */
const DESCRIPTION_LENGTH = 200;

/** Most tokens of a route's schema, which is shortened, and of its example, which is left out if it is longer. */
const SCHEMA_TOKENS = 160;
const EXAMPLE_TOKENS = 80;

/** Most offers of a route in an answer; a route usually has one or two. */
const MAX_OFFERS = 4;

/** A way to pay a route: the network, and the payee, price and needs if they differ. */
export const payOption = z.object({
  network: networkKey,
  pay_to: z.string().optional(),
  price_usdc: z.string().optional().describe("Where not the route's"),
  needs: z.string().optional(),
  missing: z.string().optional(),
});
export type PayOption = z.infer<typeof payOption>;

/** A route in `get_listing`, with enough to call it and to check its terms. */
export const compactRoute = z.object({
  cautions: z.array(z.string()).optional(),
  method: z.string(),
  url: z.string().describe('Fill in :name and {name} first'),
  description: z.string().optional().describe("Provider's text, cut"),
  price_usdc: z.string().optional().describe('One price, or lowest-highest'),
  evidence: z.enum(['declared', 'observed']).optional().describe('observed: read from a live 402; declared: a claim'),
  seen_at: z.string().optional(),
  verification: routeVerification,
  retry: z.string().optional().describe('After a lost answer, with the id of the payment'),
  proof: z
    .object({ verified_at: z.string(), network: networkKey, paid_usdc: z.string(), url: z.string().optional() })
    .optional()
    .describe('The payment that verified it'),
  pay: z.array(anyObject).optional().describe("Where not the answer's"),
  input: anyObject.optional().describe("Provider's JSON Schema"),
  output: z.string().optional(),
  example: anyObject.optional(),
  failing: z.string().optional(),
  shortened: z.boolean().optional().describe('details_url has the whole'),
});
export type CompactRoute = z.infer<typeof compactRoute>;

/** Builds the compact form of a route with all its ways to pay. */
export function buildCompactRoute(route: PublicRoute, can?: ReadonlySet<Ability>): CompactRoute & { pay: PayOption[] } {
  const offers = getCurrentTerms(route.terms).toSorted((a, b) => a.amount - b.amount);
  const [cheapest, dearest] = [offers[0], offers.at(-1)];
  const seen = offers.flatMap(({ last_seen_at }) => last_seen_at ?? []).toSorted();
  const input = route.input_schema === null ? undefined : shortenSchema(route.input_schema, SCHEMA_TOKENS);
  const example = route.example !== null && isShortExample(route.example) ? route.example : undefined;
  const shortened = input !== (route.input_schema ?? undefined) || example !== (route.example ?? undefined);
  return {
    ...(route.cautions.length > 0 && { cautions: route.cautions.map(formatCaution) }),
    method: route.method,
    url: route.url,
    ...(route.description !== '' && { description: shortenText(route.description, DESCRIPTION_LENGTH) }),
    ...(cheapest && { price_usdc: formatOfferRange(offers) }),
    ...(cheapest && { evidence: cheapest.evidence }),
    ...(seen.length > 0 && { seen_at: seen.at(-1) }),
    verification: route.verification,
    ...(route.payment_identifier && { retry: RETRY_WORDS[route.payment_identifier] }),
    ...(route.proof && { proof: buildProof(route.proof) }),
    pay: offers.slice(0, MAX_OFFERS).map((offer) => ({
      network: offer.network,
      ...(offer.pay_to !== null && { pay_to: offer.pay_to }),
      ...(cheapest?.amount !== dearest?.amount && { price_usdc: formatPrice(offer.amount, isCeiling(offer)) }),
      ...buildNeeds(offer.needs, can),
    })),
    ...(input && { input }),
    ...(example && { example }),
    ...(route.probe && !isPayable(route.probe.outcome) && { failing: formatFailure(route.probe) }),
    ...(shortened && { shortened }),
  };
}

/** Abilities that every client of the SDK has, which answers do not mention. */
const PLAIN: readonly string[] = ['v1', 'v2', 'evm', 'svm', 'exact', 'eip3009'];

function buildNeeds(needs: readonly string[], can: ReadonlySet<Ability> | undefined): Partial<PayOption> {
  const special = needs.filter((need) => !PLAIN.includes(need));
  const missing = can === undefined ? [] : listMissing(needs, can);
  return {
    ...(special.length > 0 && { needs: special.join(' ') }),
    ...(missing.length > 0 && { missing: missing.join(' ') }),
  };
}

function isShortExample(example: RequestExample): boolean {
  return getTokenEstimate(JSON.stringify(example)) <= EXAMPLE_TOKENS;
}

function buildProof(proof: NonNullable<PublicRoute['proof']>): CompactRoute['proof'] {
  return {
    verified_at: proof.verified_at,
    network: proof.network,
    paid_usdc: formatUsdc(proof.amount),
    ...(proof.transaction_url !== null && { url: proof.transaction_url }),
  };
}

function formatCaution(caution: Caution): string {
  const { code, severity, reply } = caution;
  return `${severity}, ${code}: ${describeCaution(caution)}${formatReply(reply)}`;
}

function formatFailure({ outcome, cause, at, failing_since }: RouteProbe): string {
  const since = failing_since === null ? '' : `, failing since ${formatDay(failing_since)}`;
  return `${formatOutcome(outcome, cause)}, ${formatDay(at)}${since}`;
}
