import { ServiceError } from '../../errors.ts';
import { type Chunk, listTagged } from '../../snapshot/chunks.ts';
import { type ListingEntry, parseItem } from '../../snapshot/entry.ts';
import { getCounts } from '../../snapshot/entry-lists.ts';
import { listChangeNews } from '../../snapshot/news.ts';
import { listReceiptPages, listSitePages } from '../../snapshot/pages.ts';
import type { Reading } from '../../snapshot/reading.ts';
import type { Snapshot } from '../../snapshot/snapshot.ts';
import { ATOM_ENTRIES, buildChangesAtom } from '../../views/change-atom.ts';
import { buildAiCatalog } from '../../views/conventions/ai-catalog.ts';
import { buildApiCatalog } from '../../views/conventions/api-catalog.ts';
import { AI_CATALOG_TYPE, API_CATALOG_TYPE } from '../../views/conventions/link-header.ts';
import { buildRobots } from '../../views/conventions/robots.ts';
import { buildSecurityTxt } from '../../views/conventions/security-txt.ts';
import { buildServerCard, buildServerJson, SERVER_CARD_TYPE } from '../../views/conventions/server-card.ts';
import {
  buildSitemapIndex,
  buildSitemapUrl,
  MAX_SITEMAP_URLS,
  SITEMAP_END,
  SITEMAP_START,
} from '../../views/conventions/sitemap.ts';
import { buildFullGuideHead, buildFullGuideListing } from '../../views/full-guide.ts';
import { PATHS } from '../../views/links.ts';
import type { Site } from '../../views/site.ts';
import type { ListingTag } from '../../views/tag.ts';
import { buildDocument, buildLargeDocument, type Document } from '../document.ts';
import { type Get, NO_QUERY } from './route.ts';

/** What follows from code and settings alone may be reused for an hour (SEP-2127, "Caching"). */
const FIXED_SECONDS = 60 * 60;

/** Feed readers look a few times an hour. */
const FEED_SECONDS = 300;

const PLAIN_TEXT = 'text/plain; charset=utf-8';
const XML = 'application/xml; charset=utf-8';

/** The first sitemap is of the pages that are not a listing's, those of receipts included; those of the listings follow. */
const FIRST_OF_LISTINGS = 2;

/** Adds the files by which others' software finds its way here. */
export function addFileRoutes(get: Get, reading: Reading): void {
  const { site, now } = reading;
  const fixed = (path: string, type: string, buildText: (site: Site) => string) =>
    get(path, NO_QUERY, () => buildDocument(buildText(site), { type, maxAge: FIXED_SECONDS }));
  fixed(PATHS.apiCatalog, API_CATALOG_TYPE, () => JSON.stringify(buildApiCatalog(site)));
  fixed(PATHS.aiCatalog, AI_CATALOG_TYPE, () => JSON.stringify(buildAiCatalog(site)));
  fixed(PATHS.serverCard, SERVER_CARD_TYPE, () => JSON.stringify(buildServerCard(site)));
  fixed(PATHS.wellKnownServerCard, SERVER_CARD_TYPE, () => JSON.stringify(buildServerCard(site)));
  fixed(PATHS.serverJson, 'application/json', () => JSON.stringify(buildServerJson(site), null, 2));
  fixed(PATHS.robots, PLAIN_TEXT, buildRobots);
  fixed(PATHS.securityTxt, PLAIN_TEXT, () => {
    const text = buildSecurityTxt(site, now());
    if (text !== undefined) return text;
    throw new ServiceError('not_found', 'CONTACT_URL of this service is not set to an https address.', {
      reason: 'no_contact',
      hint: `Its operator can set it; ${PATHS.providers} says what works without.`,
    });
  });
  get(PATHS.changesFeed, NO_QUERY, () => buildFeed(reading));
  get(PATHS.guideFull, NO_QUERY, () => buildFullGuide(reading));
  get(PATHS.sitemapIndex, NO_QUERY, () => buildIndex(reading));
  get('/:file{sitemap-[1-9][0-9]{0,5}\\.xml}', NO_QUERY, (_, { file = '' }) =>
    buildSitemap(reading, Number(/\d+/.exec(file)?.[0])),
  );
}

/** Builds the newest changes for people's feed readers. */
function buildFeed(reading: Reading): Document {
  const snapshot = reading.getSnapshot();
  const news = listChangeNews(reading, snapshot, ATOM_ENTRIES);
  return buildDocument(buildChangesAtom(news, snapshot, reading.site), {
    type: 'application/atom+xml; charset=utf-8',
    maxAge: FEED_SECONDS,
    revision: snapshot.revision,
  });
}

/** Builds the text of every live listing. */
function buildFullGuide({ getSnapshot, site }: Reading): Document {
  const snapshot = getSnapshot();
  const { revision, chunks } = snapshot;
  const head = buildFullGuideHead(getCounts(snapshot), revision, site);
  const pieces = function* () {
    yield head;
    for (const chunk of chunks) {
      const listings = listTagged(chunk).map(({ entry, tag }) =>
        buildFullGuideListing(parseItem(entry), JSON.parse(tag) as ListingTag),
      );
      yield listings.join('');
    }
  };
  return buildLargeDocument(pieces(), { type: PLAIN_TEXT, revision });
}

function buildIndex({ getSnapshot, site }: Reading): Document {
  const snapshot = getSnapshot();
  const sitemaps = [
    { path: PATHS.sitemap(1), lastmod: snapshot.revised_at },
    ...listRuns(snapshot).map((chunks, at) => ({
      path: PATHS.sitemap(at + FIRST_OF_LISTINGS),
      lastmod: getLatest(chunks),
    })),
  ];
  return buildDocument(buildSitemapIndex(sitemaps, site.baseUrl), { type: XML, revision: snapshot.revision });
}

/** Builds one of the sitemaps that the index names. Throws `not_found` for any other number. */
export function buildSitemap(
  { getSnapshot, site: { baseUrl } }: Pick<Reading, 'getSnapshot' | 'site'>,
  number: number,
): Document {
  const snapshot = getSnapshot();
  const chunks = listRuns(snapshot)[number - FIRST_OF_LISTINGS];
  if (!chunks && number !== 1) {
    throw new ServiceError('not_found', 'There is no such sitemap.', {
      hint: `${PATHS.sitemapIndex} names all there are.`,
    });
  }
  const pieces = function* () {
    yield SITEMAP_START;
    if (!chunks) yield* buildPageUrls(snapshot, baseUrl);
    for (const { entries } of chunks ?? []) {
      const urls = entries.map(({ slug, updated_at }) =>
        buildSitemapUrl({ path: PATHS.listing(slug), lastmod: updated_at }, baseUrl),
      );
      yield urls.join('');
    }
    yield SITEMAP_END;
  };
  return buildLargeDocument(pieces(), { type: XML, revision: snapshot.revision });
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
function* buildPageUrls(snapshot: Snapshot, baseUrl: string): Generator<string> {
  let count = 0;
  for (const { path, file, key } of listSitePages(snapshot)) {
    if (!file.endsWith('.html') || path === PATHS.notFound) continue;
    const lastmod = key === `r${snapshot.revision}` ? snapshot.revised_at : undefined;
    yield buildSitemapUrl({ path, lastmod }, baseUrl);
    count += 1;
  }
  for (const { path } of listReceiptPages(snapshot)) {
    if (count === MAX_SITEMAP_URLS) break;
    yield buildSitemapUrl({ path }, baseUrl);
    count += 1;
  }
}
