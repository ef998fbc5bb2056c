import { PATHS } from '../views/links.ts';

/** Says whether a path is answered live, per request, rather than by a page. */
export function isLivePath(pathname: string): boolean {
  return LIVE_PATHS.has(pathname) || LIVE_PREFIXES.test(pathname);
}

const LIVE_PATHS: ReadonlySet<string> = new Set([
  PATHS.openapi,
  PATHS.mcp,
  PATHS.guideFull,
  PATHS.changesFeed,
  PATHS.sitemapIndex,
  PATHS.robots,
  PATHS.serverJson,
]);

/** All there is for programs: what is not there is told as a problem document rather than as a page. */
const LIVE_PREFIXES = /^\/(?:agent|discovery|\.well-known)(?:\/|$)|^\/mcp\/|^\/sitemap-\d+\.xml$/;
