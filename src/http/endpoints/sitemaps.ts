import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import type { Published } from '../../published/file.ts';
import { listUpdates } from '../../published/listings.ts';
import { listProviderPages, listReceiptPages, listSitePages } from '../../published/pages.ts';
import type { Reading } from '../../published/reading.ts';
import type { Snapshot } from '../../published/snapshot.ts';
import { type HeldReading, type Walk, type Walked, walkInTurns } from '../../published/walk.ts';
import {
  buildSitemapIndex,
  buildSitemapUrl,
  MAX_SITEMAP_URLS,
  SITEMAP_END,
  SITEMAP_START,
} from '../../views/conventions.ts';
import { PATHS } from '../../views/links.ts';
import { buildDocument, buildEtag, buildJoined } from '../document.ts';
import { deflatePiece, type Piece } from '../gzip-pieces.ts';
import { keepListingPieces, type ListingPiece, MOST_IN_PIECE } from '../listing-pieces.ts';
import { defineFile } from './define.ts';

const XML = 'application/xml; charset=utf-8';

/** The first sitemap is of the pages that are not a listing's, those of receipts included; those of the listings follow. */
const FIRST_OF_LISTINGS = 2;

const urls = keepListingPieces({
  list: listUpdates,
  write: (listings, { site: { baseUrl } }) =>
    listings
      .map(({ slug, updated_at }) => buildSitemapUrl({ path: PATHS.listing(slug), lastmod: updated_at }, baseUrl))
      .join(''),
});

/** The start and the end of each sitemap. */
const START = deflatePiece(SITEMAP_START);
const END = deflatePiece(SITEMAP_END);

/** The index of the sitemaps. */
export const sitemapIndexEndpoint = defineFile({
  id: 'getSitemapIndex',
  path: PATHS.sitemapIndex,
  summary: 'Names the sitemaps',
  description: 'One of pages, the others of listings, with the time of each.',
  content: {
    description: 'The index',
    type: XML,
    example: () => '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"></sitemapindex>',
  },
  make: async (_, { reading, asked }) => {
    const { parts, revised_at, ...facts } = await readParts(reading, asked);
    const sitemaps = [
      { path: PATHS.sitemap(1), lastmod: revised_at },
      ...parts.map((part, at) => ({ path: PATHS.sitemap(at + FIRST_OF_LISTINGS), lastmod: getLatest(part) })),
    ];
    return buildDocument(buildSitemapIndex(sitemaps, reading.site.baseUrl), { type: XML, ...facts });
  },
});

/** One of the sitemaps that the index names. */
export const sitemapEndpoint = defineFile({
  id: 'getSitemap',
  path: PATHS.sitemap('{part}'),
  // A pattern in the path would make the router try all routes, one by one, for every request.
  at: { path: '*', only: /^\/sitemap-(?<part>[1-9]\d{0,5})\.xml$/ },
  summary: 'Names pages',
  description: 'Addresses and times of the latest change.',
  params: { part: z.int().min(1).meta({ description: 'Number of the sitemap, from 1', example: 1 }) },
  content: {
    description: 'The sitemap',
    type: XML,
    example: () => '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"></urlset>',
  },
  failures: ['NotFound'],
  make: async (_, { reading, asked, params }) => {
    const number = Number(params.part);
    if (number < FIRST_OF_LISTINGS) {
      const { found, snapshot } = await getPages(reading);
      const facts = { revision: snapshot.revision, etag: buildEtag(reading, snapshot, asked) };
      return buildJoined([START, found, END], { type: XML, ...facts });
    }
    const { parts, revised_at: _revised, ...facts } = await readParts(reading, asked);
    const pieces = parts[number - FIRST_OF_LISTINGS];
    if (!pieces) {
      throw new ServiceError('not_found', 'There is no such sitemap.', {
        hint: `${PATHS.sitemapIndex} names all there are.`,
      });
    }
    return buildJoined([START, ...pieces, END], { type: XML, ...facts });
  },
});

/** Reads the sitemaps of listings at one revision: the pieces of each. */
async function readParts(reading: Reading, asked: string) {
  const { pieces, read } = await urls.get(reading, (snapshot) => ({
    revised_at: snapshot.revised_at,
    revision: snapshot.revision,
    etag: buildEtag(reading, snapshot, asked),
  }));
  return { parts: divide(pieces), ...read };
}

/** Divides pieces into sitemaps, none of which has more addresses than it may. */
function divide(pieces: readonly ListingPiece[]): ListingPiece[][] {
  const parts: ListingPiece[][] = [];
  let room = 0;
  for (const piece of pieces) {
    if (room < MOST_IN_PIECE) {
      parts.push([]);
      room = MAX_SITEMAP_URLS;
    }
    parts.at(-1)?.push(piece);
    room -= piece.count;
  }
  return parts;
}

function getLatest(pieces: readonly ListingPiece[]): string {
  return (
    pieces
      .map(({ latest }) => latest)
      .sort()
      .at(-1) ?? ''
  );
}

const pagesOf = new WeakMap<Snapshot, Promise<Walked<Piece>>>();

/** Gives the addresses of the pages that are not a listing's, written once for a snapshot. */
function getPages(reading: Reading): Promise<Walked<Piece>> {
  const now = reading.getSnapshot();
  const known = pagesOf.get(now);
  if (known) return known;
  const made = walkInTurns(reading, (held) => walkPages(held, reading.site.baseUrl));
  pagesOf.set(now, made);
  made.catch(() => pagesOf.delete(now));
  return made;
}

function* walkPages({ published, snapshot }: HeldReading, baseUrl: string): Walk<Piece> {
  const found: string[] = [];
  for (const url of listPageUrls(published, snapshot, baseUrl)) {
    found.push(url);
    yield;
  }
  return deflatePiece(found.join(''));
}

/** Lists the pages for people. Those that change with the catalogue have the time of its latest change, others none. */
function* listPageUrls(published: Published, snapshot: Snapshot, baseUrl: string): Generator<string> {
  let count = 0;
  for (const { path, file, key } of listSitePages(published, snapshot)) {
    if (!file.endsWith('.html') || path === PATHS.notFound) continue;
    const lastmod = key === `r${snapshot.revision}` ? snapshot.revised_at : undefined;
    yield buildSitemapUrl({ path, lastmod }, baseUrl);
    count += 1;
  }
  for (const { path } of chain(listProviderPages(published), listReceiptPages(published))) {
    if (count === MAX_SITEMAP_URLS) break;
    yield buildSitemapUrl({ path }, baseUrl);
    count += 1;
  }
}

function* chain<Item>(...sources: Iterable<Item>[]): Generator<Item> {
  for (const source of sources) yield* source;
}
