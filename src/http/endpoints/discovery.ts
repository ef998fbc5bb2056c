import { z } from 'zod';
import { jsonObject } from '../../model/json-object.ts';
import { NETWORKS } from '../../model/network.ts';
import { findResources, walkWithoutWords } from '../../published/found-resources.ts';
import { isLongWalk, walkResources } from '../../published/resources.ts';
import type { HeldReading, Walk } from '../../published/walk.ts';
import {
  buildDiscoveryResource,
  DISCOVERY_LIMITS,
  type DiscoveryFilters,
  type DiscoveryFindings,
  type DiscoveryMerchant,
  type DiscoveryResource,
  type DiscoveryResources,
  discoveryFindings,
  discoveryListQuery,
  discoveryMerchant,
  discoveryMerchantQuery,
  discoveryResources,
  discoverySearchQuery,
} from '../../views/discovery.ts';
import { PATHS } from '../../views/links.ts';
import { buildListingExample, EXAMPLE_PAYEE, NOWHERE } from '../../views/openapi/example.ts';
import type { Site } from '../../views/site.ts';
import { buildDocument, makeWalked } from '../document.ts';
import { defineRead, NO_QUERY } from './define.ts';

/** Examples of the filters that both discovery endpoints take. */
const FILTER_EXAMPLES = {
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
    example: (site): DiscoveryResources => ({
      x402Version: 2,
      items: listResourceExamples(site),
      pagination: { limit: 100, offset: 0, total: 1 },
    }),
  },
  make: async ({ limit: asked, ...query }, { reading }) => {
    const limit = Math.min(asked, DISCOVERY_LIMITS.list.max);
    return makeWalked(reading, {
      isLong: isLongWalk(query),
      *walk(held): Walk<DiscoveryResources> {
        const { resources, pagination } = yield* walkPage(held, reading.site, { ...query, limit });
        return { x402Version: 2, items: resources, pagination };
      },
    });
  },
});

/** The routes that best fit a request in plain words, in the form of x402 facilitators. */
export const discoverySearchEndpoint = defineRead({
  id: 'searchResources',
  path: PATHS.discoverySearch,
  summary: 'The routes that fit a request in plain words, as x402 facilitators show them',
  description: 'At most five routes of one listing, those that say most of the request first.',
  query: discoverySearchQuery,
  examples: { ...FILTER_EXAMPLES, query: 'convert a pdf to text', limit: 20, cursor: '0~example-prices~1abc~~~' },
  answer: {
    description: 'Resources, the best first',
    schema: discoveryFindings,
    example: (site): DiscoveryFindings => ({
      x402Version: 2,
      resources: listResourceExamples(site),
      partialResults: false,
      pagination: { limit: 1, cursor: null },
    }),
  },
  make: async ({ limit: asked, query, ...given }, { reading }) => {
    const filters = { ...given, limit: Math.min(asked, DISCOVERY_LIMITS.search.max) };
    return makeWalked(reading, {
      isLong: query === undefined && isLongWalk(filters),
      *walk({ published, snapshot }): Walk<DiscoveryFindings> {
        const { resources, next_cursor, partial } =
          query === undefined
            ? yield* walkWithoutWords(published, snapshot, filters)
            : findResources(published, snapshot, { ...filters, query });
        return {
          x402Version: 2,
          resources: resources.map(({ listing, route }) => buildDiscoveryResource(listing, route, reading.site)),
          partialResults: partial,
          pagination: { limit: resources.length, cursor: next_cursor ?? null },
        };
      },
    });
  },
});

/** The routes that pay one account, in the form of Coinbase's facilitator. */
export const discoveryMerchantEndpoint = defineRead({
  id: 'listMerchantResources',
  path: PATHS.discoveryMerchant,
  summary: 'Every route that pays one account, as x402 facilitators list them',
  description: 'The routes that ask to be paid to this account, in the order of /discovery/resources.',
  query: discoveryMerchantQuery,
  examples: { payTo: EXAMPLE_PAYEE, limit: 20, offset: 100 },
  answer: {
    description: 'A page of resources',
    schema: discoveryMerchant,
    example: (site): DiscoveryMerchant => ({
      x402Version: 2,
      payTo: EXAMPLE_PAYEE,
      resources: listResourceExamples(site),
      pagination: { limit: 20, offset: 0, total: 1 },
    }),
  },
  make: async ({ payTo, offset, limit: asked }, { reading }) => {
    const limit = Math.min(asked, DISCOVERY_LIMITS.merchant.max);
    return makeWalked(reading, {
      isLong: false,
      *walk(held): Walk<DiscoveryMerchant> {
        return { x402Version: 2, payTo, ...(yield* walkPage(held, reading.site, { payTo, offset, limit })) };
      },
    });
  },
});

const NO_BUNDLES = { bundles: [] };

/** The bundles of routes that Coinbase's client lists: none. */
export const discoveryBundlesEndpoint = defineRead({
  id: 'listBundles',
  path: PATHS.discoveryBundles,
  summary: "Bundles of routes, as Coinbase's client lists them, of which there are none",
  description: 'For clients that ask which bundles there are. No routes are bundled here.',
  query: NO_QUERY,
  answer: {
    description: 'An empty list',
    schema: z.object({ bundles: z.array(jsonObject).max(0) }).meta({ id: 'DiscoveryBundles' }),
    example: () => NO_BUNDLES,
  },
  build: (_query, { snapshot: { revision } }) => buildDocument(JSON.stringify(NO_BUNDLES), { revision }),
});

const NO_SUPPORT = { kinds: [], extensions: [], signers: {} };

/** The kinds of payment that are settled here, which x402 clients ask every facilitator for: none. */
export const discoverySupportedEndpoint = defineRead({
  id: 'listSupportedPayments',
  path: PATHS.discoverySupported,
  summary: 'What a facilitator settles, which is nothing here',
  description: 'For x402 clients that ask every facilitator. This service is for discovery alone.',
  query: NO_QUERY,
  answer: {
    description: 'Empty lists',
    schema: z
      .object({ kinds: z.array(jsonObject).max(0), extensions: z.array(z.string()).max(0), signers: jsonObject })
      .meta({ id: 'DiscoverySupported' }),
    example: () => NO_SUPPORT,
  },
  build: (_query, { snapshot: { revision } }) => buildDocument(JSON.stringify(NO_SUPPORT), { revision }),
});

/** Returns a page of the payable routes as resources, and the number of all of them. */
function* walkPage(
  { published, snapshot }: HeldReading,
  site: Site,
  query: DiscoveryFilters & { limit: number; offset: number },
): Walk<Pick<DiscoveryMerchant, 'resources' | 'pagination'>> {
  const { limit, offset } = query;
  const { total, resources } = yield* walkResources(published, snapshot, query);
  return {
    resources: resources.map(({ listing, route }) => buildDiscoveryResource(listing, route, site)),
    pagination: { limit, offset, total },
  };
}

/** Lists the invented listing's one route as a resource. */
function listResourceExamples(site: Site): DiscoveryResource[] {
  const listing = buildListingExample();
  return listing.routes.map((route) => buildDiscoveryResource(listing, route, { ...site, baseUrl: NOWHERE }));
}
