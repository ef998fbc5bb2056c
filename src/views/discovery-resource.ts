import { z } from 'zod';
import { listPayableTerms, type PayableTerms } from '../evidence/terms.ts';
import { caution } from '../model/caution.ts';
import { jsonObject } from '../model/json.ts';
import { type LiveListing, listRouteCautions, reliabilityBand } from '../model/listing.ts';
import { BASE_USDC_DOMAIN, NETWORKS } from '../model/network.ts';
import { probeOutcome } from '../model/probe.ts';
import { getRouteUrl, payeeKind, type Route, routeVerification } from '../model/route.ts';
import { buildBazaarDeclaration } from './discovery-declaration.ts';
import { buildUrl, PATHS } from './links.ts';
import type { Site } from './site.ts';

/** What a server asks that names no time-out, in seconds: the default of the x402 SDK's own server. */
const DEFAULT_TIMEOUT_SECONDS = 300;

/** Names of a service as the extension allows them: printable ASCII, 32 characters at most. */
const SERVICE_NAME = /^[\x20-\x7e]{1,32}$/;

/** An offer as version 2 of x402 writes it, whatever version the seller speaks. */
const paymentRequirements = z.object({
  scheme: z.string(),
  network: z.string().describe('CAIP-2 identifier'),
  asset: z.string(),
  amount: z.string().describe('Price of one request in atomic USDC (6 decimals)'),
  payTo: z.string(),
  maxTimeoutSeconds: z.int().positive(),
  extra: jsonObject.describe('What the scheme signs over; the live 402 may add to it'),
});

/** What this catalogue knows of a resource beyond what facilitators do. */
const resourceEvidence = z.object({
  slug: z.string(),
  page_url: z.url(),
  listing_url: z.url().describe('Everything on record, as JSON'),
  verification: routeVerification,
  verified_at: z.iso.datetime().nullable(),
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

/** One payable route, in the shape in which x402 facilitators list resources. */
export const discoveryResource = z
  .object({
    resource: z.string().describe('Where it is called; fill in :name and {name} first'),
    type: z.literal('http'),
    x402Version: z.union([z.literal(1), z.literal(2)]).describe('Version of the protocol that the seller speaks'),
    accepts: z.array(paymentRequirements).min(1),
    lastUpdated: z.iso.datetime(),
    description: z.string().optional().describe("Provider's text"),
    mimeType: z.string().optional(),
    serviceName: z.string().optional().describe("Provider's text"),
    tags: z.array(z.string()),
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
 * Builds the resource of a route that can be paid for. Offers are written as version 2 does, also those of sellers who
 * speak version 1 alone (`x402Version` says so): the SDK's types know no other, and a client pays what the live 402 asks.
 */
export function buildDiscoveryResource(listing: LiveListing, route: Route, site: Site): DiscoveryResource {
  const offers = listPayableTerms(route);
  const seenAt = getLatest(offers.map(({ last_seen_at }) => last_seen_at));
  return {
    resource: getRouteUrl(listing.base_url, route.path),
    type: 'http',
    x402Version: offers.every(({ x402_version }) => x402_version === 1) ? 1 : 2,
    accepts: offers.map(buildRequirements),
    lastUpdated: seenAt ?? listing.updated_at,
    ...(route.description && { description: route.description }),
    ...(route.mime_type !== null && { mimeType: route.mime_type }),
    ...(SERVICE_NAME.test(listing.title) && { serviceName: listing.title }),
    tags: [listing.category.toLowerCase()],
    extensions: {
      bazaar: buildBazaarDeclaration(listing.base_url, route),
      'agent-payable': { info: buildEvidence(listing, route, { offers, seenAt, site }) },
    },
  };
}

function buildRequirements(offer: PayableTerms): z.infer<typeof paymentRequirements> {
  const { network, scheme, asset, amount, pay_to, max_timeout_seconds } = offer;
  return {
    scheme,
    network: NETWORKS[network].id,
    asset,
    amount: String(amount),
    payTo: pay_to,
    maxTimeoutSeconds: max_timeout_seconds ?? DEFAULT_TIMEOUT_SECONDS,
    extra: network === 'base' && scheme === 'exact' ? { ...BASE_USDC_DOMAIN } : {},
  };
}

function buildEvidence(
  listing: LiveListing,
  route: Route,
  { offers, seenAt, site }: { offers: readonly PayableTerms[]; seenAt: string | null; site: Site },
): z.infer<typeof resourceEvidence> {
  const { slug, reliability } = listing;
  const { verification, proof, undelivered, payee, probe } = route;
  const link = (path: string) => buildUrl(site.baseUrl, path);
  return {
    slug,
    page_url: link(PATHS.listing(slug)),
    listing_url: link(PATHS.agentListing(slug)),
    verification,
    verified_at: proof?.verified_at ?? null,
    receipt_url: proof ? link(PATHS.agentReceipt(proof.receipt_id)) : null,
    undelivered_at: undelivered?.at ?? null,
    cautions: listRouteCautions(listing, route),
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
