import { describe, expect, it } from 'vitest';
import type { Declaration } from '../../src/model/declaration.ts';
import { formatPriceRange } from '../../src/model/usdc.ts';
import { buildRouteCall } from '../../src/views/call/guide.ts';
import { buildListingJsonLd } from '../../src/views/json-ld.ts';
import { formatItemPrice } from '../../src/views/listing/item.ts';
import { buildListingMarkdown } from '../../src/views/listing/markdown.ts';
import type { PublicRoute } from '../../src/views/listing/route-record.ts';
import { formatPriceNow, listProvedRoutes } from '../../src/views/listing/routes.ts';
import { buildListingPicture } from '../../src/views/picture.ts';
import { makeDeclaration, makeRoute, makeTerms } from '../builders.ts';
import { buildChallenge, CALLED, makeFresh, recordSeen, serveChecks } from '../http/checking.ts';
import { connectModern } from '../mcp/clients.ts';
import { serveMcp } from '../mcp/serving.ts';
import { SITE } from '../site.ts';
import { makePage, makePublicListing } from './listings.ts';

const UPTO = makeTerms({ amount: 50_000, scheme: 'upto' });
const ALONE = makeFresh({ routes: [makeRoute({ terms: [UPTO] })] });
const BESIDE = makeFresh({ routes: [makeRoute(), makeRoute({ path: '/v1/chat', terms: [UPTO] })] });

it.each([
  [1000, 1000, false, false, '0.001'],
  [1000, 50_000, false, false, '0.001-0.05'],
  [50_000, 50_000, true, true, 'up to 0.05'],
  [50_000, 50_000, false, true, '0.05'],
  [1000, 50_000, false, true, '0.001 or up to 0.05'],
  [1000, 50_000, true, true, 'up to 0.001 or up to 0.05'],
  [1000, 50_000, true, false, 'up to 0.001 or 0.05'],
])('writes %d to %d, ceilings %s and %s, as %s', (low, high, min, max, text) => {
  expect(formatPriceRange(low, high, { min, max })).toBe(text);
});

describe('a price that is a ceiling', () => {
  it('is shown as one on the page, in its Markdown, its structured data and its picture', async () => {
    const listing = await makePublicListing(ALONE);
    expect(formatItemPrice(listing)).toBe('up to 0.05');
    const text = buildListingMarkdown(makePage(listing), SITE);
    expect(text).toContain('Price: up to 0.05 USDC per request');
    expect(text).toContain('up to 0.05 USDC on Base (declared');
    expect(text).not.toMatch(/(?<!up to )0\.05 USDC (on|per)/);
    const [api] = buildListingJsonLd(listing, SITE);
    expect(api?.offers).toMatchObject({ '@type': 'Offer', priceSpecification: { maxPrice: '0.05' } });
    expect(api?.offers).not.toHaveProperty('price');
    const { get } = await serveChecks(await recordSeen([ALONE]));
    const { listings } = (await (await get('/agent/list')).json()) as { listings: never[] };
    const [picture] = listings.map((item) => buildListingPicture(item, SITE));
    expect(picture?.facts[0]).toEqual({ name: 'USDC per request', value: 'up to 0.05' });
  });

  it('is shown beside what was paid below it', async () => {
    const [route] = ALONE.routes;
    const listing = await makePublicListing(ALONE, { verified: route?.path ?? '', amount: 120, ceiling: 50_000 });
    expect(listProvedRoutes(listing.routes).map(formatPriceNow)).toEqual([null]);
    expect(buildListingMarkdown(makePage(listing), SITE)).toContain('0.00012 of at most 0.05 USDC');
  });

  it('is marked at the end of the range where it is, in lists, tags, checks, changes and tools', async () => {
    const { get, checkFields, checkChallenge } = await serveChecks(await recordSeen([BESIDE]));
    const read = async (path: string) => (await get(path)).json();
    const { listings } = (await read('/agent/list?q=prices')) as { listings: Record<string, unknown>[] };
    expect(listings[0]).toMatchObject({ price_max_usdc: 0.05, price_max_is_ceiling: true });
    expect(listings[0]).not.toHaveProperty('price_min_is_ceiling');
    const document = (await read('/openapi.json')) as { tags: { description: string }[] };
    expect(document.tags[0]?.description).toContain('0.001 or up to 0.05 USDC per request');
    const called = { url: CALLED.replace('/price/x', '/chat') };
    expect(await checkFields(called)).toMatchObject({
      on_record: [{ amount: '50000', price_usdc: '0.05', scheme: 'upto', is_ceiling: true }],
    });
    const dearer = buildChallenge([makeTerms({ amount: 90_000, scheme: 'upto' })], 2, called.url);
    expect((await checkChallenge(dearer, called)).summary).toContain(
      'It asks up to 0.09 USDC; on record is up to 0.05',
    );
    const { changes } = (await read('/agent/changes?since=0&history=all')) as { changes: Record<string, unknown>[] };
    expect(changes.find(({ kind }) => kind === 'priced')).toMatchObject({
      detail: { to: { min: 1000, max: 50_000, ceilings: { min: false, max: true } } },
    });
    const { url } = await serveMcp([BESIDE]);
    const client = await connectModern(url);
    const { structured } = await client.call('get_listing', { slug: 'example-prices' });
    expect(structured).toMatchObject({
      listing: { price_usdc: '0.001 or up to 0.05' },
      routes: expect.arrayContaining([expect.objectContaining({ price_usdc: 'up to 0.05' })]),
    });
    const checked = await client.call('check_payment_terms', called);
    expect(checked.structured.on_record).toEqual([expect.stringContaining('up to 0.05 USDC on base')]);
    const found = await client.call('search_listings', { q: 'chat' });
    expect(JSON.stringify(found.structured)).toContain('up to 0.05 base');
  });

  it('comes with the code that pays it, and a scheme that no client here has with none', async () => {
    const build = async (declared: Declaration) => {
      const listing = await makePublicListing(declared);
      return buildRouteCall(listing, listing.routes[0] as PublicRoute);
    };
    const guide = await build(ALONE);
    expect(guide).toMatchObject({ price: 'up to 0.05', network: 'Base' });
    expect(guide.paying?.typescript).toContain("client.register('eip155:8453', new UptoEvmScheme(signer));");
    expect(guide.paying?.typescript).toContain("maxAmountPerPayment: '$0.05'");
    expect(guide.paying?.python).toContain('client.register("eip155:8453", UptoEvmScheme(signer))');
    const other = makeDeclaration({ routes: [makeRoute({ terms: [makeTerms({ scheme: 'deferred' })] })] });
    expect((await build(other)).paying).toBeNull();
  });
});
