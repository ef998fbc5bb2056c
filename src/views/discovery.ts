import { z } from 'zod';
import { listPayableTerms, type PayableTerms } from '../evidence/terms.ts';
import { findProvedPrice } from '../evidence/verification.ts';
import { caution } from '../model/caution.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import { jsonObject } from '../model/json-object.ts';
import { listRouteCautions, reliabilityBand } from '../model/listing.ts';
import { NETWORKS, nameNetworks } from '../model/network.ts';
import { probeOutcome } from '../model/probe.ts';
import { isWithBody } from '../model/request.ts';
import { getToolName, isToolPath, payeeKind, routeVerification } from '../model/route.ts';
import { MAX_TIMEOUT_SECONDS } from '../model/terms.ts';
import { buildUrl, PATHS } from './links.ts';
import { CURSOR_MAX_LENGTH, listFilters, REQUEST_MAX_LENGTH } from './listing/query.ts';
import type { PublicHead } from './listing/record.ts';
import type { PublicRoute } from './listing/route-record.ts';
import type { Site } from './site.ts';

/** Resources on a page by default and at most; a client that asks for more gets the most. */
export const DISCOVERY_LIMITS = {
  list: { default: 100, max: 1000 },
  search: { default: 20, max: 100 },
  merchant: { default: 20, max: 100 },
} as const;

/** Extensions of every resource: that of the protocol, and that of this catalogue. */
export const DISCOVERY_EXTENSIONS = ['bazaar', 'agent-payable'] as const;

const NETWORK_NAMES = Object.values(NETWORKS).flatMap(({ id, key }) => [id, key]);

/** CAIP-2: a namespace, a colon and a reference. */
const CAIP_2 = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/;

/** Most values of a parameter that may be given several times. */
const VALUES_MAX = 5;

/** Builds the schema of such a parameter; `what` says of a value what it is. */
const listOf = (what: string) =>
  z
    .array(z.string().regex(/^[\w.: -]{1,64}$/, what))
    .max(VALUES_MAX)
    .optional();

/**
 * The filters of the facilitators' discovery endpoints (x402 specification, extension `bazaar`, "Optional Discovery Endpoints"),
 * with the names that clients send. A well-formed value that this catalogue does not have matches nothing.
 */
const discoveryFilters = z.strictObject({
  type: z.enum(['http', 'mcp']).optional().describe('Kind of resource: a route, or the tool of an MCP server'),
  payTo: z
    .string()
    .regex(/^(0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/, `an account on ${nameNetworks()}`)
    .optional()
    .describe('Account that is paid'),
  scheme: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_-]{0,31}$/, 'the name of an x402 scheme, such as exact')
    .optional()
    .describe('Payment scheme'),
  network: z
    .string()
    .refine(
      (name) => CAIP_2.test(name) || NETWORK_NAMES.includes(name),
      `a CAIP-2 identifier; here are ${NETWORK_NAMES.join(', ')}`,
    )
    .optional()
    .describe(
      `Network that is paid on, as x402 version 2 writes it; ${Object.keys(NETWORKS).join(' and ')} are understood too`,
    ),
  asset: z
    .string()
    .regex(/^(0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/, `the address of a token on ${nameNetworks()}`)
    .optional()
    .describe('Token that is paid'),
  maxUsdPrice: listFilters.shape.max_price_usdc.describe('Most that a call may cost, in US dollars: 0.01'),
  urlSubstring: z.string().min(3).max(2000).optional().describe('Part of the address of the resource, in any case'),
  extensions: listOf('the name of an extension, such as bazaar').describe(
    `Extensions that the resource carries; all carry ${DISCOVERY_EXTENSIONS.join(' and ')}`,
  ),
  tags: listOf('a tag').describe('Tags of which the resource has at least one: a category in lower case'),
  bundleSlugs: listOf('the slug of a bundle').describe(
    'Bundles that it is in; there are none here, so that nothing is found',
  ),
  curatedOnly: z.boolean().optional().describe('Only settlement-verified routes (true)'),
});
export type DiscoveryFilters = z.infer<typeof discoveryFilters>;

/** Query of `GET /discovery/resources`. */
export const discoveryListQuery = discoveryFilters.extend({
  limit: z
    .int()
    .min(1)
    .default(DISCOVERY_LIMITS.list.default)
    .describe(`Resources a page, ${DISCOVERY_LIMITS.list.max} at most; pagination.limit says how many were taken`),
  offset: z.int().min(0).default(0).describe('Resources to skip, in an order that is fixed within a revision'),
});

/** Query of `GET /discovery/merchant`. */
export const discoveryMerchantQuery = discoveryListQuery.pick({ limit: true, offset: true }).extend({
  payTo: discoveryFilters.shape.payTo.unwrap().describe('Account of the merchant'),
  limit: discoveryListQuery.shape.limit.unwrap().default(DISCOVERY_LIMITS.merchant.default),
});

/** Query of `GET /discovery/search`. */
export const discoverySearchQuery = discoveryFilters.extend({
  query: z
    .string()
    .trim()
    .min(1)
    .max(REQUEST_MAX_LENGTH)
    .optional()
    .describe('What is looked for, in plain words; without it all that the filters let through, in pages'),
  limit: z
    .int()
    .min(1)
    .default(DISCOVERY_LIMITS.search.default)
    .describe(`Resources a page, ${DISCOVERY_LIMITS.search.max} at most; a page may hold fewer`),
  cursor: z.string().max(CURSOR_MAX_LENGTH).optional().describe('pagination.cursor of the page before'),
});
export type DiscoverySearchQuery = z.infer<typeof discoverySearchQuery>;

/** Time-out if nobody named one, in seconds: the default of the x402 SDK's own server. */
const DEFAULT_TIMEOUT_SECONDS = 300;

/** Names of a service as the extension allows them: printable ASCII, 32 characters at most. */
const SERVICE_NAME = /^[\x20-\x7e]{1,32}$/;

/** An offer in the form of x402 version 2, even if the seller uses version 1. */
const paymentRequirements = z.object({
  scheme: z.string(),
  network: z.string().describe('CAIP-2 identifier'),
  asset: z.string(),
  amount: z.string().describe('Price of one request in atomic USDC (6 decimals)'),
  payTo: z.string(),
  maxTimeoutSeconds: z.int().positive(),
  extra: jsonObject.describe('What the scheme signs over; the live 402 may add to it'),
});

/** This catalogue's facts about a resource, which facilitators do not have. */
const resourceEvidence = z.object({
  slug: z.string(),
  page_url: z.url(),
  listing_url: z.url().describe('Everything on record, as JSON'),
  verification: routeVerification,
  verified_at: z.iso.datetime().nullable(),
  verified_amount: z
    .string()
    .optional()
    .describe('Price that was verified; only where the route asks another price now'),
  receipt_url: z.url().nullable().describe('The payment that proves it, with how to check it on the chain'),
  undelivered_at: z.iso
    .datetime()
    .nullable()
    .describe('When the latest paid call that was not delivered settled; null where the latest was delivered'),
  cautions: z.array(caution).describe('What speaks against it: pay nothing where one is of danger'),
  terms: z.enum(['observed', 'declared']).describe('Whether the offers were seen in a 402 or are a claim'),
  seen_at: z.iso.datetime().nullable().describe('When the offers were last seen; null for a bare claim'),
  payee: payeeKind.nullable().describe('rotating: the seller names a fresh payee each time'),
  last_probe: z.object({ at: z.iso.datetime(), outcome: probeOutcome }).nullable(),
  reliability_band: reliabilityBand,
  reliability_score: z.number().nullable().describe('Of the listing'),
});

/** One payable route, in the form of x402 facilitators. */
const discoveryResource = z
  .object({
    resource: z.string().describe('Where it is called; fill in :name and {name} first'),
    type: z.enum(['http', 'mcp']),
    x402Version: z.union([z.literal(1), z.literal(2)]).describe('Version of the protocol that the seller speaks'),
    accepts: z.array(paymentRequirements).min(1),
    lastUpdated: z.iso.datetime(),
    description: z.string().optional().describe("Provider's text"),
    mimeType: z.string().optional(),
    serviceName: z.string().optional().describe("Provider's text"),
    tags: z.array(z.string()),
    curated: z.literal(true).optional().describe('There where the route is settlement-verified'),
    extensions: z.object({
      bazaar: z
        .object({ info: jsonObject, schema: jsonObject, routeTemplate: z.string().optional() })
        .describe("How to call it, in the provider's words"),
      'agent-payable': z.object({ info: resourceEvidence }).describe('What this catalogue found out'),
    }),
  })
  .meta({ id: 'DiscoveryResource' });
export type DiscoveryResource = z.infer<typeof discoveryResource>;

/** The answer of `GET /discovery/resources`. */
export const discoveryResources = z
  .object({
    x402Version: z.literal(2),
    items: z.array(discoveryResource),
    pagination: z.object({
      limit: z.int().positive(),
      offset: z.int().nonnegative(),
      total: z.int().nonnegative().describe('Resources that match'),
    }),
  })
  .meta({ id: 'DiscoveryResources' });
export type DiscoveryResources = z.infer<typeof discoveryResources>;

/** The answer of `GET /discovery/merchant`. */
export const discoveryMerchant = z
  .object({
    x402Version: z.literal(2),
    payTo: z.string(),
    resources: z.array(discoveryResource),
    pagination: discoveryResources.shape.pagination,
  })
  .meta({ id: 'DiscoveryMerchant' });
export type DiscoveryMerchant = z.infer<typeof discoveryMerchant>;

/** The answer of `GET /discovery/search`. */
export const discoveryFindings = z
  .object({
    x402Version: z.literal(2),
    resources: z.array(discoveryResource),
    partialResults: z.boolean().describe('More matches than are shown, on further pages or of the same listings'),
    pagination: z.object({
      limit: z.int().nonnegative().describe('Resources on this page'),
      cursor: z.string().nullable().describe('For the next page; null on the last'),
    }),
  })
  .meta({ id: 'DiscoveryFindings' });
export type DiscoveryFindings = z.infer<typeof discoveryFindings>;

/**
 * Builds the resource of a payable route. Offers have the form of version 2, even if the seller uses only version 1
 * (`x402Version` says so): the SDK has types only for that form, and a client pays what the live 402 asks.
 */
export function buildDiscoveryResource(listing: PublicHead, route: PublicRoute, site: Site): DiscoveryResource {
  const offers = listPayableTerms(route);
  const seenAt = getLatest(offers.map(({ last_seen_at }) => last_seen_at));
  return {
    // The extension names the tool in its declaration, not in the address.
    resource: route.url.split('#')[0] ?? '',
    type: isToolPath(route.path) ? 'mcp' : 'http',
    x402Version: offers.every(({ x402_version }) => x402_version === 1) ? 1 : 2,
    accepts: offers.map(buildRequirements),
    lastUpdated: seenAt ?? listing.updated_at,
    ...(route.description && { description: route.description }),
    ...(route.mime_type !== null && { mimeType: route.mime_type }),
    ...(SERVICE_NAME.test(listing.title) && { serviceName: listing.title }),
    tags: [listing.category.toLowerCase()],
    ...(route.verification === 'settlement-verified' && { curated: true as const }),
    extensions: {
      bazaar: buildBazaarDeclaration(route),
      'agent-payable': { info: buildEvidence(listing, route, { offers, seenAt, site }) },
    },
  };
}

function buildRequirements(offer: PayableTerms): z.infer<typeof paymentRequirements> {
  const { network, scheme, asset, amount, pay_to, max_timeout_seconds, evidence } = offer;
  // A 402 always names one, and more than a day is not kept.
  const unknown = evidence === 'observed' ? MAX_TIMEOUT_SECONDS : DEFAULT_TIMEOUT_SECONDS;
  const chain = NETWORKS[network];
  return {
    scheme,
    network: chain.id,
    asset,
    amount: String(amount),
    payTo: pay_to,
    maxTimeoutSeconds: max_timeout_seconds ?? unknown,
    extra: chain.family === 'evm' && scheme === 'exact' ? { ...chain.domain } : {},
  };
}

function buildEvidence(
  listing: PublicHead,
  route: PublicRoute,
  { offers, seenAt, site }: { offers: readonly PayableTerms[]; seenAt: string | null; site: Site },
): z.infer<typeof resourceEvidence> {
  const { slug, reliability } = listing;
  const { verification, proof, undelivered, payee, probe } = route;
  const proved = findProvedPrice(proof, route.terms);
  const link = (path: string) => buildUrl(site.baseUrl, path);
  return {
    slug,
    page_url: link(PATHS.listing(slug)),
    listing_url: link(PATHS.agentListing(slug)),
    verification,
    verified_at: proof?.verified_at ?? null,
    ...(proved !== null && { verified_amount: String(proved) }),
    receipt_url: proof ? link(PATHS.agentReceipt(proof.receipt_id)) : null,
    undelivered_at: undelivered?.at ?? null,
    cautions: listRouteCautions(listing.listing_cautions, route),
    terms: offers.some(({ evidence }) => evidence === 'observed') ? 'observed' : 'declared',
    seen_at: seenAt,
    payee,
    last_probe: probe && { at: probe.at, outcome: probe.outcome },
    reliability_band: reliability.band,
    reliability_score: reliability.score,
  };
}

function getLatest(times: readonly (string | null)[]): string | null {
  return times.reduce((latest, time) => ((time ?? '') > (latest ?? '') ? time : latest), null);
}

/** Parts of a request, as the extension names them and as the input schemas of routes are stored. */
const PARTS = ['queryParams', 'body', 'headers', 'pathParams'] as const;

/** Path templates that the extension takes (x402, extension `bazaar`, "routeTemplate Validation Rules"). */
const ROUTE_TEMPLATE = /^\/(?!.*\.\.)(?!.*:\/\/)[a-zA-Z0-9_/:.\-~]+$/;

/** Declaration of a call in the extension `bazaar`: `info` has values, `schema` describes them. */
export interface BazaarDeclaration {
  info: { input: JsonObject; output?: JsonObject };
  schema: JsonObject;
  routeTemplate?: string;
}

/**
 * Builds the declaration of a route. Facts that are not on record are left out. Without an example from a source there is no
 * `body`, so a `body` is always an example, and `info` fits the schema next to it, as the extension demands.
 */
function buildBazaarDeclaration(route: PublicRoute): BazaarDeclaration {
  const { pathname } = new URL(route.url);
  const isTemplate = /\/:[A-Za-z_]/.test(pathname) && ROUTE_TEMPLATE.test(pathname);
  const output = buildOutput(route);
  return {
    info: { input: buildInput(route), ...(output && { output: output.info }) },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { input: buildInputSchema(route), ...(output && { output: output.schema }) },
      required: ['input'],
    },
    ...(isTemplate && { routeTemplate: pathname }),
  };
}

function buildInput({ method, path, description, example, input_schema: declared }: PublicRoute): JsonObject {
  if (isToolPath(path)) {
    return {
      type: 'mcp',
      toolName: getToolName(path),
      ...(description !== '' && { description }),
      transport: 'streamable-http',
      inputSchema: getPart(declared, 'body') ?? { type: 'object' },
      ...(isObject(example?.body) && { example: example.body }),
    };
  }
  return {
    type: 'http',
    method,
    ...(isWithBody(method) && { bodyType: typeof example?.body === 'string' ? 'text' : 'json' }),
    ...(example?.query && { queryParams: readTyped(example.query, getPart(declared, 'queryParams')) }),
    ...(example?.body !== undefined && { body: example.body }),
    ...(example?.headers && { headers: example.headers }),
  };
}

function buildInputSchema({ method, path, input_schema: declared }: PublicRoute): JsonObject {
  if (isToolPath(path)) {
    const properties = {
      type: { type: 'string', const: 'mcp' },
      toolName: { type: 'string' },
      description: { type: 'string' },
      transport: { type: 'string', enum: ['streamable-http'] },
      inputSchema: { type: 'object' },
      example: { type: 'object' },
    };
    return { type: 'object', properties, required: ['type', 'toolName', 'inputSchema'] };
  }
  const parts = PARTS.flatMap((part) => {
    const stated = getPart(declared, part);
    return stated === undefined ? [] : [[part, stated] as const];
  });
  const hasBody = isWithBody(method);
  return {
    type: 'object',
    properties: {
      type: { type: 'string', const: 'http' },
      method: { type: 'string', enum: [method] },
      ...(hasBody && { bodyType: { type: 'string', enum: ['json', 'form-data', 'text'] } }),
      ...Object.fromEntries(parts),
    },
    required: hasBody ? ['type', 'method', 'bodyType'] : ['type', 'method'],
  };
}

function getPart(declared: JsonObject | null, part: (typeof PARTS)[number]): unknown {
  return isObject(declared?.properties) ? declared.properties[part] : undefined;
}

/** Returns the values of a query, which are recorded as text, in the types of the schema. */
function readTyped(query: Readonly<Record<string, string>>, schema: unknown): JsonObject {
  const fields = isObject(schema) && isObject(schema.properties) ? schema.properties : {};
  return Object.fromEntries(
    Object.entries(query).map(([name, text]) => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      return [name, isObject(field) ? readValue(text, field.type) : text];
    }),
  );
}

function readValue(text: string, type: unknown): unknown {
  if ((type === 'number' || type === 'integer') && /^-?\d{1,15}(\.\d{1,15})?$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

/** Splits the schema of an answer from the example in its `examples`, since the extension has two fields for them. */
function buildOutput({
  output_schema: declared,
  mime_type,
}: PublicRoute): { info: JsonObject; schema: JsonObject } | null {
  if (declared === null) return null;
  const { examples, ...schema } = declared;
  const example: unknown = Array.isArray(examples) ? examples[0] : undefined;
  return {
    info: { type: getContentKind(mime_type), ...(example !== undefined && { example }) },
    schema: {
      type: 'object',
      properties: { type: { type: 'string' }, ...(Object.keys(schema).length > 0 && { example: schema }) },
      required: ['type'],
    },
  };
}

/** Returns the kind of an answer in the extension's words: `json`, `text`, else its media type. */
function getContentKind(mimeType: string | null): string {
  const type = mimeType?.split(';', 1)[0]?.trim() ?? 'application/json';
  if (/[/+]json$/.test(type)) return 'json';
  return type.startsWith('text/') ? 'text' : type;
}
