import { findResources, walkWithoutWords } from '../../published/found-resources.ts';
import { isLongWalk } from '../../published/resources.ts';
import type { Walk } from '../../published/walk.ts';
import {
  buildDiscoveryResource,
  DISCOVERY_LIMITS,
  type DiscoveryFindings,
  discoveryFindings,
  discoverySearchQuery,
} from '../../views/discovery.ts';
import { PATHS } from '../../views/links.ts';
import { makeWalked } from '../document.ts';
import { defineRead } from './define.ts';
import { buildResourceExample, FILTER_EXAMPLES } from './discovery-resources.ts';

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
    example: (): DiscoveryFindings => ({
      x402Version: 2,
      resources: [buildResourceExample()],
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
