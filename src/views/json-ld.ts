import { NETWORKS } from '../model/network.ts';
import type { DeclarationSource } from '../model/source.ts';
import { formatUsdc } from '../model/usdc.ts';
import { buildUrl, PATHS } from './links.ts';
import { getAtomic } from './listing/item.ts';
import type { PublicHead } from './listing/record.ts';
import { SERVICE_MEANING, type Site, WORDS_MEANING } from './site.ts';

/** A node of structured data in the vocabulary of schema.org. */
export interface JsonLd {
  readonly '@context'?: 'https://schema.org';
  readonly '@type': string;
  readonly [property: string]: unknown;
}

/** Licence of the catalogue's metadata (specification, "OpenAPI document header"). */
const LICENSE_URL = 'https://creativecommons.org/publicdomain/zero/1.0/';

/**
 * Builds the structured data of a listing for search engines: the API with its provider and the price of a request, the
 * page with its sources, and the path to it. The service is publisher of the page only; nothing in it rates the API.
 */
export function buildListingJsonLd(listing: PublicHead, site: Site): JsonLd[] {
  const { slug, title, tagline, description, provider_name, category, base_url, host, docs_url, id, sources } = listing;
  const url = buildUrl(site.baseUrl, PATHS.listing(slug));
  const api: JsonLd = {
    '@context': 'https://schema.org',
    '@type': 'WebAPI',
    '@id': `${url}#api`,
    name: title,
    alternateName: host,
    description: tagline || description || title,
    url,
    identifier: id,
    category,
    provider: { '@type': 'Organization', name: provider_name },
    availableChannel: { '@type': 'ServiceChannel', serviceUrl: base_url },
    ...(docs_url && { documentation: docs_url }),
    offers: buildOffers(listing),
  };
  const page: JsonLd = {
    '@context': 'https://schema.org',
    '@type': 'WebPage',
    '@id': url,
    url,
    name: `${title} (${host})`,
    about: { '@id': `${url}#api` },
    license: LICENSE_URL,
    copyrightNotice: WORDS_MEANING,
    isBasedOn: sources.map(buildSource),
  };
  const crumbs = buildBreadcrumbs(
    [
      { name: category, path: PATHS.category(category) },
      { name: `${title} (${host})`, path: PATHS.listing(slug) },
    ],
    site,
  );
  return [api, crumbs, page];
}

/** Builds the structured data of the home page for search engines: the site, its search, and the catalogue as a data set. */
export function buildHomeJsonLd(site: Site): JsonLd[] {
  const url = buildUrl(site.baseUrl, PATHS.home);
  const publisher = { '@type': 'Organization', name: site.contactName, url: site.contactUrl };
  const name = site.serviceTitle;
  return [
    {
      '@context': 'https://schema.org',
      '@type': 'WebSite',
      '@id': `${url}#site`,
      url,
      name,
      description: SERVICE_MEANING,
      publisher,
      potentialAction: {
        '@type': 'SearchAction',
        target: {
          '@type': 'EntryPoint',
          urlTemplate: `${buildUrl(site.baseUrl, PATHS.search)}?q={search_term_string}`,
        },
        'query-input': 'required name=search_term_string',
      },
    },
    {
      '@context': 'https://schema.org',
      '@type': 'DataCatalog',
      '@id': `${url}#catalogue`,
      url,
      name,
      description: SERVICE_MEANING,
      publisher,
      license: LICENSE_URL,
      copyrightNotice: WORDS_MEANING,
      isAccessibleForFree: true,
      dataset: {
        '@type': 'Dataset',
        name: `${name}: all listings`,
        description: SERVICE_MEANING,
        creator: publisher,
        license: LICENSE_URL,
        copyrightNotice: WORDS_MEANING,
        isAccessibleForFree: true,
        distribution: [
          buildDownload(PATHS.agentList, 'application/json', site),
          buildDownload(PATHS.openapi, 'application/json', site),
          buildDownload(PATHS.guideFull, 'text/plain', site),
        ],
      },
    },
  ];
}

/** One step of the path from the home page to a page. */
export interface Crumb {
  readonly name: string;
  readonly path: string;
}

/** Builds the path from the home page to a page, the page itself last. */
function buildBreadcrumbs(crumbs: readonly Crumb[], site: Site): JsonLd {
  return {
    '@context': 'https://schema.org',
    '@type': 'BreadcrumbList',
    itemListElement: [{ name: 'Catalogue', path: PATHS.home }, ...crumbs].map(({ name, path }, index) => ({
      '@type': 'ListItem',
      position: index + 1,
      name,
      item: buildUrl(site.baseUrl, path),
    })),
  };
}

/**
 * Writes structured data as the text of a script element. Characters that could end the element or be read as markup, quotes of
 * attributes and line ends are written as escapes, which JSON reads as the same characters.
 */
export function formatJsonLd(nodes: readonly JsonLd[]): string {
  return JSON.stringify(nodes.length === 1 ? nodes[0] : nodes)
    .replace(/\\./g, (pair) => (pair === '\\"' ? escapeCharacter('"') : pair))
    .replace(/[<>&'\u2028\u2029]/g, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * Builds the price of a request. A currency is an ISO 4217 code or "ticker symbol for cryptocurrencies" (schema.org,
 * `priceCurrency`); amounts are decimal text, so that nothing is rounded.
 */
function buildOffers(listing: PublicHead): JsonLd {
  const { network_entries, price_min_is_ceiling, price_max_is_ceiling } = listing;
  const [lowest, highest] = [listing.price_min_usdc, listing.price_max_usdc].map((usdc) => formatUsdc(getAtomic(usdc)));
  const accepted = network_entries.filter(({ advertised }) => advertised);
  const terms = {
    priceCurrency: 'USDC',
    ...(accepted.length > 0 && {
      acceptedPaymentMethod: accepted.map(({ key }) => ({
        '@type': 'PaymentMethod',
        name: `x402, USDC on ${NETWORKS[key].label}`,
      })),
    }),
  };
  if (price_min_is_ceiling || price_max_is_ceiling) {
    const range = { ...(price_min_is_ceiling ? {} : { minPrice: lowest }), maxPrice: highest };
    return { '@type': 'Offer', priceSpecification: { '@type': 'PriceSpecification', ...range }, ...terms };
  }
  if (lowest === highest) return { '@type': 'Offer', price: lowest, ...terms };
  return { '@type': 'AggregateOffer', lowPrice: lowest, highPrice: highest, ...terms };
}

/** Names a source of a listing, with its address where it has one. */
function buildSource({ name }: DeclarationSource): JsonLd {
  return { '@type': 'CreativeWork', name, ...(name.startsWith('https://') && { url: name }) };
}

function buildDownload(path: string, encodingFormat: string, site: Site): JsonLd {
  return { '@type': 'DataDownload', contentUrl: buildUrl(site.baseUrl, path), encodingFormat };
}
