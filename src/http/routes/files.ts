import { ServiceError } from '../../errors.ts';
import { CATEGORIES } from '../../model/catalogue.ts';
import type { ChangesOf } from '../../published/changes.ts';
import { type Columns, getUpdatedMs } from '../../published/columns.ts';
import type { Published } from '../../published/file.ts';
import { isDelisted, iterateRendered } from '../../published/listings.ts';
import { listChangeNews } from '../../published/news.ts';
import { getCounts } from '../../published/page-lists.ts';
import { listProviderPages, listReceiptPages, listSitePages } from '../../published/pages.ts';
import { type Reading, readInPieces } from '../../published/reading.ts';
import { findRef, type Snapshot } from '../../published/snapshot.ts';
import { ATOM_ENTRIES, buildChangesAtom, getCategoryFeed, getListingFeed } from '../../views/changes.ts';
import {
  AI_CATALOG_TYPE,
  API_CATALOG_TYPE,
  buildAiCatalog,
  buildApiCatalog,
  buildRobots,
  buildSecurityTxt,
  buildSitemapIndex,
  buildSitemapUrl,
  MAX_SITEMAP_URLS,
  SITEMAP_END,
  SITEMAP_START,
} from '../../views/conventions.ts';
import { buildFullGuideHead, buildFullGuideListing } from '../../views/guide.ts';
import { PATHS } from '../../views/links.ts';
import type { AgentItem } from '../../views/listing/item.ts';
import type { ListingTag } from '../../views/listing/tag.ts';
import { buildServerCard, buildServerJson, SERVER_CARD_TYPE } from '../../views/mcp-server.ts';
import { findCategoryByPath } from '../../views/pages/category-page.ts';
import { buildArdManifest } from '../../views/registry.ts';
import type { Site } from '../../views/site.ts';
import { buildSkill, buildSkillIndex, SKILL_NAME, SKILL_TYPE } from '../../views/skill.ts';
import { buildDocument, buildLargeDocument, type Document } from '../document.ts';
import { type Get, NO_QUERY } from './route.ts';

/** What follows from code and settings alone may be reused for an hour (SEP-2127, "Caching"). */
const FIXED_SECONDS = 60 * 60;

/** Feed readers look a few times an hour. */
const FEED_SECONDS = 300;

const PLAIN_TEXT = 'text/plain; charset=utf-8';
const XML = 'application/xml; charset=utf-8';

const LISTING_FEED = /^\/api\/(?<slug>[a-z0-9-]+)\.atom$/;
const CATEGORY_FEED = /^\/category\/(?<name>[a-z0-9]+)\.atom$/;
const SITEMAP = /^\/sitemap-(?<number>[1-9]\d{0,5})\.xml$/;

/** The first sitemap is of the pages that are not a listing's, those of receipts included; those of the listings follow. */
const FIRST_OF_LISTINGS = 2;

/** Adds the files by which others' software finds its way here. */
export function addFileRoutes(get: Get, reading: Reading): void {
  const { site, now } = reading;
  const fixed = (path: string, type: string, buildText: (site: Site) => string) =>
    get(path, NO_QUERY, () => buildDocument(buildText(site), { type, maxAge: FIXED_SECONDS }));
  fixed(PATHS.apiCatalog, API_CATALOG_TYPE, () => JSON.stringify(buildApiCatalog(site)));
  fixed(PATHS.ard, 'application/json', () => JSON.stringify(buildArdManifest(site)));
  fixed(PATHS.skillIndex, 'application/json', () => JSON.stringify(buildSkillIndex(site)));
  fixed(PATHS.skill(SKILL_NAME), SKILL_TYPE, buildSkill);
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
  get(PATHS.changesFeed, NO_QUERY, (_query, _path, snapshot) => buildFeed(reading, snapshot));
  get('/api/:file', NO_QUERY, (_, { slug = '' }, snapshot) => buildListingFeed(reading, slug, snapshot), {
    only: LISTING_FEED,
  });
  get('/category/:file', NO_QUERY, (_, { name = '' }, snapshot) => buildCategoryFeed(reading, name, snapshot), {
    only: CATEGORY_FEED,
  });
  get(PATHS.guideFull, NO_QUERY, () => buildFullGuide(reading));
  get(PATHS.sitemapIndex, NO_QUERY, (_query, _path, snapshot) => buildIndex(reading, snapshot));
  // As a pattern of the path it would make the router try all routes, one by one, for every request.
  get('*', NO_QUERY, (_, { number }, snapshot) => buildSitemap(reading, Number(number), snapshot), { only: SITEMAP });
}

/** Builds the newest changes for people's feed readers. */
function buildFeed(
  { published, site }: Reading,
  snapshot: Snapshot,
  some?: { of: ChangesOf; feed: ReturnType<typeof getListingFeed> },
): Document {
  const news = listChangeNews(published, snapshot, ATOM_ENTRIES, some?.of);
  return buildDocument(buildChangesAtom(news, snapshot, { site, ...(some && { feed: some.feed }) }), {
    type: 'application/atom+xml; charset=utf-8',
    maxAge: FEED_SECONDS,
    revision: snapshot.revision,
  });
}

/** Builds the feed of a listing. That of a removed one stays: its newest entry says who removed it. */
function buildListingFeed(reading: Reading, slug: string, snapshot: Snapshot): Document {
  if (findRef(snapshot, slug) || isDelisted(reading.published, slug))
    return buildFeed(reading, snapshot, { of: { slug }, feed: getListingFeed(slug) });
  throw new ServiceError('not_found', 'There is no listing of this name.', {
    hint: `${PATHS.changesFeed} is the feed of all listings.`,
  });
}

function buildCategoryFeed(reading: Reading, name: string, snapshot: Snapshot): Document {
  const category = findCategoryByPath(name);
  if (category) return buildFeed(reading, snapshot, { of: { category }, feed: getCategoryFeed(category) });
  throw new ServiceError('not_found', 'There is no such category.', {
    hint: `The categories are ${CATEGORIES.map((known) => known.toLowerCase()).join(', ')}.`,
  });
}

/** Builds the text of every live listing. */
function buildFullGuide(reading: Reading): Document {
  return readInPieces(reading, ({ published, snapshot }) => {
    const { revision } = snapshot;
    const head = buildFullGuideHead(getCounts(snapshot), revision, reading.site);
    const pieces = function* () {
      yield head;
      for (const listings of iterateRendered(published)) {
        const texts = listings.map(({ item, tag }) =>
          buildFullGuideListing(JSON.parse(item) as AgentItem, JSON.parse(tag) as ListingTag),
        );
        yield texts.join('');
      }
    };
    return buildLargeDocument(pieces(), { type: PLAIN_TEXT, revision });
  });
}

function buildIndex({ site }: Reading, snapshot: Snapshot): Document {
  const sitemaps = [
    { path: PATHS.sitemap(1), lastmod: snapshot.revised_at },
    ...listRuns(snapshot).map((run, at) => ({
      path: PATHS.sitemap(at + FIRST_OF_LISTINGS),
      lastmod: getLatest(snapshot.columns, run),
    })),
  ];
  return buildDocument(buildSitemapIndex(sitemaps, site.baseUrl), { type: XML, revision: snapshot.revision });
}

/** Builds one of the sitemaps that the index names. Throws `not_found` for any other number. */
export function buildSitemap(
  { published, site: { baseUrl } }: Pick<Reading, 'published' | 'site'>,
  number: number,
  snapshot: Snapshot,
): Document {
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
