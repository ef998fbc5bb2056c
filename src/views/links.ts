import type { Category } from '../model/catalogue.ts';
import type { NetworkKey } from '../model/network.ts';

/** Every address of the service, as a path from its base URL. No other code writes addresses. */
export const PATHS = {
  home: '/',
  search: '/search',
  openapi: '/openapi.json',
  agentList: '/agent/list',
  agentListing: (slug: string) => `/agent/listings/${slug}`,
  agentReceipt: (id: string) => `/agent/receipts/${id}`,
  receipt: (id: string) => `/receipts/${id}`,
  agentChanges: '/agent/changes',
  agentCheck: '/agent/check',
  compare: '/compare',
  mcp: '/mcp',
  serverCard: '/mcp/server-card',
  serverJson: '/server.json',
  wellKnownServerCard: '/.well-known/mcp/server-card.json',
  apiCatalog: '/.well-known/api-catalog',
  ard: '/.well-known/ard.json',
  /** Address of the AI catalogue, the predecessor of `ard.json`. */
  aiCatalog: '/.well-known/ai-catalog.json',
  registryEntry: (identifier: string) => `/agents/${identifier}`,
  registryExplore: '/explore',
  skillIndex: '/.well-known/agent-skills/index.json',
  skill: (name: string) => `/.well-known/agent-skills/${name}/SKILL.md`,
  securityTxt: '/.well-known/security.txt',
  discoveryResources: '/discovery/resources',
  discoverySearch: '/discovery/search',
  discoveryMerchant: '/discovery/merchant',
  discoveryBundles: '/discovery/bundles',
  discoverySupported: '/discovery/supported',
  guide: '/llms.txt',
  guideFull: '/llms-full.txt',
  /** The whole catalogue as a SQLite file, and its digest. */
  download: '/catalogue.sqlite',
  downloadDigest: '/catalogue.sqlite.sha256',
  robots: '/robots.txt',
  sitemapIndex: '/sitemap-index.xml',
  sitemap: (part: number | '{part}') => `/sitemap-${part}.xml`,
  changesFeed: '/changes.atom',
  listing: (slug: string) => `/api/${slug}`,
  /** The page of one route; `anchor` is its anchor on the listing's page. */
  route: (slug: string, anchor: string) => `/api/${slug}/${anchor}`,
  listingFeed: (slug: string) => `/api/${slug}.atom`,
  categoryFeed: (category: Category | '{category}') => `/category/${category.toLowerCase()}.atom`,
  listingMarkdown: (slug: string) => `/api/${slug}.md`,
  category: (category: Category, page = 1) => `/category/${category.toLowerCase()}${page === 1 ? '' : `/${page}`}`,
  /** The page of a provider, by the registered domain of its hosts, or by a host without one. */
  provider: (domain: string, page = 1) => `/provider/${domain}${page === 1 ? '' : `/${page}`}`,
  providerFeed: (domain: string) => `/provider/${domain}.atom`,
  network: (network: NetworkKey, page = 1) => `/network/${network}${page === 1 ? '' : `/${page}`}`,
  picture: (slug: string) => `/pictures/${slug}.png`,
  /** Picture of all pages that are not of a listing. No slug contains an underscore. */
  servicePicture: '/pictures/_service.png',
  /** Badge of a listing with its verification, for the provider's own site. */
  badge: (slug: string) => `/badge/${slug}.svg`,
  changes: '/changes',
  method: '/method',
  docs: '/docs',
  docsAgents: '/docs/agents',
  docsApi: '/docs/api',
  docsUsing: '/docs/using',
  docsChangelog: '/docs/changelog',
  docsOperating: '/docs/operating',
  docsArchitecture: '/docs/architecture',
  docsSpeed: '/docs/speed',
  docsData: '/docs/data',
  /** The check of an API, which is open to everybody, and its reports. */
  submit: '/submit',
  submitted: (id: string) => `/submit/${id}`,
  providersCheck: '/providers/check',
  /** The request to be listed, and the secret address of one. */
  submissions: '/submit/list',
  submission: (id: string) => `/submit/list/${id}`,
  providers: '/docs/providers',
  findings: '/docs/providers/findings',
  verified: '/verified',
  verifiedPage: (page = 1) => (page === 1 ? '/verified' : `/verified/${page}`),
  notFound: '/404',
  manifestSchema: '/schemas/manifest.json',
  providerSchema: '/schemas/agent-payable.json',
  health: '/healthz',
  ready: '/readyz',
} as const;

/**
 * Alternative paths of addresses for clients of facilitators: those of Coinbase's begin with `/v2/x402`, and that of the x402 SDK
 * asks for supported payments at `/supported`. No document names them.
 */
const OTHER_PATHS: Readonly<Record<string, readonly string[]>> = {
  [PATHS.mcp]: ['/discovery/mcp', '/v2/x402/discovery/mcp'],
  [PATHS.discoveryResources]: ['/v2/x402/discovery/resources'],
  [PATHS.discoverySearch]: ['/v2/x402/discovery/search'],
  [PATHS.discoveryMerchant]: ['/v2/x402/discovery/merchant'],
  [PATHS.discoveryBundles]: ['/v2/x402/discovery/bundles'],
  [PATHS.discoverySupported]: ['/supported', '/v2/x402/supported'],
  [PATHS.providersCheck]: ['/v2/x402/validate'],
};

const OWN_PATHS: ReadonlyMap<string, string> = new Map(
  Object.entries(OTHER_PATHS).flatMap(([path, others]) => others.map((other) => [other, path] as const)),
);

/** Folders without pages: endpoints answer all requests in them. */
export const LIVE_FOLDER = /^\/(?:agents?|badge|discovery|explore|mcp|v2|\.well-known)(?=\/|$)/;

/** Lists the paths of an address, its own path first. */
export function listPaths(path: string): string[] {
  return [path, ...(OTHER_PATHS[path] ?? [])];
}

/** Returns the address that an alternative path stands for; any other path unchanged. */
export function getOwnPath(path: string): string {
  return OWN_PATHS.get(path) ?? path;
}

/** Returns the path of the check, with a host filled in. */
export function buildSubmitPath(host: string): string {
  return host === '' ? PATHS.submit : `${PATHS.submit}?host=${encodeURIComponent(host)}`;
}

/** Makes an address absolute: `{base_url}` of the service and a path of `PATHS`. */
export function buildUrl(baseUrl: string, path: string): string {
  return path === '/' ? baseUrl : `${baseUrl}${path}`;
}
