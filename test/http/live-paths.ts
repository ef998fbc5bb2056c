/** Says whether a path is answered per request by a route of the app, rather than by a page. */
export function isLivePath(path: string): boolean {
  return /^\/(?:agents?|discovery|\.well-known)\/|^\/search$|^\/mcp(?:\/|$)|^\/badge\/|^\/(?:api|category|provider)\/[^/]+\.atom$|^\/sitemap-[^/]+\.xml$|^\/(?:openapi\.json|llms-full\.txt|changes\.atom|catalogue\.sqlite|robots\.txt|server\.json)$/.test(
    path,
  );
}
