import { ServiceError } from '../../errors.ts';
import { NETWORKS } from '../../model/network.ts';
import { listChanges } from '../../published/changes.ts';
import { readRoutesPart } from '../../published/cursor.ts';
import { listFittingRoutes } from '../../published/fitting-routes.ts';
import { findAnswer, findTombstone, writeDocument } from '../../published/listings.ts';
import type { Reading } from '../../published/reading.ts';
import { PATHS } from '../../views/links.ts';
import { ROUTES_MAX, routesQuery } from '../../views/listing/query.ts';
import { type AgentListing, agentListing } from '../../views/listing/record.ts';
import {
  buildChangeExample,
  EXAMPLE_ITEM,
  EXAMPLE_PAYEE,
  EXAMPLE_RELIABILITY,
  EXAMPLE_ROUTE_ID,
  EXAMPLE_SEEN,
} from '../../views/openapi/example.ts';
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
  answer: { description: 'The listing', schema: agentListing, example: buildListingExample },
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

function buildListingExample(): AgentListing {
  const { id, label, key, usdc } = NETWORKS.base;
  return {
    ...{ revision: 1, routes_total: 1 },
    listing: {
      ...EXAMPLE_ITEM,
      description: 'Answers with the latest price of the symbol asked for.',
      category_inferred: false,
      mcp_endpoint: null,
      docs_url: null,
      primary_network: key,
      network_entries: [
        {
          id,
          key,
          label,
          advertised: true,
          settlement_verified: false,
          last_verified_at: null,
          last_seen_at: EXAMPLE_SEEN,
        },
      ],
      reliability: EXAMPLE_RELIABILITY,
      sources: [{ kind: 'manifest', name: 'example-prices.yaml', observed_at: EXAMPLE_SEEN, authority: 'operator' }],
      said_by: { title: 0, tagline: 0, description: 0, category: 0 },
      listed_at: EXAMPLE_SEEN,
      listing_cautions: [],
      corrections: [],
      routes: [
        {
          id: EXAMPLE_ROUTE_ID,
          method: 'GET',
          path: '/v1/price/{symbol}',
          url: 'https://api.prices.example/v1/price/{symbol}',
          description: 'Latest price of one symbol.',
          mime_type: 'application/json',
          input_schema: null,
          output_schema: null,
          example: null,
          said_by: { route: 0, description: 0, price: 0 },
          verification: 'unverified',
          proof: null,
          proofs: [],
          cautions: [
            {
              code: 'never_seen',
              severity: 'notice',
              since: EXAMPLE_SEEN,
              evidence: { declared_at: EXAMPLE_SEEN },
              reply: null,
            },
          ],
          undelivered: null,
          payee: null,
          probe: null,
          terms: [
            {
              network: 'base',
              network_id: id,
              scheme: 'exact',
              asset: usdc,
              amount: '1000',
              amount_usdc: '0.001',
              pay_to: EXAMPLE_PAYEE,
              max_timeout_seconds: 60,
              x402_version: 2,
              evidence: 'declared',
              source: 'example-prices.yaml',
              first_seen_at: EXAMPLE_SEEN,
              last_seen_at: EXAMPLE_SEEN,
              current: true,
              needs: ['v2', 'evm', 'exact', 'eip3009'],
            },
          ],
        },
      ],
    },
    decisions: [buildChangeExample(1)],
  };
}
