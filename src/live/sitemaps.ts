import { ServiceError } from '../errors.ts';
import type { Chunk } from '../snapshot/chunks.ts';
import type { ListingEntry } from '../snapshot/entry.ts';
import { buildPacked, createPacking } from '../snapshot/packed.ts';
import { listReceiptPages, listSitePages } from '../snapshot/pages.ts';
import { buildPart } from '../snapshot/part.ts';
import type { Reading } from '../snapshot/reading.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import {
  buildSitemapIndex,
  buildSitemapUrl,
  MAX_SITEMAP_URLS,
  SITEMAP_END,
  SITEMAP_START,
} from '../views/conventions/sitemap.ts';
import { PATHS } from '../views/links.ts';
import { buildJoinedResponse } from './joined.ts';
import { buildPackedResponse } from './packed.ts';
import { refuseUnknown } from './parameters.ts';

const TYPE = 'application/xml; charset=utf-8';

/** The first sitemap is of the pages that are not a listing's, those of receipts included; those of the listings follow. */
const FIRST_OF_LISTINGS = 2;

/** Serves `GET /sitemap-index.xml` and the sitemaps that it names, from the snapshot. */
export function createSitemaps({ site, getSnapshot }: Reading) {
  const { baseUrl } = site;
  const pack = createPacking(({ entries }) =>
    entries
      .map(({ slug, updated_at }) => buildSitemapUrl({ path: PATHS.listing(slug), lastmod: updated_at }, baseUrl))
      .join(''),
  );

  const serveIndex = (request: Request): Response => {
    refuseUnknown(new URL(request.url).searchParams, []);
    const snapshot = getSnapshot();
    const sitemaps = [
      { path: PATHS.sitemap(1), lastmod: snapshot.revised_at },
      ...listRuns(snapshot).map((chunks, index) => ({
        path: PATHS.sitemap(index + FIRST_OF_LISTINGS),
        lastmod: getLatest(chunks),
      })),
    ];
    const body = buildPart(buildSitemapIndex(sitemaps, baseUrl));
    return buildJoinedResponse(request, { head: '', headKey: '', body, revision: snapshot.revision, type: TYPE });
  };

  const serveSitemap = async (request: Request, number: number): Promise<Response> => {
    refuseUnknown(new URL(request.url).searchParams, []);
    const snapshot = getSnapshot();
    if (number === 1) {
      const body = buildPart(`${SITEMAP_START}${buildPageUrls(snapshot, baseUrl)}${SITEMAP_END}`);
      return buildJoinedResponse(request, { head: '', headKey: '', body, revision: snapshot.revision, type: TYPE });
    }
    const chunks = listRuns(snapshot)[number - FIRST_OF_LISTINGS];
    if (!chunks) {
      throw new ServiceError('not_found', 'There is no such sitemap.', {
        hint: `${PATHS.sitemapIndex} names all there are.`,
      });
    }
    const pieces = [...(await pack(chunks)), buildPacked(SITEMAP_END)];
    return buildPackedResponse(request, { head: SITEMAP_START, pieces, type: TYPE, revision: snapshot.revision });
  };

  return { serveIndex, serveSitemap };
}

/** Cuts the chunks of a snapshot into runs of as many listings as one sitemap holds. */
function listRuns({ chunks }: Snapshot): Chunk<ListingEntry>[][] {
  const runs: Chunk<ListingEntry>[][] = [];
  let room = 0;
  for (const chunk of chunks) {
    if (chunk.entries.length > room) {
      runs.push([]);
      room = MAX_SITEMAP_URLS;
    }
    runs.at(-1)?.push(chunk);
    room -= chunk.entries.length;
  }
  return runs;
}

function getLatest(chunks: readonly Chunk<ListingEntry>[]): string {
  let latest = '';
  for (const { entries } of chunks) for (const { updated_at } of entries) if (updated_at > latest) latest = updated_at;
  return latest;
}

/** People's pages: those that follow the catalogue as of its latest change, the others undated. */
function buildPageUrls(snapshot: Snapshot, baseUrl: string): string {
  const urls: string[] = [];
  for (const { path, file, key } of listSitePages(snapshot)) {
    if (!file.endsWith('.html') || path === PATHS.notFound) continue;
    const lastmod = key === `r${snapshot.revision}` ? snapshot.revised_at : undefined;
    urls.push(buildSitemapUrl({ path, lastmod }, baseUrl));
  }
  for (const { path } of listReceiptPages(snapshot)) {
    if (urls.length === MAX_SITEMAP_URLS) break;
    urls.push(buildSitemapUrl({ path }, baseUrl));
  }
  return urls.join('');
}
