import { findResources } from '../snapshot/found-resources.ts';
import { buildPart, type Part } from '../snapshot/part.ts';
import type { Reading } from '../snapshot/reading.ts';
import { listResources, type Resource } from '../snapshot/resources.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { DISCOVERY_LIMITS, discoveryListQuery, discoverySearchQuery } from '../views/discovery-query.ts';
import {
  buildDiscoveryResource,
  type DiscoveryFindings,
  type DiscoveryResource,
  type DiscoveryResources,
} from '../views/discovery-resource.ts';
import { buildJoinedResponse } from './joined.ts';
import { createKeptParts } from './kept-parts.ts';
import { parseQuery } from './parameters.ts';

/** How much of the answers of each endpoint is kept: a usual page is some 200 kB. */
const KEPT_BYTES = 16 * 1024 * 1024;

const HEAD = '{"x402Version":2';

/**
 * Serves `GET /discovery/resources`: every route that can be paid for, as x402 facilitators list what they settled for, so
 * that clients of theirs read this catalogue unchanged. `total` counts routes whose payee is known: others cannot be paid.
 */
export function createDiscoveryList(reading: Reading): (request: Request) => Response {
  return createDiscovery(reading, (snapshot, search) => {
    const asked = parseQuery(discoveryListQuery, search);
    const query = { ...asked, limit: Math.min(asked.limit, DISCOVERY_LIMITS.list.max) };
    return {
      key: JSON.stringify(query),
      build: (): Omit<DiscoveryResources, 'x402Version'> => {
        const { total, resources } = listResources(reading, snapshot, query);
        const { limit, offset } = query;
        return { items: buildAll(reading, resources), pagination: { limit, offset, total } };
      },
    };
  });
}

/** Serves `GET /discovery/search`: the routes that fit a request in plain words, best first. */
export function createDiscoverySearch(reading: Reading): (request: Request) => Response {
  return createDiscovery(reading, (snapshot, search) => {
    const asked = parseQuery(discoverySearchQuery, search);
    const query = { ...asked, limit: Math.min(asked.limit, DISCOVERY_LIMITS.search.max) };
    return {
      key: JSON.stringify(query),
      build: (): Omit<DiscoveryFindings, 'x402Version'> => {
        const { resources, next_cursor, partial } = findResources(reading, snapshot, query);
        return {
          resources: buildAll(reading, resources),
          partialResults: partial,
          pagination: { limit: resources.length, cursor: next_cursor ?? null },
        };
      },
    };
  });
}

/** Answers with what `ask` makes of a request, once for each revision and query; all of it is read in one transaction. */
function createDiscovery(
  { catalogue, getSnapshot }: Reading,
  ask: (snapshot: Snapshot, search: URLSearchParams) => { key: string; build: () => object },
): (request: Request) => Response {
  const kept = createKeptParts(KEPT_BYTES);
  const getBody = catalogue.sqlite.transaction((search: URLSearchParams): { body: Part; revision: number } => {
    const snapshot = getSnapshot();
    const { identity, revision } = snapshot;
    const { key, build } = ask(snapshot, search);
    const body = kept.get(`${identity} ${revision} ${key}`, () => buildPart(`,${JSON.stringify(build()).slice(1)}`));
    return { body, revision };
  });
  return (request) => {
    const { body, revision } = getBody(new URL(request.url).searchParams);
    return buildJoinedResponse(request, { head: HEAD, headKey: HEAD, body, revision });
  };
}

function buildAll({ site }: Reading, resources: readonly Resource[]): DiscoveryResource[] {
  return resources.map(({ listing, route }) => buildDiscoveryResource(listing, route, site));
}
