import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Logger } from 'pino';
import { ServiceError } from '../errors.ts';
import { getHash } from '../published/hash.ts';
import { hasRouteAt, isDelisted } from '../published/listings.ts';
import type { Reading } from '../published/reading.ts';
import { buildCanonicalLink, buildLinkHeader, buildMarkdownLink } from '../views/conventions.ts';
import { LIVE_FOLDER, PATHS } from '../views/links.ts';
import { markdownQuery, ROUTES_MAX } from '../views/listing/query.ts';
import { ASSET_ROUTE, matchPath, type Route } from '../views/routes.ts';
import type { Document, Encoding } from './document.ts';
import type { OnDemand } from './on-demand.ts';
import { parseQuery } from './parameters.ts';
import { buildProblem, NO_PAGES, NOTHING_HERE } from './problem.ts';
import type { Env } from './request.ts';
import { chooseEncoding, compress, send } from './sending.ts';
import { REVALIDATED, readAsset, type SiteFiles } from './site-files.ts';

/** Paths of pages: not hidden, not relative, and not the framework's own, which start with an underscore. */
const PLAIN_PATH = /^\/$|^(\/\.?[a-z0-9][a-z0-9._-]*)+$/i;

/** Routes of a listing's page and its Markdown, and of a provider's page. */
const LISTING = PATHS.listing('{slug}');
const MARKDOWN_OF = PATHS.listingMarkdown('{slug}');
const PROVIDER = PATHS.provider('{domain}');

/** A host, whose provider may want to list it. */
const HOST = /^(?:[a-z0-9-]{1,63}\.){1,8}(?!html$)[a-z]{2,63}$/;

/** Pages that are rendered for each question. */
const DECIDED_BY_QUERY: ReadonlySet<string> = new Set([PATHS.search, PATHS.compare]);

/** Endings of files for programs. They get a problem document, not a page, and so do paths in folders without pages. */
const FOR_PROGRAMS = /\.(?:md|txt|json|xml)$/;

/** The media types by which an answer is chosen. */
const HTML = 'text/html';
const MARKDOWN = 'text/markdown';
const TYPES = [HTML, MARKDOWN, 'application/json', 'application/problem+json'];

/** Thrown if there is no page. */
const MISSING = new ServiceError('not_found', NOTHING_HERE.detail, { hint: NOTHING_HERE.hint });

/** The sources of pages. */
export interface PageSources {
  readonly reading: Reading;
  readonly files: SiteFiles;
  readonly onDemand: OnDemand;
  readonly logger: Logger;
}

/**
 * Opens the handler of pages and their assets. In order: the tombstone of a removed listing, whatever the site folder has; the
 * file in the site folder; the page rendered on demand, for new listings and for queries; the page for missing addresses.
 */
export function openPages({
  reading,
  files,
  onDemand,
  logger,
}: PageSources): (c: Context<Env>) => Response | Promise<Response> {
  const { site, published } = reading;
  const link = buildLinkHeader(site.baseUrl);

  /**
   * Files of the site folder are served even if the published catalogue cannot be read, since they are correct as of their time.
   */
  const isGone = (slug: string): boolean => {
    try {
      return isDelisted(published, slug);
    } catch (error) {
      logger.error({ err: error }, 'the catalogue cannot be read');
      return false;
    }
  };

  /**
   * Returns the query for a page of a listing's Markdown; empty for the first page. Throws `bad_input`, and `MISSING` for a page
   * after the last.
   */
  const findMarkdownQuery = ({ route, value: slug }: Route, search: URLSearchParams): string => {
    const number = route === MARKDOWN_OF ? search.get('page') : null;
    if (number === null) return '';
    const { page } = parseQuery(markdownQuery, new URLSearchParams({ page: number }));
    if (page > 1 && !hasRouteAt(published, slug, (page - 1) * ROUTES_MAX)) throw MISSING;
    return page > 1 ? `?page=${page}` : '';
  };

  /** Finds the page or asset at a path. Throws `MISSING` if there is none. */
  const find = async (path: string, query: string, wanted: Encoding): Promise<Document> => {
    const { route, value } = matchPath(path);
    const slug = route === LISTING || route === MARKDOWN_OF ? value : undefined;
    const headers = { Link: slug === undefined ? link : `${link}, ${buildTwinLink(path, slug, site.baseUrl)}` };
    const file = query === '' && !(slug && isGone(slug)) ? files.find(path, wanted) : undefined;
    if (file) return route === ASSET_ROUTE ? file : { ...file, headers };
    const asset = onDemand.findAsset(path);
    const own = asset === undefined ? undefined : readAsset(asset);
    if (own) return own;
    if (!PLAIN_PATH.test(path) || LIVE_FOLDER.test(path)) throw MISSING;
    const rendered = await onDemand.find(`${path}${query}`);
    if (!rendered) {
      if (slug === undefined || !isGone(slug)) throw MISSING;
      const hint = `GET ${PATHS.agentListing(slug)} says when and why.`;
      throw new ServiceError('gone', 'This listing was removed.', { hint });
    }
    const { body, type, status } = rendered;
    const facts = { headers, cacheControl: REVALIDATED, status: status as ContentfulStatusCode };
    return { ...facts, body, type, etag: getHash(body) };
  };

  const isPage = async (path: string): Promise<boolean> => {
    // These pages always exist.
    if (DECIDED_BY_QUERY.has(path)) return true;
    return find(path, '', 'identity').then(
      () => true,
      () => false,
    );
  };

  /** Sends a page or asset. A document without a stored compressed form is compressed by gzip. */
  const answer = async (c: Context<Env>, make: (wanted: Encoding) => Promise<Document>): Promise<Response> => {
    const document = await make(chooseEncoding(c, ['br', 'gzip']));
    const encoding = document.encoding ?? chooseEncoding(c, ['gzip']);
    return send(c, await compress(document, encoding), encoding);
  };

  const answerMissing = async (c: Context<Env>, wantsHtml: boolean): Promise<Response> => {
    const { path } = c.req;
    const trimmed = trimSlashes(path);
    if (trimmed !== path && (await isPage(trimmed))) return c.redirect(`${trimmed}${new URL(c.req.url).search}`, 308);
    if (LIVE_FOLDER.test(path)) return buildProblem(NOTHING_HERE);
    if (!onDemand.isReady() && !files.find(PATHS.notFound, 'identity')) return buildProblem(NO_PAGES);
    if (!wantsHtml || FOR_PROGRAMS.test(path)) return buildProblem(NOTHING_HERE, { Vary: 'Accept' });
    const { route, value } = matchPath(path);
    const isHost = (route === LISTING || route === PROVIDER) && HOST.test(value);
    const host = site.hasIntake && isHost ? value : undefined;
    return answer(c, async (wanted) => {
      const page = await find(PATHS.notFound, host === undefined ? '' : `?host=${host}`, wanted);
      return { ...page, status: 404, headers: { ...page.headers, Vary: 'Accept' } };
    });
  };

  return async (c) => {
    const { path } = c.req;
    const type = accepts(c, { header: 'Accept', supports: TYPES, default: HTML });
    if (path === PATHS.notFound) return answerMissing(c, type === HTML);
    const isListing = matchPath(path).route === LISTING;
    const twin = isListing && type === MARKDOWN ? `${path}.md` : undefined;
    const { search, searchParams } = new URL(c.req.url);
    const query = DECIDED_BY_QUERY.has(path) ? search : findMarkdownQuery(matchPath(twin ?? path), searchParams);
    try {
      return await answer(c, async (wanted) => {
        const page = await find(twin ?? path, query, wanted);
        const headers = {
          ...page.headers,
          ...(isListing && { Vary: 'Accept' }),
          ...(twin && { 'Content-Location': `${twin}${query}` }),
        };
        return { ...page, headers };
      });
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
