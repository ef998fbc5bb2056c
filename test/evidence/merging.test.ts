import { describe, expect, it } from 'vitest';
import { keepWords, mergeDeclarations } from '../../src/evidence/declarations.ts';
import type { Declaration } from '../../src/model/declaration.ts';
import { makeDeclaration, makeRoute, makeTerms, NOW } from '../records.ts';

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
      source: { kind: 'openapi', name: 'https://prices.example-provider.com/openapi.json', observed_at: null },
      title: 'Tide Tables',
      routes: [makeRoute({ description: '' })],
    });
    const item = { description: 'All about tides.' };
    const first = makeFeed('a', 1, { tagline: 'Heights of tides.', category: 'Data', routes: [makeRoute({ item })] });
    const second = makeFeed('b', 2, {
      title: 'Tides of a feed',
      tagline: 'It allows you to:',
      provider_name: 'Tide House',
      routes: [makeRoute({ input_schema: { type: 'object' }, terms: [makeTerms({ amount: 7 })] })],
    });
    const merged = merge([first, second, document]);
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
      terms: [{ amount: 1000 }],
    });
    const sources = merged.sources.map(({ name, authority }) => [name, authority]);
    expect(sources).toEqual([
      ['https://prices.example-provider.com/openapi.json', 'host'],
      ['a', 'hearsay'],
      ['b', 'hearsay'],
    ]);
    expect(merged.said_by).toEqual({ title: 0, tagline: 1, description: 1, category: 1 });
    expect(merged.routes[0]?.said_by).toEqual({ route: 0, description: 1, input: 2, price: 0 });
  });

  it('tell how a payment is retried by the best source that says it, and never by a stranger', () => {
    const document = makeDeclaration({
      source: { kind: 'openapi', name: 'https://prices.example-provider.com/openapi.json', observed_at: null },
    });
    const manifest = makeDeclaration({ routes: [makeRoute({ payment_identifier: 'supported' })] });
    const feed = makeFeed('a', 1, { routes: [makeRoute({ payment_identifier: 'required' })] });
    const getSaid = (...all: Declaration[]) => merge(all).routes[0]?.route.payment_identifier;
    expect(merge([document, manifest]).sources.map(({ authority }) => authority)).toEqual(['host', 'operator']);
    expect(getSaid(feed, manifest, document)).toBe('supported');
    expect(getSaid(feed, document)).toBeUndefined();
  });

  it('give texts that name nothing no chance: the host, a placeholder, an empty line', () => {
    const source = { kind: 'openapi' as const, name: 'https://tide-house.example/openapi.json', observed_at: null };
    const base_url = 'https://api.tide-house.example';
    const placeholder = makeDeclaration({ ...EMPTY, source, base_url, title: 'FastAPI', tagline: '0.01 USDC on base' });
    const old = makeFeed('a', 1, {
      base_url,
      title: 'api.tide-house.example',
      provider_name: 'api.tide-house.example',
      routes: [makeRoute({ description: '' })],
    });
    expect(merge([placeholder, old]).words).toEqual({
      title: 'Tide House',
      is_named: false,
      tagline: 'Latest price of one symbol.',
      description: '',
      provider_name: 'api.tide-house.example',
    });
  });

  it('give way to the words of the routes where they name nothing, as long as all of these say the same', () => {
    const base_url = 'https://x402-next.vercel.app';
    const say = (...descriptions: string[]) =>
      merge([
        makeFeed('a', 1, {
          ...{ base_url, title: 'Home' },
          routes: descriptions.map((description, at) => makeRoute({ path: `/${at}`, description })),
        }),
      ]);
    const alone = say('Heights of tides: hourly. For every port.');
    expect(alone.words).toMatchObject({
      title: 'Heights of tides',
      tagline: 'Heights of tides: hourly.',
      is_named: true,
    });
    expect(alone.said_by).toMatchObject({ title: 0, tagline: 0 });
    expect(say('Heights of tides', 'Heights of tides').words.title).toBe('Heights of tides');
    const several = say('Heights of tides.', 'Moon phases of a month.', '');
    expect(several.words).toMatchObject({
      title: 'x402-next.vercel.app',
      tagline: 'Heights of tides; Moon phases of a month',
      is_named: false,
    });
    const silent = say('Payment required', '');
    expect(silent.words).toMatchObject({
      title: 'x402-next.vercel.app',
      tagline: 'Nothing on record says what it does.',
    });
    expect(silent.said_by).not.toHaveProperty('tagline');
  });

  it('describe routes in the words of one of them alone', () => {
    const document = makeDeclaration({
      ...EMPTY,
      source: { kind: 'openapi', name: 'https://prices.example-provider.com/openapi.json', observed_at: null },
      routes: [makeRoute({ path: '/a', description: 'Heights of tides.' }), makeRoute({ path: '/b', description: '' })],
    });
    const routes = ['/b', '/c'].map((path) => makeRoute({ path, description: `Buy ${path} elsewhere.` }));
    const feed = makeFeed('a', 1, { routes });
    const { words, said_by } = merge([feed, document]);
    expect([words.tagline, said_by.tagline]).toEqual(['Heights of tides.', 0]);
  });
});

describe('what readers saw so far', () => {
  const sources = [{ kind: 'bazaar' as const, name: 'a', observed_at: null, authority: 'hearsay' as const }];
  const recorded = { title: 'Tides by Feed A', description: '', category: 'Data' as const, sources };
  const a = { title: 'Tides by Feed A', category: 'Data' as const };
  const b = { title: 'Tides by Feed B', category: 'Finance' as const };

  it('is that of the feed heard first, however fresh another is and in whatever order they come', () => {
    const feeds = [
      { declaration: makeFeed('z', 1, a), withdrawn_at: null, heard_at: '2026-11-01T00:00:00.000Z' },
      { declaration: makeFeed('b', 9, b), withdrawn_at: null, heard_at: '2026-11-02T00:00:00.000Z' },
    ];
    for (const order of [feeds, feeds.toReversed()]) {
      const merged = mergeDeclarations(order);
      expect([merged.words.title, merged.category]).toEqual(['Tides by Feed A', 'Data']);
    }
    const withdrawn = mergeDeclarations(feeds.map((one, at) => (at === 0 ? { ...one, withdrawn_at: NOW } : one)));
    expect([withdrawn.words.title, withdrawn.category]).toEqual(['Tides by Feed B', 'Finance']);
  });

  it('goes when its source says otherwise, or a closer one says something', () => {
    const renamed = merge([makeFeed('a', 2, { ...a, title: 'Tides, new name' })], recorded);
    expect(renamed.words.title).toBe('Tides, new name');
    const closer = merge([makeFeed('a', 1, a), makeDeclaration({ title: 'Tide Tables' })], recorded);
    expect([closer.words.title, closer.category]).toEqual(['Tide Tables', 'Finance']);
  });

  it('stays where nobody gives a title if only its spelling is another', () => {
    const base_url = 'https://api.tidehouse.example';
    expect(merge([makeFeed('a', 2, { base_url })], { ...recorded, title: 'TideHouse' }).words.title).toBe('TideHouse');
    for (const title of ['api.tidehouse.example', 'Name that nobody gives any more']) {
      expect(merge([makeFeed('a', 2, { base_url })], { ...recorded, title }).words.title).toBe('Tidehouse');
    }
  });

  it('stays as the inferred category until another one clearly wins', () => {
    const routes = (description: string) => [makeRoute({ path: '/v1/x', description })];
    const mixed = makeFeed('a', 2, { routes: routes('Weather forecast and token prices.') });
    expect(merge([mixed], { sources, description: '', title: 'X', category: 'Finance' }).category).toBe('Finance');
    expect(merge([mixed], { sources, description: '', title: 'X', category: 'Data' }).category).toBe('Data');
    const words = 'Token prices, swaps and portfolios on any DEX.';
    const other = makeFeed('a', 2, { description: 'All about it.', routes: routes(words) });
    expect(merge([other], { sources, description: '', title: 'X', category: 'Data' }).category).toBe('Data');
    const clear = makeFeed('a', 2, { title: 'DEX swaps', tagline: words, tags: ['defi'], routes: routes(words) });
    expect(merge([clear], { sources, description: '', title: 'X', category: 'Data' }).category).toBe('Finance');
    const closer = makeDeclaration({ category: null, routes: routes(words) });
    expect(merge([closer, mixed], { sources, description: '', title: 'X', category: 'Data' }).category).toBe('Finance');
    const silent = makeFeed('a', 2, { routes: routes('') });
    expect(merge([silent], { sources, description: '', title: 'X', category: 'Verification' }).category).toBe(
      'Verification',
    );
  });
});

describe('a snapshot of a feed that lacks words', () => {
  const item = { service_name: 'Tides', docs_url: 'https://tides.example/docs', tags: ['sea'] };
  const earlier = makeFeed('a', 1, {
    service_name: 'Tides',
    routes: [makeRoute({ input_schema: { type: 'object' }, item }), makeRoute({ path: '/v1/gone' })],
  });

  it('keeps those of the snapshot before it, and its own terms and routes', () => {
    const route = makeRoute({ description: '', mime_type: null, terms: [makeTerms({ amount: 9 })] });
    const kept = keepWords(makeFeed('a', 2, { routes: [route, makeRoute({ path: '/v1/new' })] }), earlier, NOW);
    expect(kept).toEqual({
      ...earlier,
      title: 'Tides',
      source: { kind: 'bazaar', name: 'a', observed_at: '2026-11-02T00:00:00.000Z' },
      routes: [
        makeRoute({ input_schema: { type: 'object' }, terms: [makeTerms({ amount: 9 })], item }),
        makeRoute({ path: '/v1/new', heard_at: NOW }),
      ],
    });
  });

  it('has its own where it has any', () => {
    const later = makeFeed('a', 2, { routes: [makeRoute({ description: 'New.', item: { tags: ['moon'] } })] });
    expect(keepWords(later, earlier).routes[0]).toMatchObject({
      description: 'New.',
      item: { ...item, tags: ['moon'] },
    });
  });
});
