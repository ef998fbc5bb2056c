import { describe, expect, it } from 'vitest';
import { NETWORKS } from '../../../src/model/network.ts';
import { buildAgentItem, buildListingCard } from '../../../src/views/listing/item.ts';
import { buildListingMarkdown } from '../../../src/views/listing/markdown.ts';
import { buildListingPage } from '../../../src/views/listing/page.ts';
import { formatOfferEvidence } from '../../../src/views/listing/routes.ts';
import { buildListingTag, buildSuffix, formatNetworks } from '../../../src/views/listing/tag.ts';
import { SITE } from '../../http/serving.ts';
import { makeDeclaration, makeRoute, makeTerms, NOW } from '../../records.ts';
import { makeLiveListing, toPublic } from '../listings.ts';

const TWO_ROUTES = makeDeclaration({
  routes: [makeRoute(), makeRoute({ method: 'POST', path: '/v1/other', terms: [makeTerms({ amount: 50_000 })] })],
});

describe('the page of a listing with a verified route', () => {
  it('says in its status line how many routes are verified, the price range, size, category, network and protocol', async () => {
    const page = buildListingPage(toPublic(await makeLiveListing(TWO_ROUTES, { verified: '/v1/other' })), {}, SITE);
    expect(page.status).toEqual({
      verification: '1 of 2 routes settlement-verified, 2026-11-19',
      price: '0.001-0.05 USDC per request',
      endpoints: '2 endpoints',
      category: 'Finance',
      network: 'Base',
      protocol: 'x402',
    });
    expect(page.service_mcp_url).toBe('https://catalogue.example/mcp');
  });

  it('lists that route with price, date and receipt, and says that all others are unverified', async () => {
    const listing = await makeLiveListing(TWO_ROUTES, { verified: '/v1/other' });
    const receipts = new Map([['5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01', null]]);
    const page = buildListingPage(toPublic(listing), { receipts }, SITE);
    expect(page.verified_routes).toEqual([
      {
        method: 'POST',
        path: '/v1/other',
        price: '0.05',
        price_now: null,
        network: 'Base',
        verified_on: '2026-11-19',
        transaction: `0x${'ab'.repeat(32)}`,
        receipt_url: `https://basescan.org/tx/0x${'ab'.repeat(32)}`,
        record_href: '/receipts/5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01',
        anchor: 'receipt-5f3a0c53-3b6e',
      },
    ]);
    expect(buildListingPage(toPublic(listing), {}, SITE).verified_routes[0]?.record_href).toBeNull();
    expect(page.routes.map(({ anchor }) => anchor)).toEqual(['post-v1-other', 'get-v1-price-_symbol']);
    expect(page.unverified_statement).toBe('All other routes are unverified.');
    expect(page.routes.filter(({ standing }) => standing[0]?.tone === 'proved').map(({ path }) => path)).toEqual([
      '/v1/other',
    ]);
  });

  it('keeps what was paid beside a price that changed since', async () => {
    const listing = await makeLiveListing(TWO_ROUTES, { verified: '/v1/other', amount: 40_000 });
    expect(buildListingPage(toPublic(listing), {}, SITE).verified_routes[0]).toMatchObject({
      price: '0.04',
      price_now: '0.05',
    });
  });
});

describe('the page of an unverified listing', () => {
  it('says so, lists no verified route, and calls nothing sampled that was not', async () => {
    const page = buildListingPage(toPublic(await makeLiveListing(TWO_ROUTES)), {}, SITE);
    expect(page.status.verification).toBe('unverified');
    expect(page.verified_routes).toEqual([]);
    expect(page.unverified_statement).toContain('all of its routes are unverified');
    expect(page.reliability).toBe('unscored, not yet sampled');
  });

  it('does not say that nothing was paid for where a payment proves nothing any more, or brought nothing', async () => {
    const listing = await makeLiveListing(TWO_ROUTES);
    const getVerification = (changed: typeof listing) => {
      const page = buildListingPage(toPublic(changed), {}, SITE);
      return [page.glance.verification, page.unverified_statement];
    };
    expect(getVerification(listing)[0]).toBe('Unverified: no route was paid for by this service');
    const networks = listing.networks.map((entry) => ({ ...entry, last_verified_at: '2026-10-10T14:24:19.000Z' }));
    expect(getVerification({ ...listing, networks })).toEqual([
      'Unverified: the last verified call was on 2026-10-10',
      'No route of this listing is verified any longer: the last verified call was on 2026-10-10, and all of its routes are unverified.',
    ]);
    const undelivered = {
      ...{ receipt_id: '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01', at: '2026-11-02T08:00:00.000Z' },
      ...{ network: 'base' as const, amount: 1000, public_chain: true, unrecognised: null },
    };
    const routes = listing.routes.map((route, at) => (at === 1 ? { ...route, undelivered } : route));
    expect(getVerification({ ...listing, routes })).toEqual([
      'Unverified: paid 2026-11-02; nothing was delivered',
      'No route of this listing has been verified: all of its routes are unverified.',
    ]);
  });

  it('is on Solana throughout where Solana is all that its source declares', async () => {
    const listing = await makeLiveListing(
      makeDeclaration({
        source: { kind: 'manifest', name: 'x.yaml', observed_at: null },
        ...{ routes: [], networks: ['solana'], price: { min: 10_000, max: 10_000 } },
      }),
    );
    const { status, networks, call } = buildListingPage(toPublic(listing), {}, SITE);
    expect(status.network).toBe('Solana (declared, not seen)');
    expect(networks.map(({ label, state }) => [label, state])).toEqual([
      ['Base', 'not currently advertised; never verified'],
      ['Solana', 'declared, not seen; never verified'],
    ]);
    expect([call?.network, call?.price]).toEqual(['Solana', '0.01']);
    expect([call?.paying, call?.lack]).toEqual([null, 'No route is on record, so nothing says what a call takes.']);
    expect(buildSuffix(toPublic(listing))).toContain('; Solana (declared, not seen); ');
    expect(buildListingTag(toPublic(listing), SITE)).toMatchObject({
      'x-network': 'solana',
      'x-network-id': NETWORKS.solana.id,
    });
  });

  it('names every network, and which of them nobody has seen', async () => {
    const terms = [makeTerms(), makeTerms({ network: 'solana' })];
    const build = async (observed_at: string | null) => {
      const source = { kind: 'manifest', name: 'x.yaml', observed_at } as const;
      return await makeLiveListing(makeDeclaration({ source, routes: [makeRoute({ terms })] }));
    };
    const bare = await build(null);
    const words = 'Base (declared, not seen), Solana (declared, not seen)';
    expect(buildListingPage(toPublic(bare), {}, SITE).status.network).toBe(words);
    expect(buildSuffix(toPublic(bare))).toContain(`; ${words}; `);
    const item = buildAgentItem(bare, SITE);
    expect(item).toMatchObject({ networks: ['base', 'solana'], declared_networks: ['base', 'solana'] });
    expect(buildListingCard(item).networks).toBe(words);
    const seen = buildAgentItem(await build('2026-11-01T00:00:00.000Z'), SITE);
    expect([seen.networks, seen.declared_networks]).toEqual([['base', 'solana'], undefined]);
    expect(buildListingCard(seen).networks).toBe('Base, Solana');
  });

  it('tells dated evidence from a bare claim', async () => {
    const bare = makeDeclaration({ source: { kind: 'manifest', name: 'x.yaml', observed_at: null } });
    const page = buildListingPage(toPublic(await makeLiveListing(bare)), {}, SITE);
    expect(page.sources).toEqual([
      {
        ...{ kind: 'A manifest kept by the catalogue', authority: 'the operator of this catalogue says so' },
        said: 'title, one-line description, description, category, 1 route',
        ...{ name: 'x.yaml', observed_on: null, observed_in: null },
      },
    ]);
    expect(page.words_by).toBe('a manifest');
    const fed = makeDeclaration({ source: { kind: 'bazaar', name: 'feed', observed_at: null } });
    expect(buildListingPage(toPublic(await makeLiveListing(fed)), {}, SITE).words_by).toBe('a discovery feed');
    expect(page.status.network).toBe('Base (declared, not seen)');
    expect(page.routes[0]?.offers.map(formatOfferEvidence)).toEqual(['declared, undated']);
    const dated = buildListingPage(toPublic(await makeLiveListing()), {}, SITE);
    expect(dated.routes[0]?.offers.map(formatOfferEvidence)).toEqual(['declared, seen 2026-11-01']);
    expect(dated.networks[0]?.state).toBe('advertised, last seen 2026-11-01; never verified');
  });

  it('shows one line for what two networks ask alike, and the declared price where no route is itemised', async () => {
    const both = [makeTerms(), makeTerms({ network: 'solana' }), makeTerms({ network: 'solana', amount: 3000 })];
    const page = buildListingPage(
      toPublic(await makeLiveListing(makeDeclaration({ routes: [makeRoute({ terms: both })] }))),
      {},
      SITE,
    );
    expect(page.routes[0]?.offers.map(({ price, networks }) => [price, networks])).toEqual([
      ['0.001', 'Base, Solana'],
      ['0.003', 'Solana'],
    ]);
    const bare = makeDeclaration({ routes: [], networks: ['base'], price: { min: 1000, max: 1000 } });
    expect(buildListingPage(toPublic(await makeLiveListing(bare)), {}, SITE).status).toMatchObject({
      price: '0.001 USDC per request',
      endpoints: '0 endpoints',
    });
  });

  it('shows related listings with title, ratio of verified routes and one line', async () => {
    const other = await makeLiveListing(TWO_ROUTES, { verified: '/v1/other' });
    const [card] = buildListingPage(
      toPublic(await makeLiveListing()),
      { related: [buildAgentItem(other, SITE)] },
      SITE,
    ).related;
    expect(card).toMatchObject({
      href: '/api/example-prices',
      title: 'Example Prices',
      tagline: 'Prices of things, one at a time.',
      host: 'api.prices.example-provider.com',
      standing: [{ tone: 'partly', text: '1 of 2 routes verified, 2026-11-19' }],
      verified_ratio: '1 of 2 routes verified, 2026-11-19',
      price: '0.001-0.05',
    });
  });
});

describe('the latency of a listing', () => {
  const latency = { median_ms: 1234, p95_ms: 2345, probes: 40 };
  const probe = {
    ...{ at: NOW, outcome: 'payable' as const, cause: null, status: 402, valid_at: NOW, failures: 0 },
    ...{ failing_since: null, latency: { ...latency, median_ms: 90 } },
  };

  it('is said with what it rests on and where from, of its routes beside their probes', async () => {
    const listing = await makeLiveListing();
    const measured = { ...listing, latency, routes: listing.routes.map((route) => ({ ...route, probe })) };
    const page = buildListingPage(toPublic(measured), {}, SITE);
    const words =
      'median 1,234 ms, 95 % within 2,345 ms (40 valid answers in 30 days, as our probe saw it, from one place)';
    expect([page.latency, page.routes[0]?.probe?.latency]).toEqual([words, 'median 90 ms']);
    const text = buildListingMarkdown(page, SITE);
    expect(text).toContain(`\nLatency: ${words}.\n`);
    expect(text).toMatch(/probed 2026-11-20: .*; median 90 ms\n/);
    expect(buildListingCard(buildAgentItem(measured, SITE)).latency).toBe('median 1,234 ms');
  });

  it('is not mentioned where it is not known', async () => {
    const listing = await makeLiveListing();
    const page = buildListingPage(toPublic(listing), {}, SITE);
    expect(page.latency).toBeNull();
    expect(buildListingMarkdown(page, SITE)).not.toMatch(/latency|median/i);
    expect(buildListingCard(buildAgentItem(listing, SITE)).latency).toBe('');
  });
});

it('does not say in the description what the tagline says already', async () => {
  const describe = async (description: string) =>
    buildListingPage(toPublic(await makeLiveListing(makeDeclaration({ tagline: 'Says it.', description }))), {}, SITE)
      .description;
  expect(await describe('Says it.')).toBe('');
  expect(await describe('Says it. And more.')).toBe('And more.');
  expect(await describe('Something else.')).toBe('Something else.');
});

it('gives the details of as many routes as a page can carry, the most telling first, and links to those of the others', async () => {
  const routes = Array.from({ length: 200 }, (_, at) => makeRoute({ path: `/v1/${at}` }));
  const example = { query: { q: 'x' } };
  const page = buildListingPage(
    toPublic(
      await makeLiveListing(makeDeclaration({ routes: [...routes, makeRoute({ path: '/v1/telling', example })] })),
    ),
    {},
    SITE,
  );
  const [first, ...others] = page.routes;
  expect([first?.path, first?.is_open, first?.detail !== null]).toEqual(['/v1/telling', true, true]);
  const brief = others.filter(
    ({ detail, is_open, href }) => !detail && !is_open && href.startsWith('/api/example-prices/get-v1-'),
  );
  expect(brief.length).toBeGreaterThan(150);
  const few = buildListingPage(
    toPublic(await makeLiveListing(makeDeclaration({ routes: routes.slice(0, 4) }))),
    {},
    SITE,
  );
  expect(few.routes.map(({ detail, is_open }) => [detail !== null, is_open])).toEqual([
    [true, true],
    [true, false],
    [true, false],
    [true, false],
  ]);
});

it('names first the network that a listing was sold on, though nothing offers it any more', async () => {
  const solana = makeTerms({ network: 'solana', asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' });
  const listing = await makeLiveListing(makeDeclaration({ routes: [makeRoute({ terms: [solana] })] }));
  const networks = listing.networks.map(({ declared: _declared, ...entry }) => ({ ...entry, advertised: false }));
  const withdrawn = toPublic({ ...listing, networks });
  expect(formatNetworks(withdrawn)).toBe('Solana (not currently advertised)');
  expect(buildListingTag(withdrawn, SITE)['x-network']).toBe('solana');
});
