import { describe, expect, it } from 'vitest';
import { buildHomeJsonLd, buildListingJsonLd, formatJsonLd } from '../../src/views/json-ld.ts';
import { makeDeclaration, makeRoute, makeTerms } from '../builders.ts';
import { SITE } from '../http/serving.ts';
import { makeLiveListing, toPublic } from './listings.ts';

const HOSTILE = '</script><script>alert(1)</script><!-- " \' & \\" \u2028 \\u003c';

describe('the structured data of a listing', () => {
  it('is a WebAPI with its provider, at one price', async () => {
    const [api] = buildListingJsonLd(toPublic(await makeLiveListing()), SITE);
    expect(api).toMatchObject({
      '@context': 'https://schema.org',
      '@type': 'WebAPI',
      name: 'Example Prices',
      url: 'https://catalogue.example/api/example-prices',
      provider: { '@type': 'Organization', name: expect.any(String) },
      offers: { '@type': 'Offer', price: '0.001', priceCurrency: 'USDC' },
    });
  });

  it('has the range of its prices where there are several, exactly', async () => {
    const routes = [makeRoute(), makeRoute({ path: '/v1/other', terms: [makeTerms({ amount: 1_234_567 })] })];
    const [api] = buildListingJsonLd(toPublic(await makeLiveListing(makeDeclaration({ routes }))), SITE);
    expect(api?.offers).toMatchObject({ '@type': 'AggregateOffer', lowPrice: '0.001', highPrice: '1.234567' });
  });

  it('names the host beside the title, the sources of its page, and whose the words are', async () => {
    const source = { kind: 'bazaar' as const, name: 'https://feed.example/list?a="', observed_at: null };
    const [api, , page] = buildListingJsonLd(toPublic(await makeLiveListing(makeDeclaration({ source }))), SITE);
    expect(api).toMatchObject({ name: 'Example Prices', alternateName: 'api.prices.example-provider.com' });
    expect(page).toMatchObject({
      '@type': 'WebPage',
      license: 'https://creativecommons.org/publicdomain/zero/1.0/',
      copyrightNotice: expect.stringContaining('remain theirs'),
      isBasedOn: [{ '@type': 'CreativeWork', name: source.name, url: source.name }],
    });
  });

  it('leads from the home page by the category to the listing', async () => {
    const [, crumbs] = buildListingJsonLd(toPublic(await makeLiveListing()), SITE);
    expect(crumbs?.itemListElement).toEqual([
      { '@type': 'ListItem', position: 1, name: 'Catalogue', item: 'https://catalogue.example' },
      { '@type': 'ListItem', position: 2, name: 'Finance', item: 'https://catalogue.example/category/finance' },
      {
        '@type': 'ListItem',
        position: 3,
        name: 'Example Prices (api.prices.example-provider.com)',
        item: 'https://catalogue.example/api/example-prices',
      },
    ]);
  });

  it('cannot leave its element, whatever a provider wrote, and reads as it was written', async () => {
    const listing = { ...(await makeLiveListing()), title: HOSTILE, tagline: HOSTILE, provider_name: HOSTILE };
    const nodes = buildListingJsonLd(toPublic(listing), SITE);
    const text = formatJsonLd(nodes);
    expect(text).not.toMatch(/[<>&'\u2028\u2029]/);
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(nodes)));
    expect(JSON.parse(text)[0].name).toBe(HOSTILE);
  });
});

it('the home page tells how to search, and of the catalogue as data', () => {
  const [site, catalogue] = buildHomeJsonLd(SITE);
  expect(site).toMatchObject({
    '@type': 'WebSite',
    potentialAction: {
      '@type': 'SearchAction',
      target: { urlTemplate: 'https://catalogue.example/search?q={search_term_string}' },
      'query-input': 'required name=search_term_string',
    },
  });
  expect(catalogue).toMatchObject({
    '@type': 'DataCatalog',
    isAccessibleForFree: true,
    license: 'https://creativecommons.org/publicdomain/zero/1.0/',
  });
});
