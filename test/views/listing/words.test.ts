import { describe, expect, it } from 'vitest';
import { getReliability } from '../../../src/evidence/reliability.ts';
import { NETWORKS } from '../../../src/model/network.ts';
import { buildBareCall } from '../../../src/views/call/guide.ts';
import {
  buildAgentItem,
  formatItemNetworks,
  formatItemPrice,
  formatVerification,
} from '../../../src/views/listing/item.ts';
import { buildListingMarkdown } from '../../../src/views/listing/markdown.ts';
import { listShownRoutes } from '../../../src/views/listing/page.ts';
import {
  findReceiptHref,
  formatOfferEvidence,
  formatPriceNow,
  getProofAnchor,
  listProvedRoutes,
  listRouteOffers,
} from '../../../src/views/listing/routes.ts';
import { buildListingTag, buildSuffix, formatNetworks } from '../../../src/views/listing/tag.ts';
import {
  describeNetwork,
  describeUnverified,
  describeVerification,
  formatLatency,
  formatReliabilityEvidence,
  formatScoreBasis,
  formatSummary,
  getDescription,
} from '../../../src/views/listing/words.ts';
import { describeSources, getAuthor } from '../../../src/views/words/source.ts';
import { SITE } from '../../http/serving.ts';
import { makeDeclaration, makeRoute, makeTerms, NOW } from '../../records.ts';
import { makeLiveListing, makePage, makePublicListing, toPublic } from '../listings.ts';

const TWO_ROUTES = makeDeclaration({
  routes: [makeRoute(), makeRoute({ method: 'POST', path: '/v1/other', terms: [makeTerms({ amount: 50_000 })] })],
});

describe('a listing with a verified route', () => {
  it('is summed up by the routes verified, the price range, size, category, network and protocol', async () => {
    expect(formatSummary(await makePublicListing(TWO_ROUTES, { verified: '/v1/other' }))).toBe(
      'Prices of things, one at a time. 1 of 2 routes settlement-verified, 2026-11-19, 0.001-0.05 USDC per request, 2 endpoints, Finance, Base, x402.',
    );
  });

  it('is proved by that payment and its receipt, and says that all others are unverified', async () => {
    const listing = await makePublicListing(TWO_ROUTES, { verified: '/v1/other' });
    const [proved, ...others] = listProvedRoutes(listing.routes);
    expect(others).toEqual([]);
    expect(proved && [proved.route.path, formatPriceNow(proved), getProofAnchor(proved.proof)]).toEqual([
      '/v1/other',
      null,
      'receipt-5f3a0c53-3b6e',
    ]);
    const id = '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01';
    expect(findReceiptHref(id, new Map([[id, null]]))).toBe(`/receipts/${id}`);
    expect(findReceiptHref(id, new Map())).toBeNull();
    expect(describeUnverified(listing)).toBe('All other routes are unverified.');
    expect(listShownRoutes(makePage(listing)).map(({ route }) => route.path)).toEqual([
      '/v1/other',
      '/v1/price/:symbol',
    ]);
  });

  it('keeps what was paid beside a price that changed since', async () => {
    const { routes } = await makePublicListing(TWO_ROUTES, { verified: '/v1/other', amount: 40_000 });
    expect(listProvedRoutes(routes).map((one) => [one.proof.amount, formatPriceNow(one)])).toEqual([[40_000, '0.05']]);
  });
});

describe('an unverified listing', () => {
  it('says so, lists no verified route, and calls nothing sampled that was not', async () => {
    const listing = await makePublicListing(TWO_ROUTES);
    expect(formatVerification(listing)).toBe('unverified');
    expect(listProvedRoutes(listing.routes)).toEqual([]);
    expect(describeUnverified(listing)).toContain('all of its routes are unverified');
    expect(formatReliabilityEvidence(listing)).toBe('unscored, not yet sampled');
  });

  it('says of a listing whose probes told nothing that it was sampled, but not conclusively', async () => {
    const listing = await makePublicListing(TWO_ROUTES);
    const told = (days: typeof listing.reliability.days) => {
      const reliability = { ...listing.reliability, days };
      return [formatScoreBasis({ reliability }), formatReliabilityEvidence({ reliability })];
    };
    expect(told([])).toEqual(['not yet sampled', 'unscored, not yet sampled']);
    expect(told(getReliability([{ at: NOW, outcome: 'rate_limited' }], NOW).days)).toEqual([
      'no conclusive answer so far',
      'unscored, no sample so far tells anything',
    ]);
  });

  it('does not say that nothing was paid for where a payment proves nothing any more, or brought nothing', async () => {
    const listing = await makeLiveListing(TWO_ROUTES);
    const getVerification = (changed: typeof listing) => [
      describeVerification(toPublic(changed)),
      describeUnverified(toPublic(changed)),
    ];
    expect(getVerification(listing)[0]).toBe('Unverified: no paid call verifies a route');
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

  it('says that the operator corrected a receipt, where no other one verifies a route', async () => {
    const listing = await makePublicListing(TWO_ROUTES);
    const because = 'Our request lacked the field "thing".';
    const correction = { receipt_id: '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01', because, at: NOW };
    const corrections = listing.routes.map(({ id }) => ({ ...correction, route_id: id })).slice(0, 1);
    expect(describeVerification({ ...listing, corrections })).toBe(
      'Unverified: no paid call verifies a route; the operator corrected the record of one',
    );
  });

  it('tells an answer not recognised from nothing delivered, by the latest call', async () => {
    const listing = await makePublicListing(TWO_ROUTES);
    const describe = (first: 'html_page' | null, second: 'html_page' | null) => {
      const routes = listing.routes.map((route, at) => {
        const paid = { receipt_id: '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01', network: 'base' as const, amount: 1000 };
        const call = { at: `2026-11-0${3 - at}T08:00:00.000Z`, unrecognised: at === 0 ? first : second };
        return { ...route, undelivered: { ...paid, ...call, public_chain: true } };
      });
      return describeVerification({ ...listing, routes });
    };
    expect(describe('html_page', null)).toBe('Unverified: paid 2026-11-03; answered, product not recognised');
    expect(describe(null, 'html_page')).toBe('Unverified: paid 2026-11-03; nothing was delivered');
  });

  it('is on Solana throughout where Solana is all that its source declares', async () => {
    const listing = await makePublicListing(
      makeDeclaration({
        source: { kind: 'manifest', name: 'x.yaml', observed_at: null },
        ...{ routes: [], networks: ['solana'], price: { min: 10_000, max: 10_000 } },
      }),
    );
    const call = buildBareCall(listing);
    expect(formatNetworks(listing)).toBe('Solana (declared, not seen)');
    expect(listing.network_entries.map((entry) => [entry.label, describeNetwork(entry, NOW)])).toEqual([
      ['Base', 'not currently advertised; never verified'],
      ['Solana', 'declared, not seen; never verified'],
    ]);
    expect([call.network, call.price]).toEqual(['Solana', '0.01']);
    expect([call.paying, call.lack]).toEqual([null, 'No route is on record, so nothing says what a call takes.']);
    expect(buildSuffix(listing)).toContain('; Solana (declared, not seen); ');
    expect(buildListingTag(listing, SITE)).toMatchObject({ 'x-network': 'solana', 'x-network-id': NETWORKS.solana.id });
  });

  it('names every network, and which of them nobody has seen', async () => {
    const terms = [makeTerms(), makeTerms({ network: 'solana' })];
    const build = async (observed_at: string | null) => {
      const source = { kind: 'manifest', name: 'x.yaml', observed_at } as const;
      return await makeLiveListing(makeDeclaration({ source, routes: [makeRoute({ terms })] }));
    };
    const bare = await build(null);
    const words = 'Base (declared, not seen), Solana (declared, not seen)';
    expect(formatNetworks(toPublic(bare))).toBe(words);
    expect(buildSuffix(toPublic(bare))).toContain(`; ${words}; `);
    const item = buildAgentItem(bare, SITE);
    expect(item).toMatchObject({ networks: ['base', 'solana'], declared_networks: ['base', 'solana'] });
    expect(formatItemNetworks(item)).toBe(words);
    const seen = buildAgentItem(await build('2026-11-01T00:00:00.000Z'), SITE);
    expect([seen.networks, seen.declared_networks]).toEqual([['base', 'solana'], undefined]);
    expect(formatItemNetworks(seen)).toBe('Base, Solana');
  });

  it('tells dated evidence from a bare claim', async () => {
    const listing = await makePublicListing(
      makeDeclaration({ source: { kind: 'manifest', name: 'x.yaml', observed_at: null } }),
    );
    const listEvidence = ({ routes }: typeof listing) =>
      listRouteOffers(routes[0]?.terms ?? []).map(formatOfferEvidence);
    expect(describeSources(listing)).toEqual([
      {
        ...{ title: 'A manifest kept by the catalogue', authority: 'the operator of this catalogue says so' },
        said: 'title, one-line description, description, category, 1 route',
      },
    ]);
    expect(getAuthor(listing)).toBe('a manifest');
    const fed = makeDeclaration({ source: { kind: 'bazaar', name: 'feed', observed_at: null } });
    expect(getAuthor(await makePublicListing(fed))).toBe('a discovery feed');
    expect(formatNetworks(listing)).toBe('Base (declared, not seen)');
    expect(listEvidence(listing)).toEqual(['declared, undated']);
    const dated = await makePublicListing();
    expect(listEvidence(dated)).toEqual(['declared, seen 2026-11-01']);
    const [base] = dated.network_entries;
    expect(base && describeNetwork(base, NOW)).toBe('advertised, last seen 2026-11-01; never verified');
  });

  it('has one line for what two networks ask alike, and the declared price where no route is itemised', async () => {
    const both = [makeTerms(), makeTerms({ network: 'solana' }), makeTerms({ network: 'solana', amount: 3000 })];
    const { routes } = await makePublicListing(makeDeclaration({ routes: [makeRoute({ terms: both })] }));
    expect(listRouteOffers(routes[0]?.terms ?? []).map(({ price, networks }) => [price, networks])).toEqual([
      ['0.001', 'Base, Solana'],
      ['0.003', 'Solana'],
    ]);
    const bare = makeDeclaration({ routes: [], networks: ['base'], price: { min: 1000, max: 1000 } });
    const listing = await makePublicListing(bare);
    expect([formatItemPrice(listing), listing.endpoints_count]).toEqual(['0.001', 0]);
  });
});

it('says the latency of a listing with what it rests on and where from, and nothing where it is not known', async () => {
  const latency = { median_ms: 1234, p95_ms: 2345, probes: 40 };
  const probe = {
    ...{ at: NOW, outcome: 'payable' as const, cause: null, status: 402, valid_at: NOW, failures: 0 },
    ...{ failing_since: null, latency: { ...latency, median_ms: 90 } },
  };
  const listing = await makeLiveListing();
  const measured = toPublic({ ...listing, latency, routes: listing.routes.map((route) => ({ ...route, probe })) });
  const words =
    'median 1,234 ms, 95 % within 2,345 ms (40 valid answers in 30 days, as our probe saw it, from one place)';
  expect(formatLatency(measured)).toBe(words);
  const text = buildListingMarkdown(makePage(measured), SITE);
  expect(text).toContain(`\nLatency: ${words}.\n`);
  expect(text).toMatch(/probed 2026-11-20: .*; median 90 ms\n/);
  expect(formatLatency(toPublic(listing))).toBeNull();
  expect(buildListingMarkdown(makePage(toPublic(listing)), SITE)).not.toMatch(/latency|median/i);
});

it('does not say in the description what the tagline says already', () => {
  const describe = (description: string) => getDescription({ tagline: 'Says it.', description });
  expect(describe('Says it.')).toBe('');
  expect(describe('Says it. And more.')).toBe('And more.');
  expect(describe('Something else.')).toBe('Something else.');
});

it('gives the details of the first twelve routes, the most telling first', async () => {
  const routes = Array.from({ length: 200 }, (_, at) => makeRoute({ path: `/v1/${at}` }));
  const telling = makeRoute({ path: '/v1/telling', example: { query: { q: 'x' } } });
  const shown = listShownRoutes(makePage(await makePublicListing(makeDeclaration({ routes: [...routes, telling] }))));
  expect(shown[0]?.route.path).toBe('/v1/telling');
  expect(shown.map(({ isDetailed }) => isDetailed)).toEqual(shown.map((_, at) => at < 12));
});

it('names first the network that a listing was sold on, though nothing offers it any more', async () => {
  const solana = makeTerms({ network: 'solana', asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' });
  const listing = await makeLiveListing(makeDeclaration({ routes: [makeRoute({ terms: [solana] })] }));
  const networks = listing.networks.map(({ declared: _declared, ...entry }) => ({ ...entry, advertised: false }));
  const withdrawn = toPublic({ ...listing, networks });
  expect(formatNetworks(withdrawn)).toBe('Solana (not currently advertised)');
  expect(buildListingTag(withdrawn, SITE)['x-network']).toBe('solana');
});
