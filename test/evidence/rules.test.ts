import { describe, expect, it } from 'vitest';
import { inferCategory } from '../../src/evidence/category.ts';
import { mergeDeclarations } from '../../src/evidence/declarations.ts';
import { getPriceRange } from '../../src/evidence/listing.ts';
import { buildNetworkEntries, getPrimaryNetworkKey, type NetworkEvidence } from '../../src/evidence/networks.ts';
import { listPossibleSlugs, toSlug } from '../../src/evidence/slug.ts';
import { getCurrentTerms } from '../../src/evidence/terms.ts';
import { listRouteProofs } from '../../src/evidence/verification.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { NETWORKS, type NetworkKey } from '../../src/model/network.ts';
import type { Receipt } from '../../src/model/payment.ts';
import type { RecordedTerms } from '../../src/model/terms.ts';
import { makeDeclaration, makeRoute, makeTerms, NOW } from '../records.ts';

function makeRecorded(overrides: Partial<RecordedTerms> = {}): RecordedTerms {
  return {
    ...makeTerms(),
    evidence: 'declared',
    source: 'a.yaml',
    first_seen_at: NOW,
    last_seen_at: NOW,
    current: true,
    ...overrides,
  };
}

describe('current terms', () => {
  it('are those seen in a 402, or the declared ones if none was seen', () => {
    const declared = makeRecorded({ amount: 1000 });
    const observed = makeRecorded({ amount: 2000, evidence: 'observed' });
    expect(getCurrentTerms([declared, { ...observed, current: false }])).toEqual([declared]);
    expect(getCurrentTerms([declared, observed])).toEqual([observed]);
    expect(getPriceRange([{ terms: [declared, observed] }, { terms: [declared] }], null)).toEqual({
      min: 1000,
      max: 2000,
    });
    expect(getPriceRange([], { min: 5, max: 7 })).toEqual({ min: 5, max: 7 });
    expect(getPriceRange([{ terms: [] }], { min: 5, max: 7 })).toBeNull();
  });
});

describe('network entries', () => {
  const build = (terms: RecordedTerms[], offered = true) =>
    buildNetworkEntries({ routes: [{ terms }], verified: new Set(), declared: [], receipts: [], known: [], offered });

  it('include base always, and solana if it was ever offered', () => {
    expect(build([]).map(({ key, advertised }) => [key, advertised])).toEqual([['base', false]]);
    const past = makeRecorded({ network: 'solana', current: false });
    expect(build([past]).map(({ key, advertised }) => [key, advertised])).toEqual([
      ['base', false],
      ['solana', false],
    ]);
  });

  it('say that a network is advertised only with dated evidence', () => {
    expect(build([makeRecorded({ last_seen_at: null })])[0]).toMatchObject({ advertised: false, last_seen_at: null });
    expect(build([makeRecorded()])[0]).toMatchObject({ advertised: true, last_seen_at: NOW });
    expect(build([makeRecorded()], false)[0]).toMatchObject({ advertised: false, last_seen_at: null });
  });

  it.each<[what: string, terms: Partial<RecordedTerms>[], declared: NetworkKey[], primary: NetworkKey]>([
    ['the one advertised', [{ network: 'solana' }], [], 'solana'],
    ['base of both advertised', [{}, { network: 'solana' }], [], 'base'],
    ['the one advertised before one declared', [{ network: 'solana' }], ['base'], 'solana'],
    ['the one declared where none is advertised', [], ['solana'], 'solana'],
    ['the one in undated terms', [{ network: 'solana', last_seen_at: null }], [], 'solana'],
    ['base of both declared', [], ['solana', 'base'], 'base'],
    ['base where terms on solana are history', [{ network: 'solana', current: false }], [], 'base'],
    ['base where nothing is known', [], [], 'base'],
  ])('give the primary network: %s', (_what, terms, declared, primary) => {
    const evidence: NetworkEvidence = {
      routes: [{ terms: terms.map(makeRecorded) }],
      ...{ verified: new Set(), receipts: [], known: [], offered: true },
      declared: declared.map((key) => ({ key, observed_at: null })),
    };
    expect(getPrimaryNetworkKey(buildNetworkEntries(evidence), evidence)).toBe(primary);
  });
});

describe('a route’s proof', () => {
  const receipt: Receipt = {
    id: '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01',
    route_id: '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b02',
    network: 'base',
    asset: makeTerms().asset,
    amount: 1000,
    payer: '0x2',
    pay_to: makeTerms().pay_to ?? '',
    transaction: '0xabc',
    genesis: NETWORKS.base.genesis,
    request: null,
    settled_at: NOW,
    settled: true,
    delivered: true,
    conforming: 'yes',
    unrecognised: null,
    correction: null,
  };

  it('needs a settled payment and a delivered product', () => {
    expect(listRouteProofs([receipt], [])[0]?.transaction_url).toBe('https://basescan.org/tx/0xabc');
    expect(listRouteProofs([{ ...receipt, settled: false }], [])).toEqual([]);
    expect(listRouteProofs([{ ...receipt, delivered: false }], [])).toEqual([]);
  });

  it('stays when the price changes, and ends when payee or network changes', () => {
    const observed = makeRecorded({ evidence: 'observed' });
    expect(listRouteProofs([receipt], [{ ...observed, amount: 9000 }])).toHaveLength(1);
    expect(listRouteProofs([receipt], [{ ...observed, pay_to: '0x3333333333333333333333333333333333333333' }])).toEqual(
      [],
    );
    expect(listRouteProofs([receipt], [{ ...observed, network: 'solana' }])).toEqual([]);
  });

  it('stays on every network that was paid and is still offered', () => {
    const later = { ...receipt, id: 'later', network: 'solana' as const, settled_at: '2026-11-21T00:00:00.000Z' };
    expect(listRouteProofs([receipt, later], []).map(({ network }) => network)).toEqual(['solana', 'base']);
    const observed = makeRecorded({ evidence: 'observed' });
    expect(listRouteProofs([receipt, later], [observed]).map(({ network }) => network)).toEqual(['base']);
    expect(listRouteProofs([{ ...receipt, delivered: false }], []).map(({ network }) => network)).toEqual([]);
  });
});

describe('merging declarations', () => {
  it('takes each fact from the first source that has it, however fresh a feed is', () => {
    const feed = makeDeclaration({
      source: { kind: 'bazaar', name: 'feed', observed_at: '2026-11-10T00:00:00.000Z' },
      title: 'Feed title',
      routes: [
        makeRoute({ description: 'What the feed says.', terms: [makeTerms({ amount: 2000 })] }),
        makeRoute({ path: '/v1/new' }),
      ],
    });
    const merged = mergeDeclarations([
      { declaration: feed, withdrawn_at: null },
      { declaration: makeDeclaration(), withdrawn_at: null },
    ]);
    expect(merged.words.title).toBe('Example Prices');
    expect(merged.routes.map(({ route, source }) => [route.path, route.terms[0]?.amount, source.name])).toEqual([
      ['/v1/price/:symbol', 1000, 'example-prices.yaml'],
      ['/v1/new', 1000, 'feed'],
    ]);
    const described = merged.routes.find(({ route }) => route.path === '/v1/price/:symbol')?.route.description;
    expect(described).toBe('Latest price of one symbol.');
    const withdrawn = mergeDeclarations([{ declaration: feed, withdrawn_at: NOW }]);
    expect([withdrawn.offered, withdrawn.words.title]).toEqual([false, 'Feed title']);
  });
});

describe('slugs', () => {
  it('come from the service name or the host, and never collide', () => {
    const source = {
      slug: null,
      service_name: 'Zürich Wetter & Co.',
      base_url: 'https://api.x.example',
      id: 'abcdef01-2345-5678-9abc-def012345678',
    };
    const slugs = listPossibleSlugs(source);
    expect(slugs.slice(0, 2)).toEqual(['zurich-wetter-co', 'zurich-wetter-co-abcdef01']);
    expect(slugs.at(-1)).toBe('zurich-wetter-co-abcdef01234556789abcdef012345678');
    expect(listPossibleSlugs({ ...source, service_name: '東京' })[0]).toBe('x-example');
    expect(toSlug('a'.repeat(80))).toHaveLength(64);
  });
});

describe('categories', () => {
  it.each([
    ['Finance', 'Token prices', 'Latest price of a token on a DEX.'],
    ['Verification', 'Sanctions screening', 'Screens a wallet for sanctions and fraud risk.'],
    ['Intelligence', 'Chat completions', 'LLM inference behind one chat completion route.'],
    ['Data', 'Weather lookup', 'Weather records and historical data by location.'],
    ['Tools', 'Resize pictures', 'Makes a picture smaller.'],
    ['Tools', 'Draw', 'Generates detailed pictures with AI.'],
    ['Tools', 'Pages', 'Scrapes pages of a site.'],
  ])('infer %s from the texts', (expected, title, tagline) => {
    expect(inferCategory({ title, tagline, description: '', tags: [], routes: [] }).category).toBe(expected);
  });

  it('are inferred from what the routes return where their names say nothing', () => {
    const infer = (output_schema: JsonObject | null) =>
      inferCategory({
        ...{ title: 'Halcyon', tagline: '', description: '', tags: [] },
        routes: [{ path: '/v1/now', description: 'What you ask for.', output_schema }],
      }).category;
    expect(infer(null)).toBe('Tools');
    const properties = { temperature: { type: 'number' }, wind: { type: 'string', description: 'Weather at sea' } };
    expect(infer({ type: 'object', properties })).toBe('Data');
    expect(infer({ type: 'array', items: { type: 'object', properties: { riskScore: {}, isFraud: {} } } })).toBe(
      'Verification',
    );
    expect(infer({ examples: [{ pools: [{ tvl: 7, token_price: 1 }] }] })).toBe('Finance');
  });

  it('follow what most of the routes do, whatever the title says', () => {
    const routes = ['Token prices of a DEX.', 'Swaps by wallet.', 'Yields of a pool.'].map((description, at) => ({
      ...{ path: `/${at}`, description, output_schema: null },
    }));
    const text = { title: 'Weather lookup', tagline: '', description: '', tags: [], routes };
    expect(inferCategory(text).category).toBe('Finance');
  });
});
