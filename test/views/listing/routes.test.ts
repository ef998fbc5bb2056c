import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { getListingId, getRouteId } from '../../../src/model/ids.ts';
import type { RecordedTerms } from '../../../src/model/terms.ts';
import { listInputFields } from '../../../src/views/listing/fields.ts';
import type { PublicRoute } from '../../../src/views/listing/route-record.ts';
import {
  formatOfferEvidence,
  formatOfferHistory,
  getRouteAnchor,
  listRouteOffers,
} from '../../../src/views/listing/routes.ts';
import { describeRouteAuthors } from '../../../src/views/words/source.ts';
import { makeRoute, makeTerms } from '../../records.ts';
import { makeLiveListing } from '../listings.ts';

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
