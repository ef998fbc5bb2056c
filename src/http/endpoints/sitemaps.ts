import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import type { Published } from '../../published/file.ts';
import { listUpdates } from '../../published/listings.ts';
import { listProviderPages, listReceiptPages, listSitePages } from '../../published/pages.ts';
import type { Reading } from '../../published/reading.ts';
import type { Snapshot } from '../../published/snapshot.ts';
import {
  buildSitemapIndex,
  buildSitemapUrl,
  MAX_SITEMAP_URLS,
  SITEMAP_END,
  SITEMAP_START,
} from '../../views/conventions.ts';
import { PATHS } from '../../views/links.ts';
import { buildDocument, buildLargeDocument, type Document } from '../document.ts';
import { defineFile } from './define.ts';

const XML = 'application/xml; charset=utf-8';

/** The first sitemap is of the pages that are not a listing's, those of receipts included; those of the listings follow. */
const FIRST_OF_LISTINGS = 2;

/** The index of the sitemaps. */
export const sitemapIndexEndpoint = defineFile({
  id: 'getSitemapIndex',
  path: PATHS.sitemapIndex,
  summary: 'Names the sitemaps',
  description: 'One of pages, the others of listings, with the time of each.',
  isKept: true,
  content: {
    description: 'The index',
    type: XML,
    example: () => '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"></sitemapindex>',
  },
  build: ({ reading: { published, site }, snapshot }) => {
    const sitemaps = [
      { path: PATHS.sitemap(1), lastmod: snapshot.revised_at },
      ...Array.from({ length: countParts(snapshot) }, (_, part) => ({
        path: PATHS.sitemap(part + FIRST_OF_LISTINGS),
        lastmod: getLatest(published, part),
      })),
    ];
    return buildDocument(buildSitemapIndex(sitemaps, site.baseUrl), { type: XML, revision: snapshot.revision });
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
  isKept: true,
  params: { part: z.int().min(1).meta({ description: 'Number of the sitemap, from 1', example: 1 }) },
  content: {
    description: 'The sitemap',
    type: XML,
    example: () => '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"></urlset>',
  },
  failures: ['NotFound'],
  build: ({ reading, snapshot, params }) => buildSitemap(reading, Number(params.part), snapshot),
});

/** Throws `not_found` for a number that the index does not name. */
function buildSitemap({ published, site: { baseUrl } }: Reading, number: number, snapshot: Snapshot): Document {
  if (number >= FIRST_OF_LISTINGS + countParts(snapshot)) {
    throw new ServiceError('not_found', 'There is no such sitemap.', {
      hint: `${PATHS.sitemapIndex} names all there are.`,
    });
  }
  const part = number - FIRST_OF_LISTINGS;
  const urls = part < 0 ? [...listPageUrls(published, snapshot, baseUrl)] : listListingUrls(published, part, baseUrl);
  const pieces = function* () {
    yield SITEMAP_START;
    yield* urls;
    yield SITEMAP_END;
  };
  return buildLargeDocument(pieces(), { type: XML, revision: snapshot.revision });
}

/** Counts the sitemaps that the listings take. */
function countParts({ live_listings }: Snapshot): number {
  return Math.ceil(live_listings / MAX_SITEMAP_URLS);
}

function getLatest(published: Published, part: number): string {
  let latest = '';
  for (const { updated_at } of listUpdates(published, part * MAX_SITEMAP_URLS, MAX_SITEMAP_URLS))
    if (updated_at > latest) latest = updated_at;
  return latest;
}

function listListingUrls(published: Published, part: number, baseUrl: string): string[] {
  return listUpdates(published, part * MAX_SITEMAP_URLS, MAX_SITEMAP_URLS).map(({ slug, updated_at }) =>
    buildSitemapUrl({ path: PATHS.listing(slug), lastmod: updated_at }, baseUrl),
  );
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
