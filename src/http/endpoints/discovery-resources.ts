import { NETWORKS } from '../../model/network.ts';
import { isLongWalk, walkResources } from '../../published/resources.ts';
import type { Walk } from '../../published/walk.ts';
import {
  buildDiscoveryResource,
  DISCOVERY_LIMITS,
  type DiscoveryResource,
  type DiscoveryResources,
  discoveryListQuery,
  discoveryResources,
} from '../../views/discovery.ts';
import { PATHS } from '../../views/links.ts';
import { EXAMPLE_PAYEE, EXAMPLE_SEEN, EXAMPLE_SLUG, NOWHERE } from '../../views/openapi/example.ts';
import { makeWalked } from '../document.ts';
import { defineRead } from './define.ts';

/** Examples of the filters that both discovery endpoints take. */
export const FILTER_EXAMPLES = {
  type: 'http' as const,
  payTo: EXAMPLE_PAYEE,
  scheme: 'exact',
  network: 'base',
  asset: NETWORKS.base.usdc,
  maxUsdPrice: '0.01',
  urlSubstring: 'api.prices.example',
  extensions: ['bazaar'],
  tags: ['finance'],
  bundleSlugs: ['research'],
  curatedOnly: true,
};

/**
 * Lists every payable route in the form of x402 facilitators, so that their clients read this catalogue unchanged. `total` counts
 * routes with a known payee; others cannot be paid.
 */
export const discoveryResourcesEndpoint = defineRead({
  id: 'listResources',
  path: PATHS.discoveryResources,
  summary: 'Every route that can be paid for, as x402 facilitators list them',
  description:
    'For x402 clients that know a facilitator: one resource a route whose payee is known, offers as x402 version 2 ' +
    "writes them, this catalogue's evidence in extensions.agent-payable.",
  query: discoveryListQuery,
  examples: { ...FILTER_EXAMPLES, limit: 20, offset: 100 },
  answer: {
    description: 'A page of resources',
    schema: discoveryResources,
    example: (): DiscoveryResources => ({
      x402Version: 2,
      items: [buildResourceExample()],
      pagination: { limit: 100, offset: 0, total: 1 },
    }),
  },
  make: async ({ limit: asked, ...query }, { reading }) => {
    const limit = Math.min(asked, DISCOVERY_LIMITS.list.max);
    return makeWalked(reading, {
      isLong: isLongWalk(query),
      *walk(held): Walk<DiscoveryResources> {
        const { total, resources } = yield* walkResources(held.published, held.snapshot, { ...query, limit });
        return {
          x402Version: 2,
          items: resources.map(({ listing, route }) => buildDiscoveryResource(listing, route, reading.site)),
          pagination: { limit, offset: query.offset, total },
        };
      },
    });
  },
});

/** Builds the invented route as a resource. */
export function buildResourceExample(): DiscoveryResource {
  const method = 'GET';
  return {
    resource: 'https://api.prices.example/v1/price/:symbol',
    type: 'http',
    x402Version: 2,
    accepts: [
      {
        scheme: 'exact',
        network: NETWORKS.base.id,
        asset: NETWORKS.base.usdc,
        amount: '1000',
        payTo: EXAMPLE_PAYEE,
        maxTimeoutSeconds: 60,
        extra: { ...NETWORKS.base.domain },
      },
    ],
    lastUpdated: EXAMPLE_SEEN,
    description: 'Latest price of one symbol.',
    mimeType: 'application/json',
    serviceName: 'Example Prices',
    tags: ['finance'],
    extensions: {
      bazaar: {
        info: { input: { type: 'http', method } },
        schema: {
          $schema: 'https://json-schema.org/draft/2020-12/schema',
          type: 'object',
          properties: {
            input: {
              type: 'object',
              properties: { type: { type: 'string', const: 'http' }, method: { type: 'string', enum: [method] } },
              required: ['type', 'method'],
            },
          },
          required: ['input'],
        },
        routeTemplate: '/v1/price/:symbol',
      },
      'agent-payable': {
        info: {
          slug: EXAMPLE_SLUG,
          page_url: `${NOWHERE}${PATHS.listing(EXAMPLE_SLUG)}`,
          listing_url: `${NOWHERE}${PATHS.agentListing(EXAMPLE_SLUG)}`,
          verification: 'unverified',
          verified_at: null,
          receipt_url: null,
          undelivered_at: null,
          cautions: [],
          terms: 'declared',
          seen_at: EXAMPLE_SEEN,
          payee: null,
          last_probe: null,
          reliability_band: 'unscored',
          reliability_score: null,
        },
      },
    },
  };
}
