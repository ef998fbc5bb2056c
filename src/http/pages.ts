import { join } from 'node:path';
import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Logger } from 'pino';
import { ServiceError } from '../errors.ts';
import { getHash } from '../published/hash.ts';
import { findLive, hasRouteAt, isDelisted } from '../published/listings.ts';
import { hasProvider } from '../published/providers.ts';
import type { Reading } from '../published/reading.ts';
import { hasReceipt } from '../published/receipts.ts';
import type { Snapshot } from '../published/snapshot.ts';
import type { Form } from '../release/forms.ts';
import { ASSETS_FOLDER } from '../release/page-code.ts';
import { getReleasePaths } from '../release/release.ts';
import { buildCanonicalLink, buildLinkHeader, buildMarkdownLink } from '../views/conventions.ts';
import { PATHS } from '../views/links.ts';
import { markdownQuery, ROUTES_MAX } from '../views/listing/query.ts';
import { type CurrentRelease, readIfThere } from './current-release.ts';
import type { Compression, Document } from './document.ts';
import type { OnDemand } from './on-demand.ts';
import { parseQuery } from './parameters.ts';
import { buildProblem, NOTHING_HERE } from './problem.ts';
import type { Env } from './request.ts';
import type { Answer } from './response-cache.ts';

/** Pages are asked for again each time, and answered with 304 while they are the same; a delisting shows at once. */
const REVALIDATED = 'public, max-age=0, must-revalidate';
const IMMUTABLE = 'public, max-age=31536000, immutable';

/** Media types of assets by the ending of their name. */
const ASSET_TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  webp: 'image/webp',
  ico: 'image/x-icon',
  woff2: 'font/woff2',
};

const ASSET = new RegExp(`^/${ASSETS_FOLDER}/([\\w-][\\w.-]{0,100}\\.(\\w{1,10}))$`);

/** Paths of pages: not hidden, not relative, and not the framework's own, which start with an underscore. */
const PLAIN_PATH = /^\/$|^(\/\.?[a-z0-9][a-z0-9._-]*)+$/i;
const LISTING = /^\/api\/([a-z0-9-]+)(\.md)?$/;
/** One route of a listing, by the anchor that it has on the listing's page. */
const ROUTE = /^\/api\/([a-z0-9-]+)\/[a-z]{3,7}-[\w-]{1,150}$/;
/** An id as the service itself writes it. */
const RECEIPT = /^\/receipts\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

const PROVIDER = /^\/provider\/([a-z0-9.-]+?)(?:\/\d{1,6})?$/;

/** An address that names a host, which its provider may want to list. */
const UNKNOWN_HOST = /^\/(?:provider|api)\/((?:[a-z0-9-]{1,63}\.){1,8}(?!html$)[a-z]{2,63})$/;

/** Pages that are rendered for each question. */
const DECIDED_BY_QUERY: ReadonlySet<string> = new Set([PATHS.search, PATHS.compare]);

/** Paths without pages, and endings of what programs read: they get a problem document rather than a page. */
const LIVE = /^\/(?:agents?|explore|discovery|\.well-known|mcp|v2)(?:\/|$)/;
const FOR_PROGRAMS = /\.(?:md|txt|json|xml)$/;

/** Media types that decide an answer if a client takes them. */
const HTML = 'text/html';
const MARKDOWN = 'text/markdown';
const TYPES = [HTML, MARKDOWN, 'application/json', 'application/problem+json'];

/** Form of a page that is sent for each encoding. */
const FORM_OF: Readonly<Record<Compression, Form>> = { br: 'br', gzip: 'gz' };
const COMPRESSIONS: readonly Compression[] = ['br', 'gzip'];

/** Thrown where there is no page, so that nothing is cached for it: there is no end of made-up addresses. */
const MISSING = new ServiceError('not_found', NOTHING_HERE.detail, { hint: NOTHING_HERE.hint });

const NO_RELEASE = {
  status: 503,
  code: 'no_release',
  detail: 'The pages are not built yet.',
  hint: 'Try again in a moment; the operator runs npm run rebuild.',
} as const;

/** Sources that pages are answered from. */
export interface PageSources {
  readonly reading: Reading;
  readonly current: CurrentRelease;
  readonly onDemand: OnDemand;
  readonly releasesDir: string;
  readonly logger: Logger;
}

/**
 * Opens the handler of pages and of what they load: tombstones first (at once, whatever the release says), else pages of the
 * current release, else pages that went live after it, rendered on demand; else the page for what is not found.
 */
export function openPages(
  answer: Answer,
  { reading, current, onDemand, releasesDir, logger }: PageSources,
): (c: Context<Env>) => Promise<Response> {
  const { site, published } = reading;
  const link = buildLinkHeader(site.baseUrl);
  const assets = join(getReleasePaths(releasesDir).assets, ASSETS_FOLDER);

  /** Pages of the release are served even if the published catalogue cannot be read: they are right as of its time. */
  const isGone = (slug: string): boolean => {
    try {
      return isDelisted(published, slug);
    } catch (error) {
      logger.error({ err: error }, 'the catalogue cannot be read');
      return false;
    }
  };

  /** Keeps made-up addresses from costing a rendering each. A release of the same revision has every page of the site. */
  const mayExist = (path: string, slug: string | undefined, snapshot: Snapshot): boolean => {
    if (LIVE.test(path)) return false;
    if (slug !== undefined) return findLive(published, slug) !== undefined || isDelisted(published, slug);
    const listed = ROUTE.exec(path)?.[1];
    if (listed !== undefined) return findLive(published, listed) !== undefined;
    const receiptId = RECEIPT.exec(path)?.[1];
    if (receiptId !== undefined) return hasReceipt(published, receiptId);
    const domain = PROVIDER.exec(path)?.[1];
    if (domain !== undefined) return hasProvider(published, domain);
    if (
      path.startsWith('/api/') ||
      path.startsWith('/receipts/') ||
      path.startsWith('/provider/') ||
      path.endsWith('.html')
    )
      return false;
    if (DECIDED_BY_QUERY.has(path)) return true;
    return current.findHeader()?.revision !== snapshot.revision || current.hasPage(path);
  };

  const findAsset = (name: string, type: string | undefined): Document => {
    const body = type && readIfThere(join(assets, name));
    if (!type || !body) throw MISSING;
    return { body, type, etag: getHash(name), cacheControl: IMMUTABLE };
  };

  /** Finds which page of a listing's Markdown is asked for, as a query. Throws `bad_input`, and `MISSING` where it has none. */
  const findMarkdownQuery = (path: string, search: URLSearchParams): string => {
    const [, slug = '', ending] = LISTING.exec(path) ?? [];
    const number = ending && search.get('page');
    if (typeof number !== 'string') return '';
    const { page } = parseQuery(markdownQuery, new URLSearchParams({ page: number }));
    if (page > 1 && !hasRouteAt(published, slug, (page - 1) * ROUTES_MAX)) throw MISSING;
    return page > 1 ? `?page=${page}` : '';
  };

  /** Throws `MISSING` where there is no such page. */
  const find = async (path: string, query: string, wanted?: Compression): Promise<Document> => {
    const [, asset, ending = ''] = ASSET.exec(path) ?? [];
    if (asset !== undefined) return findAsset(asset, ASSET_TYPES[ending]);
    if (!PLAIN_PATH.test(path)) throw MISSING;
    const slug = LISTING.exec(path)?.[1];
    const headers = { Link: slug === undefined ? link : `${link}, ${buildTwinLink(path, slug, site.baseUrl)}` };
    const facts = { headers, cacheControl: REVALIDATED };
    const page = slug !== undefined && isGone(slug) ? undefined : current.findPage(path, wanted && FORM_OF[wanted]);
    if (page) return { ...facts, body: page.body, etag: page.hash, type: page.type, encoding: page.form && wanted };
    if (!mayExist(path, slug, reading.getSnapshot())) throw MISSING;
    const rendered = await onDemand.find(`${path}${query}`);
    if (!rendered)
      throw slug !== undefined && isGone(slug) ? new ServiceError('gone', 'This listing was removed.') : MISSING;
    const { body, type, status } = rendered;
    return { ...facts, body, type, etag: getHash(body), status: status as ContentfulStatusCode };
  };

  const isPage = async (path: string): Promise<boolean> => {
    // Known without rendering it.
    if (DECIDED_BY_QUERY.has(path)) return true;
    return find(path, '').then(
      () => true,
      () => false,
    );
  };

  const answerMissing = async (c: Context<Env>, wantsHtml: boolean): Promise<Response> => {
    const { path } = c.req;
    const trimmed = trimSlashes(path);
    if (trimmed !== path && (await isPage(trimmed))) return c.redirect(`${trimmed}${new URL(c.req.url).search}`, 308);
    if (LIVE.test(path)) return buildProblem(NOTHING_HERE);
    if (!onDemand.isReady() && !current.hasPage(PATHS.notFound))
      return buildProblem(NO_RELEASE, { 'Retry-After': '5' });
    if (!wantsHtml || FOR_PROGRAMS.test(path)) return buildProblem(NOTHING_HERE, { Vary: 'Accept' });
    const host = UNKNOWN_HOST.exec(path)?.[1];
    if (site.hasIntake && host !== undefined) {
      // Not kept: there is no end of made-up hosts.
      const page = await onDemand.find(`${PATHS.notFound}?host=${host}`);
      if (page)
        return c.body(new Uint8Array(page.body), 404, { 'Content-Type': page.type, Vary: 'Accept', Link: link });
    }
    const make = async (wanted: Compression): Promise<Document> => {
      const page = await find(PATHS.notFound, '', wanted);
      return { ...page, status: 404, headers: { ...page.headers, Vary: 'Accept' } };
    };
    return answer(c, PATHS.notFound, make, COMPRESSIONS);
  };

  return async (c) => {
    const { path } = c.req;
    const type = accepts(c, { header: 'Accept', supports: TYPES, default: HTML });
    if (path === PATHS.notFound) return answerMissing(c, type === HTML);
    const isListing = LISTING.test(path) && !path.endsWith('.md');
    const twin = isListing && type === MARKDOWN ? `${path}.md` : undefined;
    const { search, searchParams } = new URL(c.req.url);
    const query = DECIDED_BY_QUERY.has(path) ? search : findMarkdownQuery(twin ?? path, searchParams);
    const make = async (wanted: Compression): Promise<Document> => {
      const page = await find(twin ?? path, query, wanted);
      const headers = {
        ...page.headers,
        ...(isListing && { Vary: 'Accept' }),
        ...(twin && { 'Content-Location': `${twin}${query}` }),
      };
      return { ...page, headers };
    };
    try {
      return await answer(c, `${path}${query} ${twin ?? ''}`, make, COMPRESSIONS);
    } catch (error) {
      if (error !== MISSING) throw error;
      return answerMissing(c, type === HTML);
    }
  };
}

/** Removes slashes at the end. A regular expression takes seconds for thousands of slashes that do not end a path. */
function trimSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end -= 1;
  return path.slice(0, end);
}

/** Links a listing's page and its Markdown twin with each other. */
function buildTwinLink(path: string, slug: string, baseUrl: string): string {
  return path.endsWith('.md') ? buildCanonicalLink(baseUrl, slug) : buildMarkdownLink(baseUrl, slug);
}
