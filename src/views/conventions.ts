import { DAY_MS } from '../model/duration.ts';
import { buildUrl, PATHS } from './links.ts';
import { SERVER_CARD_TYPE } from './mcp-server.ts';
import { listOwnEntries } from './registry.ts';
import type { Site } from './site.ts';

/** Builds `robots.txt` (RFC 9309), which lets everybody read everything, and names the sitemaps. */
export function buildRobots({ baseUrl }: Site): string {
  return `# All of this is public and made to be read by programs. Agents: start at ${buildUrl(baseUrl, PATHS.guide)}
# or search with ${buildUrl(baseUrl, PATHS.agentList)}?q={words} instead of crawling.
User-agent: *
Allow: /
Disallow: /compare?

Sitemap: ${buildUrl(baseUrl, PATHS.sitemapIndex)}
`;
}

/** Most addresses in one sitemap (sitemaps.org, "Sitemap file format"). With these it never reaches the limit of 50 MB. */
export const MAX_SITEMAP_URLS = 50_000;

const XML = '<?xml version="1.0" encoding="UTF-8"?>\n';
const SITEMAP_NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';

/** Start and end of a sitemap. */
export const SITEMAP_START = `${XML}<urlset ${SITEMAP_NAMESPACE}>\n`;
export const SITEMAP_END = '</urlset>\n';

/** An address, with the time of its latest change (ISO 8601) if known. */
export interface SitemapEntry {
  readonly path: string;
  readonly lastmod?: string | undefined;
}

/** Builds one entry of a sitemap. Our addresses have no characters that need escaping in XML. */
export function buildSitemapUrl(entry: SitemapEntry, baseUrl: string): string {
  return `<url>${buildLocation(entry, baseUrl)}</url>\n`;
}

/** Builds the index of the sitemaps. */
export function buildSitemapIndex(sitemaps: readonly SitemapEntry[], baseUrl: string): string {
  const entries = sitemaps.map((entry) => `<sitemap>${buildLocation(entry, baseUrl)}</sitemap>\n`);
  return `${XML}<sitemapindex ${SITEMAP_NAMESPACE}>\n${entries.join('')}</sitemapindex>\n`;
}

function buildLocation({ path, lastmod }: SitemapEntry, baseUrl: string): string {
  return `<loc>${buildUrl(baseUrl, path)}</loc>${lastmod === undefined ? '' : `<lastmod>${lastmod}</lastmod>`}`;
}

/** Days for which `security.txt` is valid; RFC 9116, section 2.5.5, recommends less than a year. */
const VALID_DAYS = 365;

/**
 * Builds `security.txt` (RFC 9116) with the contact of the service. It expires 365 days after the start of the day `at` (UTC), so
 * the text is the same all day. Undefined if no contact is set, or the contact is not https: the RFC allows no other web address.
 */
export function buildSecurityTxt({ baseUrl, contactUrl }: Site, at: Date): string | undefined {
  if (contactUrl === baseUrl || !isHttps(contactUrl)) return undefined;
  const day = Math.floor(at.getTime() / DAY_MS);
  const expires = new Date((day + VALID_DAYS) * DAY_MS).toISOString().replace('.000Z', 'Z');
  const canonical = buildUrl(baseUrl, PATHS.securityTxt);
  return [
    `# Anything wrong, harmful or unsafe here, and whatever providers want of their listings: ${buildUrl(baseUrl, PATHS.providers)}`,
    `Contact: ${contactUrl}`,
    `Expires: ${expires}`,
    'Preferred-Languages: en',
    ...(isHttps(canonical) ? [`Canonical: ${canonical}`] : []),
    '',
  ].join('\n');
}

function isHttps(address: string): boolean {
  return /^https:/i.test(address);
}

/** Media type of a linkset that is an API catalogue (RFC 9264, section 4.2; RFC 9727, section 4.2). */
export const API_CATALOG_TYPE = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';
/** Media type of an AI catalogue (AI Catalog, "Media Type"). */
export const AI_CATALOG_TYPE = 'application/ai-catalog+json';

/**
 * Builds the `Link` header (RFC 8288) of every page and document, with the service's descriptions of itself. Relations
 * are those of RFC 8631 and RFC 9727, of ARD (section 5.1) and its predecessor AI Catalog, and of llms.txt version 2
 * (`describedby`).
 */
export function buildLinkHeader(baseUrl: string): string {
  return [
    formatLink(buildUrl(baseUrl, PATHS.openapi), { rel: 'service-desc', type: 'application/json' }),
    formatLink(buildUrl(baseUrl, PATHS.apiCatalog), { rel: 'api-catalog', type: 'application/linkset+json' }),
    formatLink(buildUrl(baseUrl, PATHS.ard), { rel: 'ard', type: 'application/json' }),
    formatLink(buildUrl(baseUrl, PATHS.aiCatalog), { rel: 'ai-catalog', type: AI_CATALOG_TYPE }),
    formatLink(buildUrl(baseUrl, PATHS.guide), { rel: 'describedby', type: 'text/plain' }),
  ].join(', ');
}

/** Builds the link from a listing's page to its Markdown twin. */
export function buildMarkdownLink(baseUrl: string, slug: string): string {
  return formatLink(buildUrl(baseUrl, PATHS.listingMarkdown(slug)), { rel: 'alternate', type: 'text/markdown' });
}

/** Builds the link from the Markdown twin to its page. */
export function buildCanonicalLink(baseUrl: string, slug: string): string {
  return formatLink(buildUrl(baseUrl, PATHS.listing(slug)), { rel: 'canonical', type: 'text/html' });
}

function formatLink(url: string, { rel, type }: { rel: string; type: string }): string {
  return `<${url}>; rel="${rel}"; type="${type}"`;
}

/**
 * Builds the API catalogue (RFC 9727) as a linkset in JSON (RFC 9264, section 4.2): the APIs that this service itself publishes,
 * each with description, documentation, terms and state (relations of RFC 8631). Listed APIs are other publishers'; `search`
 * leads to them.
 */
export function buildApiCatalog({ baseUrl }: Site) {
  const link = (path: string, type: string, title: string) => ({ href: buildUrl(baseUrl, path), type, title });
  const search = link(PATHS.agentList, 'application/json', 'Search and filter the listed APIs');
  const x402 = link(
    PATHS.discoveryResources,
    'application/json',
    'The listed APIs in the shape of an x402 facilitator',
  );
  const mcp = link(PATHS.mcp, 'application/json', 'MCP server (Streamable HTTP, POST)');
  const state = {
    'service-meta': [
      link(PATHS.ard, 'application/json', 'What here is for AI agents'),
      link(PATHS.skillIndex, 'application/json', 'Skills: how an agent uses this service'),
      link(PATHS.aiCatalog, 'application/ai-catalog+json', 'The same as an AI catalogue'),
    ],
    status: [link(PATHS.ready, 'application/json', 'Whether the service can do its work')],
  };
  const rest = {
    'service-desc': [link(PATHS.openapi, 'application/json', 'OpenAPI 3.1.0')],
    'service-doc': [
      link(PATHS.docsApi, 'text/html', 'Reference for people'),
      link(PATHS.guide, 'text/plain', 'Guide for agents'),
    ],
    ...state,
  };
  return {
    linkset: [
      {
        anchor: buildUrl(baseUrl, PATHS.apiCatalog),
        item: [search, x402, mcp],
        search: [search],
        profile: [{ href: 'https://www.rfc-editor.org/info/rfc9727' }],
      },
      { anchor: search.href, ...rest },
      { anchor: x402.href, ...rest },
      {
        anchor: mcp.href,
        'service-desc': [link(PATHS.serverCard, SERVER_CARD_TYPE, 'MCP server card')],
        'service-doc': [link(PATHS.docsAgents, 'text/html', 'How to connect your agent')],
        ...state,
      },
    ],
  };
}

/** Builds the AI catalogue (AI Catalog 1.0): the same entries as in `ard.json`, under the address of its predecessor. */
export function buildAiCatalog(site: Site) {
  return {
    specVersion: '1.0',
    host: {
      displayName: site.serviceTitle,
      identifier: new URL(site.baseUrl).hostname,
      documentationUrl: buildUrl(site.baseUrl, PATHS.docsAgents),
    },
    entries: listOwnEntries(site),
  };
}
