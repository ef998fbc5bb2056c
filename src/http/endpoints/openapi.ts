import { z } from 'zod';
import { catalogueSummary } from '../../model/catalogue.ts';
import { listLive } from '../../published/listings.ts';
import { buildSummary } from '../../published/snapshot.ts';
import { PATHS } from '../../views/links.ts';
import { buildListingTag, listingTag } from '../../views/listing/tag.ts';
import { buildDocumentHead, type DocumentFrame } from '../../views/openapi/document.ts';
import { EXAMPLE_SEEN, NOWHERE } from '../../views/openapi/example.ts';
import type { Site } from '../../views/site.ts';
import { buildEtag, buildJoined } from '../document.ts';
import { deflatePiece, type Piece } from '../gzip-pieces.ts';
import { keepListingPieces } from '../listing-pieces.ts';
import { defineRead, type Endpoint, NO_QUERY } from './define.ts';

const catalogueDocument = z
  .object({ openapi: z.string(), 'x-catalogue': catalogueSummary, tags: z.array(listingTag) })
  .describe('What this document adds to OpenAPI: the summary, and a listing in each tag')
  .meta({ id: 'CatalogueDocument' });

/** The comma between two pieces with tags, and the end of the document. */
const SEPARATOR = deflatePiece(',');
const END = deflatePiece(']}');

/** Defines the OpenAPI document: the service's own endpoints, and the listings as tags. */
export function defineOpenapi(buildFrame: (site: Site) => DocumentFrame): Endpoint {
  const tags = keepListingPieces({
    list: listLive,
    write: (listings, { site }) => listings.map((listing) => JSON.stringify(buildListingTag(listing, site))).join(','),
  });
  const frames = new WeakMap<Site, Piece>();
  const getFrame = (site: Site): Piece => {
    const known = frames.get(site) ?? deflatePiece(`,${JSON.stringify(buildFrame(site)).slice(1, -1)},"tags":[`);
    frames.set(site, known);
    return known;
  };
  return defineRead({
    id: 'getOpenapiDocument',
    path: PATHS.openapi,
    summary: 'This document: one tag a listing',
    description: 'Made per request from the catalogue as it is. Large: to find something, search instead.',
    query: NO_QUERY,
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
    make: async (_, { reading, asked }) => {
      const { site, now } = reading;
      const { pieces, read } = await tags.get(reading, (snapshot) => ({
        head: buildDocumentHead(buildSummary(snapshot, site, now()), snapshot.revised_at, site),
        revision: snapshot.revision,
        etag: buildEtag(site, snapshot, asked),
      }));
      const { head, ...facts } = read;
      const start = [deflatePiece(JSON.stringify(head).slice(0, -1)), getFrame(site)];
      const joined = pieces.flatMap((piece, at) => (at === 0 ? [piece] : [SEPARATOR, piece]));
      return buildJoined([...start, ...joined, END], facts);
    },
  });
}
