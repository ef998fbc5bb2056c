import { buildUrl } from '../links.ts';

/** Addresses that one sitemap may hold (sitemaps.org, "Sitemap file format"); 50 MB are never reached with them. */
export const MAX_SITEMAP_URLS = 50_000;

const XML = '<?xml version="1.0" encoding="UTF-8"?>\n';
const NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';

/** What a sitemap starts and ends with. */
export const SITEMAP_START = `${XML}<urlset ${NAMESPACE}>\n`;
export const SITEMAP_END = '</urlset>\n';

/** An address with the time of its latest change (ISO 8601), where one is known. */
export interface SitemapEntry {
  readonly path: string;
  readonly lastmod?: string | undefined;
}

/** Builds one entry of a sitemap. Our addresses hold nothing that XML would take for markup. */
export function buildSitemapUrl(entry: SitemapEntry, baseUrl: string): string {
  return `<url>${buildLocation(entry, baseUrl)}</url>\n`;
}

/** Builds the index of the sitemaps. */
export function buildSitemapIndex(sitemaps: readonly SitemapEntry[], baseUrl: string): string {
  const entries = sitemaps.map((entry) => `<sitemap>${buildLocation(entry, baseUrl)}</sitemap>\n`);
  return `${XML}<sitemapindex ${NAMESPACE}>\n${entries.join('')}</sitemapindex>\n`;
}

function buildLocation({ path, lastmod }: SitemapEntry, baseUrl: string): string {
  return `<loc>${buildUrl(baseUrl, path)}</loc>${lastmod === undefined ? '' : `<lastmod>${lastmod}</lastmod>`}`;
}
