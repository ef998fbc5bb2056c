import { getOwnPath, PATHS } from './links.ts';

/** The route of all paths that the service does not have. */
export const OTHER = 'other';

/** The route of the files that pages load. */
export const ASSET_ROUTE = '/_astro/{file}';

/** Addresses with a variable part, as patterns. The first one that matches a path counts. */
const TEMPLATES: readonly string[] = [
  PATHS.listingMarkdown('{slug}'),
  PATHS.listingFeed('{slug}'),
  PATHS.badge('{slug}'),
  PATHS.listing('{slug}'),
  PATHS.agentListing('{slug}'),
  PATHS.agentReceipt('{id}'),
  PATHS.receipt('{id}'),
  PATHS.registryEntry('{identifier}'),
  PATHS.skill('{name}'),
  PATHS.sitemap('{part}'),
  PATHS.picture('{slug}'),
  PATHS.submitted('{id}'),
  PATHS.submission('{id}'),
  '/category/{category}/{page}',
  PATHS.categoryFeed('{category}'),
  '/category/{category}',
  '/provider/{domain}/{page}',
  PATHS.providerFeed('{domain}'),
  PATHS.provider('{domain}'),
  '/network/{network}/{page}',
  '/network/{network}',
  '/verified/{page}',
  PATHS.route('{slug}', '{method}-{route}'),
  ASSET_ROUTE,
];

const FIXED: ReadonlySet<string> = new Set(Object.values(PATHS).filter((path) => typeof path === 'string'));

const PATTERNS = TEMPLATES.map((template) => {
  const parts = template.split(/\{\w+\}/).map((part) => part.replace(/[.]/g, '\\$&'));
  const [head = '', ...rest] = parts;
  return { template, pattern: new RegExp(`^${head}([^/]+)${rest.join('[^/]+')}$`) };
});

/** All possible routes of a request. */
export const ROUTES: readonly string[] = [...FIXED, ...TEMPLATES, OTHER];

/** The route of an address, one of a fixed set, and the first variable part of the address, if it has one. */
export interface Route {
  readonly route: string;
  readonly value: string;
}

/** Returns the route of a request's address: `/api/x?y` has the route `/api/{slug}` and the value `x`. */
export function matchPath(target: string): Route {
  const path = getOwnPath(target.split('?', 1)[0] ?? '');
  if (FIXED.has(path)) return { route: path, value: '' };
  for (const { template, pattern } of PATTERNS) {
    const value = pattern.exec(path)?.[1];
    if (value !== undefined) return { route: template, value };
  }
  return { route: OTHER, value: '' };
}
