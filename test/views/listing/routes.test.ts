import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { getListingId, getRouteId } from '../../../src/model/ids.ts';
import type { RecordedTerms } from '../../../src/model/terms.ts';
import { listInputFields } from '../../../src/views/listing/fields.ts';
import type { PublicRoute } from '../../../src/views/listing/route-record.ts';
import {
  buildRouteRow,
  formatOfferEvidence,
  formatOfferHistory,
  getRouteAnchor,
  groupRoutes,
  LONG_LIST,
  listRouteOffers,
  type RouteRow,
} from '../../../src/views/listing/routes.ts';
import { describeRouteAuthors } from '../../../src/views/words/source.ts';
import { makeDeclaration, makeRoute, makeTerms, NOW } from '../../records.ts';
import { makeLiveListing, makePublicListing } from '../listings.ts';

function makeRecorded(overrides: Partial<RecordedTerms> = {}): RecordedTerms {
  return {
    ...makeTerms(),
    evidence: 'observed',
    source: 'probe',
    first_seen_at: '2026-10-02T00:00:00.000Z',
    last_seen_at: '2026-11-19T00:00:00.000Z',
    current: true,
    ...overrides,
  };
}

function makePublished(overrides: Partial<PublicRoute> = {}): PublicRoute {
  return {
    ...makeRoute(),
    id: 'b2c0ffee-0000-5000-8000-000000000000',
    url: 'https://api.prices.example-provider.com/v1/price/:symbol',
    verification: 'unverified',
    proof: null,
    proofs: [],
    said_by: {},
    cautions: [],
    undelivered: null,
    payee: null,
    probe: null,
    terms: [],
    ...overrides,
  };
}

const DECLARED = makeRecorded({ evidence: 'declared', source: 'x.yaml', last_seen_at: '2026-10-01T00:00:00.000Z' });

const LISTING = getListingId('https://api.prices.example-provider.com');

const WHERE = { slug: 'example-prices', asOf: NOW };

describe('the anchor of a route', () => {
  const getAnchor = (path: string, method = 'GET', id = getRouteId(LISTING, method, path)) =>
    getRouteAnchor({ id, method, path });

  it('reads as the route does, and ends in a part of its id where that cannot be', () => {
    const id = '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01';
    expect(getAnchor('/v1/forecast', 'GET', id)).toBe('get-v1-forecast');
    expect(getAnchor('/v1/air-quality/:city', 'POST', id)).toBe('post-v1-air--quality-_city');
    expect(getAnchor('/v1/{city}', 'GET', id)).toBe('get-v1-__city');
    expect(getAnchor('/mcp#shout_text', 'POST', id)).toBe('post-mcp-shout-text---5f3a0c53-3b6e');
    expect(getAnchor('/', 'GET', id)).toBe('get---5f3a0c53-3b6e');
    expect(getAnchor(`/${'long/'.repeat(400)}x`, 'GET', id).length).toBeLessThan(90);
  });

  it('is that of no other route, and an id and a name in an address without escapes', () => {
    const part = fc.oneof(fc.stringMatching(/^[:{]?[aA]?[-_]{0,2}[b9]?}?$/), fc.string({ maxLength: 3 }));
    const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => `/${parts.join('/')}`);
    fc.assert(
      fc.property(path, path, (one, other) => {
        const [first, second] = [getAnchor(one), getAnchor(other)];
        expect(first).toMatch(/^[a-z][\w-]*$/);
        expect(first === second).toBe(one === other);
      }),
      { numRuns: 3000 },
    );
  });
});

describe('the prices of a route', () => {
  it('name what a 402 was last seen to ask before, and what is declared instead', () => {
    const history = [
      makeRecorded({ current: false, amount: 900, last_seen_at: '2026-09-20T00:00:00.000Z' }),
      makeRecorded({ current: false, last_seen_at: '2026-10-02T00:00:00.000Z' }),
      DECLARED,
      makeRecorded({ amount: 2500 }),
    ];
    const [offer, ...others] = listRouteOffers(history);
    expect(others).toEqual([]);
    expect(offer && [offer.price, formatOfferEvidence(offer), formatOfferHistory(offer)]).toEqual([
      '0.0025',
      '402 seen 2026-11-19',
      'rose from 0.001, asked until 2026-10-02; declared 0.001',
    ]);
  });

  it('say nothing of the past where price and declaration agree with it, or another payee was asked the same', () => {
    const moved = [makeRecorded({ current: false, pay_to: '0x9' }), DECLARED, makeRecorded()];
    expect(listRouteOffers(moved).map(formatOfferHistory)).toEqual(['']);
    expect(listRouteOffers([DECLARED]).map(formatOfferHistory)).toEqual(['']);
  });

  it('compare each network with itself', () => {
    const solana = { network: 'solana', asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' } as const;
    const offers = listRouteOffers([
      makeRecorded({ ...solana, amount: 700, current: false, last_seen_at: '2026-10-02T00:00:00.000Z' }),
      makeRecorded(),
      makeRecorded(solana),
    ]);
    expect(offers.map((offer) => [offer.networks, formatOfferHistory(offer)])).toEqual([
      ['Base', ''],
      ['Solana', 'rose from 0.0007, asked until 2026-10-02'],
    ]);
  });
});

describe('the state of a route', () => {
  const probe = {
    at: '2026-11-20T06:00:00.000Z',
    outcome: 'no_402',
    cause: 'not_found',
    status: 404,
    valid_at: '2026-11-12T06:00:00.000Z',
    failures: 3,
    failing_since: '2026-11-18T06:00:00.000Z',
    latency: null,
  } as const;

  it('says how the latest probe came out, and when a 402 was last valid', () => {
    expect(buildRouteRow(makePublished({ probe }), WHERE).probe).toEqual({
      words: 'no 402: not found (404)',
      weight: 'failed',
      on: '2026-11-20',
      valid_on: '2026-11-12',
      latency: null,
    });
    expect(buildRouteRow(makePublished({ probe: { ...probe, valid_at: null } }), WHERE).probe?.valid_on).toBeNull();
  });

  it('says when it was never probed', () => {
    expect(buildRouteRow(makePublished(), WHERE)).toMatchObject({ probe: null, cautions: [] });
  });
});

async function makeRows(paths: readonly string[]): Promise<RouteRow[]> {
  const { routes } = await makePublicListing(makeDeclaration({ routes: paths.map((path) => makeRoute({ path })) }));
  return routes.map((route) => buildRouteRow(route, WHERE));
}

const getNames = (rows: readonly RouteRow[]) => groupRoutes(rows).map(({ name, routes }) => [name, routes.length]);

it('groups the routes of a long list by the first part of their path that says something', async () => {
  const paths = Array.from({ length: 30 }, (_, at) => `/api/v1/${at % 3 === 0 ? 'maths' : 'text'}/tool-${at}?a=/b`);
  expect(getNames(await makeRows(paths))).toEqual([
    ['/api/v1/maths', 10],
    ['/api/v1/text', 20],
  ]);
});

it('leaves a table whole that is short, of one group, or of hardly two routes a group', async () => {
  const short = Array.from({ length: LONG_LIST }, (_, at) => `/${at % 2}/x-${at}`);
  const one = Array.from({ length: 30 }, (_, at) => `/text/${at}`);
  const all = Array.from({ length: 30 }, (_, at) => `/tool-${at}`);
  for (const paths of [short, one, all]) expect(getNames(await makeRows(paths))).toEqual([[null, paths.length]]);
});

it('names who says what a route takes and returns, and when that was seen', async () => {
  const listing = await makeLiveListing();
  const [manifest] = listing.sources;
  if (!manifest) throw new Error('the listing has no source');
  const feed = { ...manifest, kind: 'bazaar', authority: 'hearsay', observed_at: null } as const;
  const describe = (said_by: PublicRoute['said_by']) =>
    describeRouteAuthors({ sources: [manifest, feed] }, makePublished({ said_by }));
  expect(describe({ description: 0, input: 0 })).toBe('a manifest, seen 2026-11-01');
  expect(describe({ description: 0, output: 1 })).toBe('a manifest, seen 2026-11-01, and of a discovery feed');
  expect(describe({ route: 0 })).toBe('');
});

it('shows no header that pays among what a route takes', () => {
  const headers = { properties: { 'X-PAYMENT': { type: 'string' }, 'X-Tenant': { type: 'string' } } };
  const route = makePublished({ input_schema: { properties: { headers } } });
  expect(listInputFields(route).map(({ place, rows }) => [place, rows.map(({ name }) => name)])).toEqual([
    ['Headers', ['X-Tenant']],
  ]);
});
