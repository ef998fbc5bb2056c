import { findResources } from '../../published/found-resources.ts';
import type { Reading } from '../../published/reading.ts';
import { listResources, type Resource } from '../../published/resources.ts';
import {
  buildDiscoveryResource,
  DISCOVERY_LIMITS,
  type DiscoveryFindings,
  type DiscoveryResource,
  type DiscoveryResources,
  discoveryListQuery,
  discoverySearchQuery,
} from '../../views/discovery.ts';
import { PATHS } from '../../views/links.ts';
import { buildDocument } from '../document.ts';
import type { Get } from './route.ts';

/**
 * Adds `/discovery/resources`, every route that can be paid for as x402 facilitators list what they settled for, so that
 * clients of theirs read this catalogue unchanged, and `/discovery/search`, the routes that fit a request in plain words,
 * best first. `total` counts routes whose payee is known: others cannot be paid.
 */
export function addDiscoveryRoutes(get: Get, reading: Reading): void {
  const { published, site } = reading;
  const buildAll = (resources: readonly Resource[]): DiscoveryResource[] =>
    resources.map(({ listing, route }) => buildDiscoveryResource(listing, route, site));

  get(PATHS.discoveryResources, discoveryListQuery, ({ limit: asked, ...query }, _, snapshot) => {
    const limit = Math.min(asked, DISCOVERY_LIMITS.list.max);
    const { total, resources } = listResources(published, snapshot, { ...query, limit });
    const pagination = { limit, offset: query.offset, total };
    const found: DiscoveryResources = { x402Version: 2, items: buildAll(resources), pagination };
    return buildDocument(JSON.stringify(found), { revision: snapshot.revision });
  });
  get(PATHS.discoverySearch, discoverySearchQuery, ({ limit: asked, ...query }, _, snapshot) => {
    const limit = Math.min(asked, DISCOVERY_LIMITS.search.max);
    const { resources, next_cursor, partial } = findResources(published, snapshot, { ...query, limit });
    const found: DiscoveryFindings = {
      x402Version: 2,
      resources: buildAll(resources),
      partialResults: partial,
      pagination: { limit: resources.length, cursor: next_cursor ?? null },
    };
    return buildDocument(JSON.stringify(found), { revision: snapshot.revision });
  });
}
