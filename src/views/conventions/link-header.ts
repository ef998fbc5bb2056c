import { buildUrl, PATHS } from '../links.ts';

/** Media type of a linkset that is an API catalogue (RFC 9264, section 4.2; RFC 9727, section 4.2). */
export const API_CATALOG_TYPE = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';
/** Media type of an AI catalogue (AI Catalog, "Media Type"). */
export const AI_CATALOG_TYPE = 'application/ai-catalog+json';

/**
 * Builds the `Link` header (RFC 8288) of every page and document: where the service describes itself. Relations are those
 * of RFC 8631 and RFC 9727, of AI Catalog ("Link Relation Discovery") and of llms.txt version 2 (`describedby`).
 */
export function buildLinkHeader(baseUrl: string): string {
  return [
    formatLink(buildUrl(baseUrl, PATHS.openapi), { rel: 'service-desc', type: 'application/json' }),
    formatLink(buildUrl(baseUrl, PATHS.apiCatalog), { rel: 'api-catalog', type: 'application/linkset+json' }),
    formatLink(buildUrl(baseUrl, PATHS.aiCatalog), { rel: 'ai-catalog', type: AI_CATALOG_TYPE }),
    formatLink(buildUrl(baseUrl, PATHS.guide), { rel: 'describedby', type: 'text/plain' }),
  ].join(', ');
}

/** Builds the link from a listing's page to its Markdown twin. */
export function buildMarkdownLink(baseUrl: string, slug: string): string {
  return formatLink(buildUrl(baseUrl, PATHS.listingMarkdown(slug)), { rel: 'alternate', type: 'text/markdown' });
}

/** Builds the link from the Markdown twin to the page whose twin it is. */
export function buildCanonicalLink(baseUrl: string, slug: string): string {
  return formatLink(buildUrl(baseUrl, PATHS.listing(slug)), { rel: 'canonical', type: 'text/html' });
}

function formatLink(url: string, { rel, type }: { rel: string; type: string }): string {
  return `<${url}>; rel="${rel}"; type="${type}"`;
}
