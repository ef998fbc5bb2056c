import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { type Columns, getUpdatedMs } from '../../published/columns.ts';
import type { Published } from '../../published/file.ts';
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
  content: {
    description: 'The index',
    type: XML,
    example: () => '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"></sitemapindex>',
  },
  build: ({ reading: { site }, snapshot }) => {
    const sitemaps = [
      { path: PATHS.sitemap(1), lastmod: snapshot.revised_at },
      ...listRuns(snapshot).map((run, at) => ({
        path: PATHS.sitemap(at + FIRST_OF_LISTINGS),
        lastmod: getLatest(snapshot.columns, run),
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
  const run = listRuns(snapshot)[number - FIRST_OF_LISTINGS];
  if (!run && number !== 1) {
    throw new ServiceError('not_found', 'There is no such sitemap.', {
      hint: `${PATHS.sitemapIndex} names all there are.`,
    });
  }
  const urls = run ? listListingUrls(snapshot.columns, run, baseUrl) : [...listPageUrls(published, snapshot, baseUrl)];
  const pieces = function* () {
    yield SITEMAP_START;
    yield* urls;
    yield SITEMAP_END;
  };
  return buildLargeDocument(pieces(), { type: XML, revision: snapshot.revision });
}

/** Places of neighbouring listings, the end not included. */
interface Run {
  readonly start: number;
  readonly end: number;
}

/** Cuts the listings into runs of as many as one sitemap holds. */
function listRuns({ live_listings }: Snapshot): Run[] {
  const count = Math.ceil(live_listings / MAX_SITEMAP_URLS);
  return Array.from({ length: count }, (_, at) => ({
    start: at * MAX_SITEMAP_URLS,
    end: Math.min((at + 1) * MAX_SITEMAP_URLS, live_listings),
  }));
}

function getLatest(columns: Columns, { start, end }: Run): string {
  let latest = 0;
  for (let place = start; place < end; place += 1) latest = Math.max(latest, getUpdatedMs(columns, place));
  return new Date(latest).toISOString();
}

function* listListingUrls(columns: Columns, { start, end }: Run, baseUrl: string): Generator<string> {
  for (let place = start; place < end; place += 1) {
    const lastmod = new Date(getUpdatedMs(columns, place)).toISOString();
    yield buildSitemapUrl({ path: PATHS.listing(columns.slugs[place] as string), lastmod }, baseUrl);
  }
}

/** Lists the pages for people. Those that change with the catalogue have the time of its latest change, others none. */
function* listPageUrls(published: Published, snapshot: Snapshot, baseUrl: string): Generator<string> {
  let count = 0;
  for (const { path, file, key } of listSitePages(snapshot)) {
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
