import { z } from 'zod';
import { catalogueSummary } from '../../model/catalogue.ts';
import { iterateLive } from '../../published/listings.ts';
import { readInPieces } from '../../published/reading.ts';
import { buildSummary } from '../../published/snapshot.ts';
import { PATHS } from '../../views/links.ts';
import { buildListingTag, listingTag } from '../../views/listing/tag.ts';
import { buildDocumentHead, type DocumentFrame } from '../../views/openapi/document.ts';
import { EXAMPLE_SEEN, NOWHERE } from '../../views/openapi/example.ts';
import type { Site } from '../../views/site.ts';
import { buildLargeDocument } from '../document.ts';
import { defineRead, type Endpoint, NO_QUERY } from './define.ts';

const catalogueDocument = z
  .object({ openapi: z.string(), 'x-catalogue': catalogueSummary, tags: z.array(listingTag) })
  .describe('What this document adds to OpenAPI: the summary, and a listing in each tag')
  .meta({ id: 'CatalogueDocument' });

/** Defines the OpenAPI document: the service's own endpoints, and the catalogue as tags. */
export function defineOpenapi(buildFrame: (site: Site) => DocumentFrame): Endpoint {
  const frames = new WeakMap<Site, string>();
  const getFrame = (site: Site): string => {
    const known = frames.get(site) ?? `,${JSON.stringify(buildFrame(site)).slice(1, -1)},"tags":[`;
    frames.set(site, known);
    return known;
  };
  return defineRead({
    id: 'getOpenapiDocument',
    path: PATHS.openapi,
    summary: 'This document: one tag a listing',
    description: 'Made per request from the catalogue as it is. Large: to find something, search instead.',
    query: NO_QUERY,
    isKept: true,
    answer: {
      description: 'OpenAPI 3.1.0',
      schema: catalogueDocument,
      example: (): z.infer<typeof catalogueDocument> => ({
        openapi: '3.1.0',
        'x-catalogue': {
          live_listings: 0,
          settlement_verified: 0,
          categories: [],
          generated_at: EXAMPLE_SEEN,
          source: `${NOWHERE}${PATHS.agentList}`,
        },
        tags: [],
      }),
    },
    build: (_, { reading }) =>
      readInPieces(reading, ({ published, snapshot }) => {
        const { site, now } = reading;
        const { revision, revised_at } = snapshot;
        const summary = buildSummary(snapshot, site, now());
        const head = JSON.stringify(buildDocumentHead(summary, revised_at, site)).slice(0, -1);
        const start = head + getFrame(site);
        const pieces = function* () {
          yield start;
          let separator = '';
          for (const listings of iterateLive(published)) {
            yield separator + listings.map((listing) => JSON.stringify(buildListingTag(listing, site))).join(',');
            separator = ',';
          }
          yield ']}';
        };
        return buildLargeDocument(pieces(), { generatedAt: summary.generated_at, revision });
      }),
  });
}
