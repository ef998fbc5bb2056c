import { ServiceError } from '../../errors.ts';
import { listChanges } from '../../published/changes.ts';
import { readRoutesPart } from '../../published/cursor.ts';
import { listFittingRoutes } from '../../published/fitting-routes.ts';
import { findAnswer, findTombstone, writeDocument } from '../../published/listings.ts';
import type { Reading } from '../../published/reading.ts';
import { PATHS } from '../../views/links.ts';
import { ROUTES_MAX, routesQuery } from '../../views/listing/query.ts';
import { type AgentListing, agentListing, joinListing } from '../../views/listing/record.ts';
import { buildAgentRoute } from '../../views/listing/route-record.ts';
import { buildChangeExample, buildListingExample } from '../../views/openapi/example.ts';
import { buildDocument, buildStored } from '../document.ts';
import { defineRead, SLUG_PARAM } from './define.ts';

/** The whole record of one listing. */
export const listingEndpoint = defineRead({
  id: 'getListing',
  path: PATHS.agentListing('{slug}'),
  summary: 'One listing whole: routes, terms, networks, evidence, decisions',
  description:
    'What sources declare, what a 402 answer was seen to ask and what a payment proved stand apart, each with its ' +
    `time. Of more than ${ROUTES_MAX} routes, next_cursor is where the rest begins.`,
  params: SLUG_PARAM,
  query: routesQuery,
  examples: { q: 'price of a token', limit: 20, cursor: '0~example-prices~1abc~~~' },
  answer: { description: 'The listing', schema: agentListing, example: buildDocumentExample },
  failures: ['NotFound', 'Gone'],
  find: ({ q, cursor, limit }, { published }, { slug = '' }) => {
    if (q !== undefined || cursor !== undefined || limit !== undefined) return undefined;
    const stored = findAnswer(published, slug);
    return stored && buildStored(stored);
  },
  build: (query, { reading, snapshot, params: { slug = '' } }) => {
    const { published } = reading;
    const { revision } = snapshot;
    const { q } = query;
    const fitting = q === undefined ? undefined : listFittingRoutes(published, snapshot, { slug, q });
    const text = writeDocument(published, slug, { part: readRoutesPart(query, slug), fitting });
    return text === undefined ? refuseListing(reading, slug) : buildDocument(text, { revision });
  },
});

/** Throws the reason why a listing has no document: it was removed, or never listed. */
function refuseListing({ published }: Reading, slug: string): never {
  const tombstone = findTombstone(published, slug);
  if (tombstone) {
    throw new ServiceError('gone', `The listing ${slug} was removed on ${tombstone.delisted_at.slice(0, 10)}.`, {
      hint: 'The tombstone says who removed it, and why.',
      details: { tombstone, decisions: listChanges(published, { slug }) },
    });
  }
  throw new ServiceError('not_found', `There is no live listing "${slug}".`, {
    hint: `GET ${PATHS.agentList}?q=… searches the catalogue.`,
  });
}

function buildDocumentExample(): AgentListing {
  const { routes, ...head } = buildListingExample();
  const texts = routes.map((route) => JSON.stringify(buildAgentRoute(route)));
  const decisions = [buildChangeExample(1)];
  const around = { head: JSON.stringify(head), revision: 1, sameProduct: [], routesTotal: routes.length, decisions };
  return JSON.parse(joinListing(texts, around));
}
