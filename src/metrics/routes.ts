import { PATHS } from '../views/links.ts';

/** The label of every path that the service does not have. */
export const OTHER = 'other';

/** Addresses with a variable part, by their pattern. The first that fits a path counts. */
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
  PATHS.marketData('{name}'),
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
  '/_astro/{file}',
];

const FIXED: ReadonlySet<string> = new Set(Object.values(PATHS).filter((path) => typeof path === 'string'));

const PATTERNS = TEMPLATES.map((template) => {
  const parts = template.split(/\{\w+\}/).map((part) => part.replace(/[.]/g, '\\$&'));
  return { template, pattern: new RegExp(`^${parts.join('[^/]+')}$`) };
});

/** All labels that a request can get. */
export const ROUTES: readonly string[] = [...FIXED, ...TEMPLATES, OTHER];

/**
 * Returns the route of a request's address (`/api/x?y` → `/api/{slug}`): one of few, whatever address clients ask for.
 */
export function getRoute(target: string): string {
  const [path = ''] = target.split('?', 1);
  if (FIXED.has(path)) return path;
  return PATTERNS.find(({ pattern }) => pattern.test(path))?.template ?? OTHER;
}
