import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import type { Published } from '../../published/file.ts';
import { listUpdates } from '../../published/listings.ts';
import { listFurtherPages, listProviderPages, listReceiptPages, listSitePages } from '../../published/pages.ts';
import type { Reading } from '../../published/reading.ts';
import type { Snapshot } from '../../published/snapshot.ts';
import { type HeldReading, type Walk, walkInTurns } from '../../published/walk.ts';
import {
  buildSitemapIndex,
  buildSitemapUrl,
  MAX_SITEMAP_URLS,
  SITEMAP_END,
  SITEMAP_START,
} from '../../views/conventions.ts';
import { PATHS } from '../../views/links.ts';
import type { Site } from '../../views/site.ts';
import { buildDocument, buildEtag, buildJoined } from '../document.ts';
import { deflatePiece, type Piece } from '../gzip-pieces.ts';
import { getLatest, keepListingPieces, type ListingPiece } from '../listing-pieces.ts';
import { defineFile } from './define.ts';

const XML = 'application/xml; charset=utf-8';

/** Number of the first sitemap with listings. Sitemap 1 has all other pages, receipts included. */
const FIRST_OF_LISTINGS = 2;

const writeUrls = (listings: readonly { slug: string; updated_at: string }[], { site }: Pick<Reading, 'site'>) =>
  listings
    .map(({ slug, updated_at }) => buildSitemapUrl({ path: PATHS.listing(slug), lastmod: updated_at }, site.baseUrl))
    .join('');

const urls = keepListingPieces({ list: listUpdates, write: writeUrls });

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
      ...parts.map(({ latest }, at) => ({ path: PATHS.sitemap(at + FIRST_OF_LISTINGS), lastmod: latest })),
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
      const { pieces, ...facts } = await getPages(reading, asked);
      return buildJoined([START, ...pieces, END], { type: XML, ...facts });
    }
    const { parts, revised_at: _revised, ...facts } = await readParts(reading, asked);
    const part = parts[number - FIRST_OF_LISTINGS];
    if (!part) {
      throw new ServiceError('not_found', 'There is no such sitemap.', {
        hint: `${PATHS.sitemapIndex} names all there are.`,
      });
    }
    return buildJoined([START, ...part.pieces, END], { type: XML, ...facts });
  },
});

/** Reads all sitemaps of listings at one revision. */
async function readParts(reading: Reading, asked: string) {
  const { read } = await urls.get(reading, (snapshot, pieces) => ({
    parts: divide(reading, pieces),
    revised_at: snapshot.revised_at,
    revision: snapshot.revision,
    etag: buildEtag(reading.site, snapshot, asked),
  }));
  return read;
}

/** A sitemap of listings: its pieces, and the time of the latest change of any listing in them. */
interface Part {
  readonly pieces: Piece[];
  latest: string;
}

/**
 * Divides pieces into sitemaps of at most `MAX_SITEMAP_URLS` addresses. A piece on the border of two is written again as two, so
 * that the listings of a sitemap depend only on the catalogue and not on the cuts between pieces.
 */
function divide({ published, site }: Reading, pieces: readonly ListingPiece[]): Part[] {
  const parts: Part[] = [];
  let room = 0;
  const put = (piece: Piece, { count, latest }: Pick<ListingPiece, 'count' | 'latest'>) => {
    if (room === 0) {
      parts.push({ pieces: [], latest: '' });
      room = MAX_SITEMAP_URLS;
    }
    const part = parts.at(-1) as Part;
    part.pieces.push(piece);
    if (latest > part.latest) part.latest = latest;
    room -= count;
  };
  for (const piece of pieces) {
    if (room === 0 || piece.count <= room) {
      put(piece, piece);
      continue;
    }
    const listings = listUpdates(published, { from: piece.first, limit: piece.count });
    for (const some of [listings.slice(0, room), listings.slice(room)]) {
      put(deflatePiece(writeUrls(some, { site })), { count: some.length, latest: getLatest(some) });
    }
  }
  return parts;
}

/** Number of page addresses that are deflated at a time. */
const PAGES_AT_ONCE = 1000;

/** The sitemap of pages: its pieces, its revision, and its ETag. */
interface PagesPart {
  readonly pieces: readonly Piece[];
  readonly revision: number;
  readonly etag: string;
}

const pagesOf = new WeakMap<Snapshot, PagesPart>();
const underWay = new WeakMap<Reading, Promise<PagesPart>>();

/**
 * Returns the sitemap of the pages that are not of listings, written once for each snapshot. Requests that come while it is
 * written share the result.
 */
function getPages(reading: Reading, asked: string): Promise<PagesPart> {
  const known = pagesOf.get(reading.getSnapshot());
  if (known) return Promise.resolve(known);
  const writing = underWay.get(reading) ?? walkInTurns(reading, (held) => walkPages(held, reading.site, asked));
  underWay.set(reading, writing);
  return writing.finally(() => underWay.delete(reading));
}

function* walkPages({ published, snapshot }: HeldReading, site: Site, asked: string): Walk<PagesPart> {
  const pieces: Piece[] = [];
  let found: string[] = [];
  for (const url of listPageUrls(published, snapshot, site.baseUrl)) {
    found.push(url);
    if (found.length === PAGES_AT_ONCE) {
      pieces.push(deflatePiece(found.join('')));
      found = [];
    }
    yield;
  }
  pieces.push(deflatePiece(found.join('')));
  const part = { pieces, revision: snapshot.revision, etag: buildEtag(site, snapshot, asked) };
  pagesOf.set(snapshot, part);
  return part;
}

/**
 * Lists the addresses of pages for people. Pages that change with the catalogue have the time of its latest change, others none.
 */
function* listPageUrls(published: Published, snapshot: Snapshot, baseUrl: string): Generator<string> {
  let count = 0;
  for (const { path, file, key } of listSitePages(snapshot)) {
    if (!file.endsWith('.html') || path === PATHS.notFound) continue;
    const lastmod = key === `r${snapshot.revision}` ? snapshot.revised_at : undefined;
    yield buildSitemapUrl({ path, lastmod }, baseUrl);
    count += 1;
  }
  const others = chain(listProviderPages(published), listReceiptPages(published), listFurtherPages(published));
  for (const { path } of others) {
    if (count === MAX_SITEMAP_URLS) break;
    yield buildSitemapUrl({ path }, baseUrl);
    count += 1;
  }
}

function* chain<Item>(...sources: Iterable<Item>[]): Generator<Item> {
  for (const source of sources) yield* source;
}
