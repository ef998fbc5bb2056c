import { z } from 'zod';
import { ServiceError } from '../errors.ts';
import { CATEGORIES } from '../model/catalogue.ts';
import { networkKey } from '../model/network.ts';
import { buildUrl, PATHS } from './links.ts';
import { type AgentItem, formatOfferPrice } from './listing/item.ts';
import { CURSOR_MAX_LENGTH, type ListQuery, REQUEST_MAX_LENGTH } from './listing/query.ts';
import { getMcpIdentity, SERVER_CARD_TYPE } from './mcp-server.ts';
import type { Site } from './site.ts';
import { SKILL_DESCRIPTION, SKILL_NAME } from './skill.ts';

/**
 * Agentic Resource Discovery (ARD 0.91): the entries that this host publishes for agents, and the registry that finds
 * the listed API for a need. References are to sections of that specification.
 */

/** Media types of entries (§3.3, §5.3): a skill, this registry, and the record of a listing. */
const SKILL_ENTRY_TYPE = 'text/markdown; profile="urn:air:agent-skills"';
const REGISTRY_TYPE = 'application/ai-registry+json';
const LISTING_TYPE = 'application/json';

const SCALAR = z.union([z.string(), z.number(), z.boolean()]);

/** An entry (§4.2), with the fields that are used here. */
export const registryEntry = z
  .object({
    identifier: z.string().describe('urn:air:{host of this service}:{kind}:{name}'),
    displayName: z.string().describe("Of a listing the provider's text"),
    type: z.string().describe('Media type of what url gives'),
    url: z.url(),
    description: z.string().optional().describe("Of a listing the provider's text"),
    tags: z.array(z.string()).optional(),
    representativeQueries: z.array(z.string()).optional().describe('Two to five requests that it answers'),
    updatedAt: z.iso.datetime().optional(),
    metadata: z
      .record(z.string(), SCALAR)
      .optional()
      .describe('Of a listing: slug, prices, networks, verification, cautions; in results the route that fits best'),
  })
  .meta({ id: 'RegistryEntry' });
export type RegistryEntry = z.infer<typeof registryEntry>;

/** Builds `/.well-known/ard.json`, the manifest of this host (§5.1): only `entries` counts. */
export function buildArdManifest(site: Site) {
  return { specVersion: '1.0', entries: listOwnEntries(site) };
}

/**
 * Lists the entries of this host for agents: the MCP server, the registry of listed APIs, and the skill. Listings are other
 * publishers', and are found through these. The catalogue can answer every representative request.
 */
export function listOwnEntries(site: Site) {
  const { name, title, description } = getMcpIdentity(site);
  const url = (path: string) => buildUrl(site.baseUrl, path);
  return [
    {
      identifier: buildIdentifier(site, 'mcp', name),
      type: SERVER_CARD_TYPE,
      url: url(PATHS.serverCard),
      displayName: title,
      description,
      tags: ['mcp', 'search', 'x402', 'payments'],
      representativeQueries: [
        'convert a PDF file to text',
        'take a screenshot of a web page',
        'what is the weather forecast for a city',
        'transcribe an audio recording',
        'validate an email address',
      ],
    },
    {
      identifier: buildIdentifier(site, 'registry', name),
      type: REGISTRY_TYPE,
      url: site.baseUrl,
      displayName: `${title}: registry`,
      description: 'Answers which API, paid for per request in USDC over x402, serves a need in plain words.',
      tags: ['registry', 'search', 'x402', 'payments'],
      representativeQueries: [
        'look up the DNS records of a domain',
        'scrape a web page as markdown',
        'generate an image from a prompt',
      ],
    },
    {
      identifier: buildIdentifier(site, 'skill', SKILL_NAME),
      type: SKILL_ENTRY_TYPE,
      url: url(PATHS.skill(SKILL_NAME)),
      displayName: 'Find and pay an API',
      description: SKILL_DESCRIPTION,
      tags: ['skill', 'x402', 'payments'],
      representativeQueries: [
        'convert a PDF file to text for at most 0.02 USDC',
        'take a screenshot of a web page for less than two cents',
      ],
    },
  ] satisfies RegistryEntry[];
}

/** Builds the identifier of an entry. */
export function buildIdentifier({ baseUrl }: Site, kind: string, name: string): string {
  return `urn:air:${new URL(baseUrl).hostname}:${kind}:${name}`;
}

/** Syntax of an identifier (Appendix C). */
const IDENTIFIER = /^urn:air:[a-zA-Z0-9.-]+(?::[a-zA-Z0-9._-]+)+$/;

/**
 * Parses the identifier of an entry: returns an entry of this host's own or the slug of a listing; undefined for any
 * other identifier. Throws `bad_input` for text that is not an identifier.
 */
export function parseIdentifier(identifier: string, site: Site): { own: RegistryEntry } | { slug: string } | undefined {
  if (!IDENTIFIER.test(identifier)) {
    throw new ServiceError('bad_input', 'This is not an identifier of an entry.', {
      hint: `It is written ${buildIdentifier(site, 'listing', '{slug}')}.`,
      reason: 'bad_identifier',
    });
  }
  const own = listOwnEntries(site).find((entry) => entry.identifier === identifier);
  if (own) return { own };
  const start = buildIdentifier(site, 'listing', '');
  return identifier.startsWith(start) ? { slug: identifier.slice(start.length) } : undefined;
}

/** Results on a page by default and at most (§5.3.2). */
const PAGE_SIZE = { default: 10, max: 100 };

const constraint = z.union([z.string(), z.array(z.string()).min(1).max(20)]);

/** The question of `POST /search` (§5.3.1 and §5.3.2). */
export const registryQuestion = z.strictObject({
  query: z.strictObject({
    '@context': z.union([z.string(), z.record(z.string(), z.unknown())]).optional(),
    text: z.string().trim().min(1).max(REQUEST_MAX_LENGTH).describe('What you need, in your own words'),
    filter: z
      .record(z.string(), constraint)
      .optional()
      .describe('type, publisher, tags, metadata.category, metadata.network and metadata.verified'),
  }),
  federation: z.enum(['auto', 'referrals', 'none']).default('auto').describe('There are no further registries to ask'),
  pageSize: z.int().min(1).max(PAGE_SIZE.max).default(PAGE_SIZE.default),
  pageToken: z.string().max(CURSOR_MAX_LENGTH).optional().describe('pageToken of the page before'),
});
export type RegistryQuestion = z.output<typeof registryQuestion>;

/** The answer of `POST /search` (§5.3.2). */
export const registryAnswer = z
  .object({
    results: z.array(
      registryEntry.extend({
        score: z.int().min(0).max(100).describe('How much of the request it answers; says nothing of trust or safety'),
        source: z.url().describe('This registry'),
      }),
    ),
    referrals: z.array(registryEntry).optional(),
    pageToken: z.string().optional().describe('Absent on the last page'),
  })
  .meta({ id: 'RegistryAnswer' });
export type RegistryAnswer = z.infer<typeof registryAnswer>;

const TAGS: readonly string[] = [...CATEGORIES.map((name) => name.toLowerCase()), ...networkKey.options];

/**
 * Translates a question into a query of the list; undefined if no entry can pass its filter. Throws `bad_input` for an
 * unsupported filter: none is ignored.
 */
export function buildRegistryQuery(
  { query: { text: q, filter = {} }, pageSize: limit, pageToken: cursor }: RegistryQuestion,
  { baseUrl }: Site,
): ListQuery | undefined {
  const query: ListQuery = { q, limit, ...(cursor !== undefined && { cursor }) };
  for (const [key, given] of Object.entries(filter)) {
    const values = typeof given === 'string' ? [given] : given;
    const narrowed = narrow(key, values, new URL(baseUrl).hostname);
    if (narrowed === undefined || isContrary(query, narrowed)) return undefined;
    Object.assign(query, narrowed);
  }
  return query;
}

type Narrowing = Pick<ListQuery, 'category' | 'network' | 'verified'>;

/** Returns the filters for one constraint; undefined if no entry can pass it. */
function narrow(key: string, values: readonly string[], hostname: string): Narrowing | undefined {
  switch (key) {
    case 'type':
      return values.includes(LISTING_TYPE) ? {} : undefined;
    case 'publisher':
      return values.includes(hostname) ? {} : undefined;
    case 'tags':
      return narrowTo(
        key,
        TAGS.filter((tag) => values.includes(tag)),
      );
    case 'metadata.category':
    case 'metadata.network':
    case 'metadata.verified':
      return narrowTo(key, values);
    default:
      throw buildFilterError(`The filter ${key.slice(0, 100)} is not supported.`);
  }
}

function narrowTo(key: string, values: readonly string[]): Narrowing | undefined {
  const [value, ...others] = new Set(values);
  if (value === undefined) return undefined;
  if (others.length > 0) throw buildFilterError(`The filter ${key} takes one value.`);
  const category = CATEGORIES.find((name) => name.toLowerCase() === value.toLowerCase());
  const network = networkKey.options.find((name) => name === value);
  if (category && key !== 'metadata.network' && key !== 'metadata.verified') return { category };
  if (network && key !== 'metadata.category' && key !== 'metadata.verified') return { network };
  if (key === 'metadata.verified' && /^(?:true|false)$/.test(value)) return { verified: value === 'true' };
  return undefined;
}

function isContrary(query: ListQuery, narrowed: Narrowing): boolean {
  return (['category', 'network', 'verified'] as const).some(
    (name) => query[name] !== undefined && narrowed[name] !== undefined && query[name] !== narrowed[name],
  );
}

function buildFilterError(message: string): ServiceError {
  return new ServiceError('bad_input', message, {
    hint: 'Supported are type, publisher, tags, metadata.category, metadata.network and metadata.verified, each with one value.',
    reason: 'unsupported_filter',
  });
}

/** Builds the answer to a question from the short forms of matching listings, each with its best route. */
export function buildRegistryAnswer(
  { federation }: RegistryQuestion,
  { items, next_cursor }: { items: readonly AgentItem[]; next_cursor?: string | undefined },
  site: Site,
): RegistryAnswer {
  return {
    results: items.map((item) => ({
      ...buildListingEntry(item, site),
      score: Math.round(100 * (item.match ?? 0)),
      source: site.baseUrl,
    })),
    ...(federation === 'referrals' && { referrals: [] }),
    ...(next_cursor !== undefined && { pageToken: next_cursor }),
  };
}

/** Builds the entry of a listing; in search results it also has the best route. */
export function buildListingEntry(item: AgentItem, site: Site): RegistryEntry {
  const { slug, title, tagline, route, category, networks, updated_at, price_min_usdc, price_max_usdc } = item;
  const description = route?.description || tagline;
  const dangers = item.cautions.filter(({ severity }) => severity === 'danger').map(({ code }) => code);
  return {
    identifier: buildIdentifier(site, 'listing', slug),
    displayName: title,
    type: LISTING_TYPE,
    url: buildUrl(site.baseUrl, PATHS.agentListing(slug)),
    ...(description !== '' && { description }),
    tags: [category.toLowerCase(), ...networks],
    updatedAt: updated_at,
    metadata: {
      slug,
      page_url: item.page_url,
      host: item.host,
      category,
      ...(networks.length > 0 && { network: networks.join(', ') }),
      price_min_usdc,
      price_max_usdc,
      verified: item.payment_verified,
      ...(item.verified_price_usdc !== undefined && { verified_price_usdc: item.verified_price_usdc }),
      ...(dangers.length > 0 && { danger: dangers.join(', ') }),
      ...(route && buildRouteMetadata(route)),
      ...(item.price_max_is_ceiling && { price_max_is_ceiling: true }),
    },
  };
}

function buildRouteMetadata(route: NonNullable<AgentItem['route']>) {
  const { method, url, offers, verified, verified_price_usdc, cautions, input, outputs } = route;
  return {
    route_method: method,
    route_url: url,
    route_price_usdc: offers.map((offer) => `${formatOfferPrice(offer)} ${offer.network}`).join(', '),
    route_verified: verified,
    ...(verified_price_usdc !== undefined && { route_verified_price_usdc: verified_price_usdc }),
    ...(cautions.length > 0 && { route_cautions: cautions.map(({ code }) => code).join(', ') }),
    ...(input !== undefined && { route_input: input }),
    ...(outputs.length > 0 && { route_output: outputs.join(', ') }),
  };
}
