import { describe, expect, it } from 'vitest';
import { keepWords, mergeDeclarations } from '../../src/evidence/declarations.ts';
import type { Declaration } from '../../src/model/declaration.ts';
import { makeDeclaration, makeRoute, makeTerms } from '../records.ts';

const EMPTY = { title: '', tagline: '', description: '', provider_name: '', service_name: null, category: null };

function makeFeed(name: string, day: number, overrides: Partial<Declaration> = {}): Declaration {
  const observed_at = `2026-11-${String(day).padStart(2, '0')}T00:00:00.000Z`;
  return makeDeclaration({ ...EMPTY, source: { kind: 'bazaar', name, observed_at }, ...overrides });
}

function merge(declarations: readonly Declaration[], recorded?: Parameters<typeof mergeDeclarations>[1]) {
  return mergeDeclarations(
    declarations.map((declaration) => ({ declaration, withdrawn_at: null })),
    recorded,
  );
}

describe('several sources of one listing', () => {
  it('add up: each text is that of the best source that has it', () => {
    const document = makeDeclaration({
      ...EMPTY,
      source: { kind: 'openapi', name: 'https://tides.example/openapi.json', observed_at: null },
      title: 'Tide Tables',
      routes: [makeRoute({ description: '' })],
    });
    const older = makeFeed('a', 1, { tagline: 'Heights of tides.', description: 'All about tides.', category: 'Data' });
    const newer = makeFeed('b', 2, {
      title: 'Tides of a feed',
      tagline: 'It allows you to:',
      provider_name: 'Tide House',
      routes: [makeRoute({ input_schema: { type: 'object' }, terms: [makeTerms({ amount: 7 })] })],
    });
    const merged = merge([older, newer, document]);
    expect(merged.words).toEqual({
      title: 'Tide Tables',
      is_named: true,
      tagline: 'Heights of tides.',
      description: 'All about tides.',
      provider_name: 'Tide House',
    });
    expect([merged.category, merged.inferred]).toEqual(['Data', null]);
    expect(merged.routes[0]?.route).toMatchObject({
      description: 'Latest price of one symbol.',
      input_schema: { type: 'object' },
      terms: [{ amount: 7 }],
    });
  });

  it('give texts that name nothing no chance: the host, a placeholder, an empty line', () => {
    const source = { kind: 'openapi' as const, name: 'https://tides.example/openapi.json', observed_at: null };
    const base_url = 'https://api.tide-house.example';
    const placeholder = makeDeclaration({ ...EMPTY, source, base_url, title: 'FastAPI', tagline: '0.01 USDC on base' });
    const old = makeFeed('a', 1, {
      base_url,
      title: 'api.tide-house.example',
      provider_name: 'api.tide-house.example',
    });
    expect(merge([placeholder, old]).words).toEqual({
      title: 'Tide House',
      is_named: false,
      tagline: '1 route: price',
      description: '',
      provider_name: 'api.tide-house.example',
    });
  });
});

describe('what readers saw so far', () => {
  const sources = [{ kind: 'bazaar' as const, name: 'a', observed_at: null }];
  const recorded = { title: 'Tides by Feed A', category: 'Data' as const, sources };
  const a = { title: 'Tides by Feed A', category: 'Data' as const };
  const b = { title: 'Tides by Feed B', category: 'Finance' as const };

  it('stays while one of the equally close sources says so, however fresh another is', () => {
    const merged = merge([makeFeed('a', 1, a), makeFeed('b', 9, b)], recorded);
    expect([merged.words.title, merged.category]).toEqual(['Tides by Feed A', 'Data']);
    const first = merge([makeFeed('a', 1, a), makeFeed('b', 9, b)]);
    expect([first.words.title, first.category]).toEqual(['Tides by Feed B', 'Finance']);
  });

  it('goes when its source says otherwise, or a closer one says something', () => {
    const renamed = merge([makeFeed('a', 2, { ...a, title: 'Tides, new name' })], recorded);
    expect(renamed.words.title).toBe('Tides, new name');
    const closer = merge([makeFeed('a', 1, a), makeDeclaration({ title: 'Tide Tables' })], recorded);
    expect([closer.words.title, closer.category]).toEqual(['Tide Tables', 'Finance']);
  });

  it('stays where nobody gives a title, and the host as a title does not', () => {
    const base_url = 'https://api.tidehouse.example';
    expect(merge([makeFeed('a', 2, { base_url })], { ...recorded, title: 'TideHouse' }).words.title).toBe('TideHouse');
    const host = merge([makeFeed('a', 2, { base_url })], { ...recorded, title: 'api.tidehouse.example' });
    expect(host.words.title).toBe('Tidehouse');
  });

  it('stays as the inferred category until another one clearly wins', () => {
    const routes = (description: string) => [makeRoute({ path: '/v1/x', description })];
    const mixed = makeFeed('a', 2, { routes: routes('Weather forecast and token prices.') });
    expect(merge([mixed], { sources, title: 'X', category: 'Finance' }).category).toBe('Finance');
    expect(merge([mixed], { sources, title: 'X', category: 'Data' }).category).toBe('Data');
    const words = 'Token prices, swaps and portfolios on any DEX.';
    const other = makeFeed('a', 2, { routes: routes(words) });
    expect(merge([other], { sources, title: 'X', category: 'Data' }).category).toBe('Data');
    const clear = makeFeed('a', 2, { title: 'DEX swaps', tagline: words, tags: ['defi'], routes: routes(words) });
    expect(merge([clear], { sources, title: 'X', category: 'Data' }).category).toBe('Finance');
    const closer = makeDeclaration({ category: null, routes: routes(words) });
    expect(merge([closer, mixed], { sources, title: 'X', category: 'Data' }).category).toBe('Finance');
    const silent = makeFeed('a', 2, { routes: routes('') });
    expect(merge([silent], { sources, title: 'X', category: 'Verification' }).category).toBe('Verification');
  });
});

describe('a snapshot of a feed that lacks words', () => {
  const earlier = makeFeed('a', 1, {
    service_name: 'Tides',
    title: 'Tides',
    tagline: 'Heights of tides.',
    description: 'All about tides.',
    provider_name: 'Tides',
    docs_url: 'https://tides.example/docs',
    tags: ['sea'],
    routes: [makeRoute({ input_schema: { type: 'object' } }), makeRoute({ path: '/v1/gone' })],
  });

  it('keeps those of the snapshot before it, and its own terms and routes', () => {
    const route = makeRoute({ description: '', mime_type: null, terms: [makeTerms({ amount: 9 })] });
    const kept = keepWords(makeFeed('a', 2, { routes: [route] }), earlier);
    expect(kept).toEqual({
      ...earlier,
      source: { kind: 'bazaar', name: 'a', observed_at: '2026-11-02T00:00:00.000Z' },
      routes: [makeRoute({ input_schema: { type: 'object' }, terms: [makeTerms({ amount: 9 })] })],
    });
  });

  it('has its own where it has any', () => {
    const later = { ...earlier, title: 'Tides 2', tagline: 'Other tides.', tags: ['moon'], routes: [makeRoute()] };
    expect(keepWords(later, earlier)).toMatchObject({ title: 'Tides 2', tagline: 'Other tides.', tags: ['moon'] });
  });
});
