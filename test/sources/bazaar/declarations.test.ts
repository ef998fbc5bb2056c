import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chooseFeedWords } from '../../../src/evidence/feed-words.ts';
import { type Declaration, declaration } from '../../../src/model/declaration.ts';
import { buildFeedDeclarations } from '../../../src/sources/bazaar/feed.ts';
import { makeItem, makeOffer, makeSolanaOffer, makeVersion1Item, OPTIONS, PULLED_AT } from './items.ts';

function build(items: unknown[]) {
  const built = buildFeedDeclarations(items, OPTIONS);
  for (const one of built.declarations) expect(declaration.parse(one)).toEqual(one);
  return built;
}

function makeRouteItem(path: string, description: string, overrides: Record<string, unknown> = {}) {
  return makeItem({ resource: `https://api.tides.example${path}`, description, ...overrides });
}

describe('items of one origin', () => {
  it('become one listing, a route each, by path and method', () => {
    const { declarations, outcomes } = build([
      makeRouteItem('/v1/z', 'Last.'),
      makeVersion1Item(),
      makeItem({ method: 'DELETE' }),
      makeItem(),
      makeItem({ resource: 'https://api.tides.example:8443/v1/height' }),
    ]);
    expect(declarations.map(({ base_url }) => base_url)).toEqual([
      'https://api.tides.example',
      'https://api.tides.example:8443',
    ]);
    expect(declarations[0]?.routes.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /v1/alert',
      'DELETE /v1/height',
      'GET /v1/height',
      'GET /v1/z',
    ]);
    expect(outcomes.every(({ outcome }) => outcome === 'taken')).toBe(true);
  });

  it('are dated by the latest of them, else by the pull, and have the feed’s name', () => {
    const dated = build([makeRouteItem('/a', 'A.', { lastUpdated: '2026-09-01T00:00:00Z' }), makeItem()]);
    expect(dated.declarations[0]?.source).toEqual({
      kind: 'bazaar',
      name: OPTIONS.feed,
      observed_at: '2026-11-01T08:00:00.000Z',
    });
    expect(build([makeItem({ lastUpdated: undefined })]).declarations[0]?.source.observed_at).toBe(PULLED_AT);
  });

  it('have the slug of their service, if they name one', () => {
    const name = (...names: (string | undefined)[]) =>
      build(names.map((serviceName, at) => makeRouteItem(`/${at}`, 'X.', { serviceName }))).declarations[0];
    expect(name(undefined)).toMatchObject({ title: '', provider_name: '', service_name: null, slug: null });
    expect(name('Tide Tables', undefined)).toMatchObject({ service_name: 'Tide Tables' });
    expect(name('Tide Tables', 'Tides')).toMatchObject({ service_name: null });
  });
});

describe('the words about the whole listing', () => {
  const say = (items: unknown[], seen: readonly string[] = []) =>
    chooseFeedWords(build(items).declarations[0] as Declaration, ({ path }) => seen.includes(path));
  const name = (...names: (string | undefined)[]) =>
    names.map((serviceName, at) => makeRouteItem(`/${at}`, 'X.', { serviceName }));

  it('have the one name that the items give, and each route of a host of several keeps its own', () => {
    expect(say(name('Tide Tables', 'Tide Tables', undefined))).toMatchObject({ title: 'Tide Tables' });
    expect(say(name('Tide Tables', 'TIDE TABLES API')).title).toBe('Tide Tables');
    const { title, routes } = say(name('Tide Tables', 'Moon Phases', undefined));
    expect([title, ...routes.map(({ description }) => description)]).toEqual([
      ...['', 'Tide Tables: X.', 'Moon Phases: X.', 'X.'],
    ]);
  });

  it('have the title of their site if no service is named, without its slogan', () => {
    const origin = { title: 'Tide House — heights for every port' };
    expect(say([makeItem({ origin })]).title).toBe('Tide House');
    expect(say([makeItem({ origin, serviceName: 'Tide Tables' })]).title).toBe('Tide Tables');
    expect(say([makeItem({ metadata: { siteTitle: 'Tide House' } })]).title).toBe('Tide House');
  });

  it('have the tags of the items, each once', () => {
    const items = [['Sea', 'tides'], ['tides', ''], undefined].map((tags, at) => makeRouteItem(`/${at}`, '', { tags }));
    expect(say(items).tags).toEqual(['sea', 'tides']);
    expect(say([makeItem()])).not.toHaveProperty('tags');
  });

  it('describe the service, else the route nearest to the root', () => {
    const extra = { serviceDescription: 'All about tides. And more.' };
    expect(say([makeItem(), makeRouteItem('/x', 'X.', { accepts: [makeOffer({ extra })] })])).toMatchObject({
      tagline: 'All about tides.',
      description: 'All about tides. And more.',
    });
    const nearest = [makeRouteItem('/a/b/c', 'Deep.'), makeRouteItem('/zz', 'Near.'), makeRouteItem('/q', '')];
    expect(say(nearest)).toMatchObject({ tagline: '', description: 'Near.' });
    expect(say([makeRouteItem('/a', 'Alone. With more.')]).tagline).toBe('Alone.');
    expect(say([makeRouteItem('/a', '')])).toMatchObject({ tagline: '', description: '' });
  });

  it('are those of routes that gave a valid 402, however many others say otherwise', () => {
    const phantoms = Array.from({ length: 60 }, (_, at) =>
      makeRouteItem(`/${at}`, 'DEPRECATED.', { serviceName: 'Moved' }),
    );
    const honest = makeRouteItem('/v1/tides/heights', 'Heights of tides.', { serviceName: 'Tide Tables' });
    expect(say([...phantoms, honest], ['/v1/tides/heights'])).toMatchObject({
      ...{ title: 'Tide Tables', tagline: 'Heights of tides.', description: 'Heights of tides.' },
    });
    expect(say([...phantoms, honest])).toMatchObject({ title: '' });
  });
});

describe('one route that comes several times', () => {
  it('is one route with the offers for other networks and schemes added; the other items are duplicates', () => {
    const { declarations, outcomes, findings } = build([
      makeItem({ accepts: [makeOffer({ amount: '5' })], description: 'Old.', lastUpdated: '2026-09-01T00:00:00Z' }),
      makeItem({ accepts: [makeOffer()], description: 'New.' }),
      makeItem({
        accepts: [makeSolanaOffer(), makeOffer({ amount: '7' }), makeOffer({ amount: '9', scheme: 'upto' })],
        lastUpdated: '2026-08-01T00:00:00Z',
      }),
    ]);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['duplicate', 'taken', 'duplicate']);
    expect(declarations[0]?.routes).toHaveLength(1);
    expect(declarations[0]?.routes[0]).toMatchObject({ description: 'New.' });
    expect(
      declarations[0]?.routes[0]?.terms.map(({ network, scheme, amount }) => `${network} ${scheme} ${amount}`),
    ).toEqual(['base exact 3000', 'base upto 9', 'solana exact 3000']);
    expect(findings).toMatchObject([
      { severity: 'noted', code: 'duplicate', message: expect.stringContaining('3 times') },
    ]);
  });

  it('of equal age has its offers united, one offer in both protocol versions once', () => {
    const old = makeVersion1Item(
      { resource: 'https://api.tides.example/v1/height', lastUpdated: '2026-11-01T08:00:00Z' },
      {
        ...{ maxAmountRequired: '3000', resource: 'https://api.tides.example/v1/height' },
        outputSchema: { input: { method: 'GET' } },
      },
    );
    const terms = build([old, makeItem(), makeItem({ accepts: [makeOffer({ amount: '9' })] })]).declarations[0]
      ?.routes[0]?.terms;
    expect(terms?.map(({ amount, x402_version }) => [amount, x402_version])).toEqual([
      [9, 2],
      [3000, 2],
    ]);
  });

  it('is refused once if it comes unchanged, and each time if it differs', () => {
    const bad = makeItem({ accepts: [makeOffer({ amount: '' })] });
    const worse = makeItem({ accepts: [makeOffer({ amount: '0' })] });
    const { outcomes, findings } = build([bad, bad, worse, null, null]);
    expect(outcomes.map((one) => (one.outcome === 'refused' ? one.code : one.outcome))).toEqual([
      ...['no_amount', 'duplicate', 'zero_amount', 'not_an_item', 'duplicate'],
    ]);
    expect(findings.filter(({ severity }) => severity === 'refused')).toHaveLength(3);
  });
});

/** Few values, so that everything collides: origins, routes, dates, names, broken items. */
const item = fc
  .record({
    host: fc.constantFrom('a.example', 'b.example', 'localhost'),
    path: fc.constantFrom('/', '/x', '/x/y'),
    method: fc.constantFrom('GET', 'POST', 'NOPE', undefined),
    amount: fc.constantFrom('1', '2', '3000', '', '-1'),
    network: fc.constantFrom('eip155:8453', 'base', 'base-sepolia'),
    payTo: fc.constantFrom(`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`),
    lastUpdated: fc.constantFrom('2026-01-01', '2026-02-01', undefined, 'never'),
    serviceName: fc.constantFrom('A', 'B', undefined),
    description: fc.constantFrom('One.', 'Two.', ''),
    x402Version: fc.constantFrom(1, 2),
  })
  .map(({ host, path, amount, network, payTo, ...rest }) =>
    makeItem({
      ...rest,
      extensions: {},
      resource: `https://${host}${path}`,
      accepts: [makeOffer({ amount, network, payTo })],
    }),
  );

describe('any feed', () => {
  it('gives the same listings and findings in any order, and every item exactly one outcome', () => {
    const feed = fc.array(fc.oneof({ weight: 9, arbitrary: item }, fc.jsonValue()), { maxLength: 25 });
    const shuffled = feed.chain((items) =>
      fc.tuple(fc.constant(items), fc.shuffledSubarray([...items.keys()], { minLength: items.length })),
    );
    fc.assert(
      fc.property(shuffled, ([items, order]) => {
        const straight = build(items);
        const other = build(order.map((index) => items[index]));
        expect(other.declarations).toEqual(straight.declarations);
        expect(other.findings).toEqual(straight.findings);
        expect(straight.outcomes).toHaveLength(items.length);
        expect(Object.keys(straight.outcomes)).toHaveLength(items.length);
        const count = (outcome: string) => straight.outcomes.filter((one) => one.outcome === outcome).length;
        expect(count('taken')).toBe(straight.declarations.flatMap(({ routes }) => routes).length);
        expect(count('refused')).toBe(straight.findings.filter(({ severity }) => severity === 'refused').length);
      }),
      { numRuns: 200 },
    );
  });
});
