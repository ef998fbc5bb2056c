import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findListing } from '../../src/catalogue/read/listings.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { storeListing } from '../../src/catalogue/write/publication.ts';
import { CATEGORIES } from '../../src/model/catalogue.ts';
import { isLive, type LiveListing } from '../../src/model/listing.ts';
import { listCounted, type RouteProof } from '../../src/model/route.ts';
import { findListPart, type ListFilter } from '../../src/published/page-lists.ts';
import { type AgentItem, buildAgentItem } from '../../src/views/listing/item.ts';
import { FACET_NAMES, type Facets, listSort } from '../../src/views/listing/query.ts';
import { makeCatalogue, makeDeclaration, makeRoute, makeTerms, NOW } from '../builders.ts';
import { SITE, serveLive } from '../http/serving.ts';
import { inTurn } from '../in-turn.ts';
import { recordDeclaration } from '../written.ts';

/** Words that no listing has unless it is given one, and that mean nothing else. */
const WORDS = ['brimbling', 'quazzle', 'ostravik'] as const;
const PROVIDERS = ['Alpha Works', 'ALPHA WORKS', 'Alpha', 'Épicerie 9'] as const;
const TIMES = ['2026-11-01T00:00:00.000Z', '2026-11-10T12:30:00.000Z', '2026-11-20T23:59:59.999Z'] as const;
const AMOUNTS = [1000, 10_000, 10_001, 250_000] as const;

/** The field of a shape whose words are in its first route alone. */
const FIRST_ROUTE = 6;

/** A payment that proves a route. */
const PROOF: RouteProof = {
  ...{ receipt_id: '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01', network: 'base', amount: 1000, verified_at: NOW },
  ...{ pay_to: '0x1', transaction: '0x1', public_chain: true, request: null, transaction_url: null },
};

/** What differs from one listing of a random catalogue to the next. */
interface Shape {
  category: (typeof CATEGORIES)[number];
  provider: string;
  /** Those set aside are named by strangers alone. Without any other, the listing has a price and a network as a whole. */
  routes: { amount: number; networks: ('base' | 'solana')[]; aside: boolean }[];
  /** Networks on which payment was seen; on the others it is only declared. */
  seen: ('base' | 'solana')[];
  verified: boolean;
  score: number | null;
  updated: string;
  /** Median latency; null where it is not known. */
  latency: number | null;
  /** When it was verified, if it is. */
  proved: string;
  words: string[];
  field: number;
}

const shape: fc.Arbitrary<Shape> = fc.record({
  category: fc.constantFrom(...CATEGORIES),
  provider: fc.constantFrom(...PROVIDERS),
  routes: fc.array(
    fc.record({
      amount: fc.constantFrom(...AMOUNTS),
      networks: fc.constantFrom<('base' | 'solana')[]>(['base'], ['solana'], ['base', 'solana']),
      aside: fc.boolean(),
    }),
    { maxLength: 3 },
  ),
  seen: fc.constantFrom<('base' | 'solana')[]>([], ['base'], ['solana'], ['base', 'solana']),
  verified: fc.boolean(),
  score: fc.option(fc.constantFrom(0, 40, 40.5, 99)),
  updated: fc.constantFrom(...TIMES),
  latency: fc.option(fc.constantFrom(0, 90, 1200)),
  proved: fc.constantFrom(...TIMES),
  words: fc.uniqueArray(fc.constantFrom(...WORDS), { maxLength: 2 }),
  field: fc.nat(5),
});

type Query = Record<string, string>;

/** Queries that one and the same route must meet in more than one way. */
const OF_ROUTES: readonly Query[] = [
  { can: 'v2,evm,exact,eip3009', max_price_usdc: '0.01' },
  { can: 'v2,svm,exact', verified: 'true', sort: 'price' },
  { can: 'v2,evm,svm,exact,eip3009', network: 'solana', seen: 'true' },
  { path: '/v1/1', max_price_usdc: '0.01' },
  { path: '/v1/1', can: 'v2,svm,exact', sort: 'updated' },
  { path: '/v1/1', verified: 'true' },
  { path: '/v1/0', network: 'base' },
];

const query: fc.Arbitrary<Query> = fc
  .record(
    {
      q: fc.constantFrom(...WORDS, 'brimbling quazzle', 'QUAZZLE'),
      category: fc.constantFrom(...CATEGORIES),
      network: fc.constantFrom('base', 'solana'),
      seen: fc.constantFrom('true', 'false'),
      verified: fc.constantFrom('true', 'false'),
      band: fc.constantFrom('established', 'thin', 'unscored'),
      max_price_usdc: fc.constantFrom('0.0005', '0.01', '0.010001', '1'),
      provider: fc.constantFrom('alpha works', 'ALPHA', 'épicerie 9', 'works'),
      can: fc.constantFrom('v2,evm,exact,eip3009', 'v2,svm,exact', 'v2,evm,svm,exact,eip3009', 'v2,evm,upto,permit2'),
      path: fc.constantFrom('/v1/0', '/v1/2', '/v2'),
      host: fc.constantFrom('n0.example-provider.com', 'N1.example-provider.com'),
      updated_since: fc.constantFrom(...TIMES, '2026-11-10', '2026-11-10T12:30:00.001Z'),
      sort: fc.constantFrom(...listSort.options),
    },
    { requiredKeys: [] },
  )
  .map((record) => ({ ...record }));

/** Says, from the listing itself, whether it satisfies everything that a query asks but its words. */
function isSatisfying(listing: LiveListing, wanted: Query): boolean {
  const item = buildAgentItem(listing, SITE);
  const isOfRoutes = wanted.can !== undefined || wanted.path !== undefined;
  const isWhole = listCounted(listing.routes).length === 0;
  return (
    (wanted.category ?? item.category) === item.category &&
    (!(wanted.network || wanted.seen) || listing.networks.some((entry) => isNetworkSatisfying(entry, wanted))) &&
    ((isWhole && !isOfRoutes) || listing.routes.some((route) => isRouteSatisfying(route, wanted))) &&
    (!wanted.host || new URL(listing.base_url).host === wanted.host.toLowerCase()) &&
    (!wanted.verified || String(item.verified_route_count > 0) === wanted.verified) &&
    (wanted.band ?? item.reliability_band) === item.reliability_band &&
    (!wanted.max_price_usdc || item.price_min_usdc <= Number(wanted.max_price_usdc)) &&
    (!wanted.provider || item.provider_name.toLowerCase() === wanted.provider.toLowerCase()) &&
    (!wanted.updated_since || new Date(item.updated_at) >= new Date(wanted.updated_since))
  );
}

/** Says whether a listing is paid on a network as a query asks. */
function isNetworkSatisfying({ key, advertised, declared }: LiveListing['networks'][number], wanted: Query): boolean {
  if ((wanted.network ?? key) !== key || !(advertised || declared)) return false;
  return !wanted.seen || String(advertised) === wanted.seen;
}

/** Says whether one route has all that a query asks of a route. */
function isRouteSatisfying(route: LiveListing['routes'][number], wanted: Query): boolean {
  const { verification, path, terms, set_aside } = route;
  if (wanted.path !== undefined && path !== wanted.path) return false;
  // Nothing that only strangers say of offers counts.
  if (set_aside) return !(wanted.network || wanted.max_price_usdc || wanted.can || wanted.verified === 'true');
  if (wanted.verified === 'true' && verification !== 'settlement-verified') return false;
  return terms.some(
    ({ network, amount }) =>
      (wanted.network ?? network) === network &&
      (wanted.can === undefined || isPayableBy(wanted.can, network)) &&
      (!wanted.max_price_usdc || amount / 1e6 <= Number(wanted.max_price_usdc)),
  );
}

/** Says whether a client that can do something can pay the offers here, which are all of the scheme "exact". */
function isPayableBy(can: string, network: string): boolean {
  const needs = network === 'base' ? ['evm', 'exact', 'eip3009'] : ['svm', 'exact'];
  return needs.every((need) => can.split(',').includes(need));
}

/** Says whether a word is anywhere in what can be searched. */
function hasWord({ title, tagline, description, routes }: LiveListing, word: string): boolean {
  const texts = [title, tagline, description, ...routes.flatMap((route) => [route.path, route.description])];
  return texts.some((text) => text.toLowerCase().includes(word.toLowerCase()));
}

/** Makes a catalogue of listings so shaped, and serves it. */
async function serveShapes(shapes: readonly Shape[]) {
  const catalogue = await makeCatalogue();
  await writeCatalogue(catalogue, NOW, async (writing) => {
    for (const [n, { routes, words, field, ...rest }] of shapes.entries()) {
      const text = (at: number, otherwise: string) => (field === at ? `${otherwise} ${words.join(' ')}` : otherwise);
      const slug = `listing-${String(n * 7919).slice(-3)}-${n}`;
      const declaration = makeDeclaration({
        slug,
        base_url: `https://api.provider-${n}.com`,
        title: text(0, 'Title'),
        tagline: text(1, 'Tagline.'),
        description: text(2, 'Description.'),
        category: rest.category,
        provider_name: rest.provider,
        ...(routes.length === 0 && { price: { min: 1000, max: 10_001 }, networks: ['solana'] }),
        routes: routes.map(({ amount, networks }, at) =>
          makeRoute({
            path: field === 3 ? `/v1/${at}/${words.join('/')}` : `/v1/${at}`,
            description: text(at === 0 && field === FIRST_ROUTE ? FIRST_ROUTE : 4, 'Route.'),
            terms: networks.map((network) => makeTerms({ network, amount })),
          }),
        ),
      });
      await recordDeclaration(writing, declaration);
      const listing = await findListing(writing.catalogue, { slug });
      if (!listing) throw new Error(`no ${slug}`);
      const isProved = rest.verified && routes.length > 0;
      listing.routes = listing.routes.map((one, at) =>
        routes[at]?.aside && !(isProved && at === 0) ? { ...one, set_aside: true } : one,
      );
      const [route, ...others] = listing.routes;
      if (route && rest.verified) {
        const proof = { ...PROOF, verified_at: rest.proved };
        listing.routes = [{ ...route, verification: 'settlement-verified', proof, proofs: [proof] }, ...others];
      }
      const band = rest.score === null ? 'unscored' : rest.score > 50 ? 'established' : 'thin';
      const reliability = { ...listing.reliability, score: rest.score, band } as const;
      const latency = rest.latency === null ? null : { median_ms: rest.latency, p95_ms: 2000, probes: 12 };
      const networks = listing.networks.map((entry) => {
        const isUnseen = entry.advertised && !rest.seen.includes(entry.key);
        return isUnseen ? { ...entry, advertised: false, declared: true as const } : entry;
      });
      const changed = { ...listing, networks, reliability, latency, updated_at: rest.updated };
      await storeListing(writing.catalogue, changed, changed);
    }
  });
  const found = await inTurn(shapes, (_, n) =>
    findListing(catalogue, { slug: `listing-${String(n * 7919).slice(-3)}-${n}` }),
  );
  const listings = found.flatMap((listing) => (listing && isLive(listing) ? [listing] : []));
  const { get, reading } = await serveLive(catalogue);
  const ask = async (wanted: Query): Promise<Answer> => {
    const response = await get(`/agent/list?${new URLSearchParams(wanted)}`);
    expect(response.status).toBe(200);
    return (await response.json()) as Answer;
  };
  const countOnPages = (shown: ListFilter) => findListPart(reading.published, reading.getSnapshot(), shown, 1)?.total;
  return { listings, ask, countOnPages, close: () => reading.close() };
}

interface Answer {
  catalogue: object;
  filters: Query;
  total: number;
  facets?: Facets;
  next_cursor?: string;
  listings: AgentItem[];
}

/** Gives what an order compares, so that it rises from one listing to the next. */
function getKey(item: AgentItem, sort: string): [number | string, string] {
  const keys: Record<string, number | string> = {
    price: item.price_min_usdc,
    updated: -new Date(item.updated_at).getTime(),
    reliability: item.reliability_score === null ? 1 : -item.reliability_score,
    latency: item.latency?.median_ms ?? Number.POSITIVE_INFINITY,
    proof: item.last_verified_at === null ? 0 : -new Date(item.last_verified_at).getTime(),
  };
  return [keys[sort] ?? 0, item.slug];
}

describe('the filters of the list, in any combination over any catalogue', () => {
  it('give all that satisfies them and nothing else, in order, counted, page by page', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(shape, { maxLength: 30 }),
        fc.array(fc.tuple(query, fc.integer({ min: 1, max: 12 })), { minLength: 25, maxLength: 25 }),
        async (shapes, queries) => {
          const { listings, ask, countOnPages, close } = await serveShapes(shapes);
          const orders = listSort.options.map((sort): [Query, number] => [{ sort }, 7]);
          const ofRoutes = OF_ROUTES.map((wanted): [Query, number] => [wanted, 2]);
          for (const [wanted, limit] of [...queries, ...orders, ...ofRoutes]) {
            const whole = await ask({ ...wanted, limit: '1000' });
            const { q } = wanted;
            // One word is matched by all that have it; how much of several it takes is the ranking's to say.
            const found = q?.includes(' ')
              ? (await ask({ q, limit: '1000' })).listings.map(({ slug }) => slug)
              : undefined;
            const isWanted = (listing: LiveListing) =>
              isSatisfying(listing, wanted) &&
              (q === undefined || (found ? found.includes(listing.slug) : hasWord(listing, q)));
            const slugs = whole.listings.map(({ slug }) => slug);
            expect([...slugs].sort(), JSON.stringify(wanted)).toEqual(
              listings
                .filter(isWanted)
                .map(({ slug }) => slug)
                .sort(),
            );
            expect(whole.total).toBe(slugs.length);
            expect(whole.next_cursor).toBeUndefined();
            const sort = whole.filters.sort ?? '';
            expect(sort).toBe(wanted.sort === 'relevance' && !q ? 'name' : (wanted.sort ?? (q ? 'relevance' : 'name')));
            expect(whole.filters).toMatchObject({
              ...wanted,
              ...(wanted.verified && { verified: wanted.verified === 'true' }),
              ...(wanted.seen && { seen: wanted.seen === 'true' }),
              ...(wanted.host && { host: wanted.host.toLowerCase() }),
              sort,
            });
            if (sort !== 'relevance') {
              const keys = whole.listings.map((item) => getKey(item, sort));
              const sorted = keys.toSorted(([a, one], [b, other]) =>
                a === b ? (one < other ? -1 : 1) : a < b ? -1 : 1,
              );
              expect(keys).toEqual(sorted);
            }
            const paged: string[] = [];
            let cursor: string | undefined;
            do {
              const page = await ask({ ...wanted, limit: String(limit), ...(cursor && { cursor }) });
              expect(page.total).toBe(whole.total);
              expect(page.listings.length).toBe(Math.min(limit, whole.total - paged.length));
              paged.push(...page.listings.map(({ slug }) => slug));
              cursor = page.next_cursor;
            } while (cursor !== undefined);
            expect(paged).toEqual(slugs);
          }
          // The pages of a list have what the search finds by the same filter.
          for (const shown of [{ network: 'base' }, { network: 'solana' }, { verified: true }] as ListFilter[]) {
            const { total } = await ask(
              Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, String(value)])),
            );
            expect([shown, countOnPages(shown)]).toEqual([shown, total]);
          }
          close();
        },
      ),
      { numRuns: 3 },
    );
  });

  it('are counted by the values of each: as many as match with that value in place of the one that is set', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          shape.map((one) => ({ ...one, field: one.field > 2 ? FIRST_ROUTE : one.field })),
          { minLength: 10, maxLength: 30 },
        ),
        fc.array(query, { minLength: 6, maxLength: 6 }),
        async (shapes, queries) => {
          const { ask, close } = await serveShapes(shapes);
          // Few match many filters at once, so each is tried with less than it asks, too.
          const { category: _category, max_price_usdc: _price, band: _band, ...fewer } = queries[0] ?? {};
          for (const wanted of [
            {},
            { q: 'brimbling' },
            { verified: 'true' },
            { seen: 'true' },
            { seen: 'false' },
            fewer,
            ...queries,
          ]) {
            const { facets, ...counted } = await ask({ ...wanted, facets: 'true', limit: '1' });
            const { total, filters } = counted;
            expect(filters).not.toHaveProperty('facets');
            // What counts facets finds the same listings as what finds lists alone.
            const { catalogue: _catalogue, ...uncounted } = await ask({ ...wanted, limit: '1' });
            expect(counted).toMatchObject(uncounted);
            for (const name of FACET_NAMES) {
              const counts = facets?.[name] ?? [];
              for (const { value, count } of counts) {
                const narrowed = await ask({ ...wanted, [name]: value, limit: '1' });
                expect(count, `${JSON.stringify(wanted)} by ${name}=${value}`).toBe(narrowed.total);
              }
              if (name !== 'category' && name !== 'band') continue;
              // A listing has one of each; the addresses of a product that is folded may have several.
              const { [name]: _set, ...others } = wanted as Query;
              const sum = counts.reduce((all, { count }) => all + count, 0);
              const whole = name in wanted ? (await ask(others)).total : total;
              if ('q' in wanted) expect(sum, JSON.stringify(wanted)).toBeGreaterThanOrEqual(whole);
              else expect(sum, JSON.stringify(wanted)).toBe(whole);
            }
            const [proved, unproved] = facets?.verified ?? [];
            const isOfListings = !('q' in wanted || 'network' in wanted || 'max_price_usdc' in wanted);
            if (isOfListings && !('verified' in wanted))
              expect((proved?.count ?? 0) + (unproved?.count ?? 0)).toBe(total);
          }
          close();
        },
      ),
      { numRuns: 3 },
    );
  });

  it('name the first route at a path that has all that is asked', async () => {
    const catalogue = await makeCatalogue();
    const price = (amount: number) => [makeTerms({ amount })];
    const routes = [
      makeRoute({ method: 'GET', path: '/other', terms: price(1000) }),
      makeRoute({ method: 'GET', path: '/quote', terms: price(50_000) }),
      makeRoute({ method: 'POST', path: '/quote', terms: price(1000) }),
      makeRoute({ method: 'PUT', path: '/quote', terms: price(2000) }),
    ];
    await writeCatalogue(catalogue, NOW, (writing) =>
      recordDeclaration(writing, makeDeclaration({ slug: 'quotes', routes })),
    );
    const { get } = await serveLive(catalogue);
    const find = async (wanted: Query) => {
      const answer = await (await get(`/agent/list?${new URLSearchParams(wanted)}`)).json();
      return answer.listings.map(({ route }: { route: { method: string } }) => route.method);
    };
    expect(await find({ path: '/quote' })).toEqual(['GET']);
    expect(await find({ path: '/quote', max_price_usdc: '0.01' })).toEqual(['POST']);
    expect(await find({ path: '/quote', can: 'evm', max_price_usdc: '0.0001' })).toEqual([]);
  });

  it('find a listing by the price and network that it has as a whole, whatever routes strangers name', async () => {
    const catalogue = await makeCatalogue();
    const whole = { slug: 'whole', base_url: 'https://whole.example-provider.com', title: 'Brimbling' };
    const source = { kind: 'bazaar', name: 'https://feed.example/discovery/resources', observed_at: NOW } as const;
    const phantom = makeRoute({ path: '/p/0', description: 'Quazzle.', terms: [makeTerms({ amount: 5_000_000 })] });
    await writeCatalogue(catalogue, NOW, async (writing) => {
      const said = { price: { min: 20_000, max: 20_000 }, networks: ['base' as const], routes: [] };
      await recordDeclaration(writing, makeDeclaration({ ...whole, ...said }));
      await recordDeclaration(writing, makeDeclaration({ ...whole, source, routes: [phantom] }));
    });
    const { get } = await serveLive(catalogue);
    const ask = async (wanted: Query) =>
      (await (await get(`/agent/list?${new URLSearchParams({ ...wanted, facets: 'true' })}`)).json()) as Answer;
    expect((await ask({})).listings).toMatchObject([{ slug: 'whole', price_min_usdc: 0.02, endpoints_count: 0 }]);
    const found: Query[] = [{ network: 'base' }, { max_price_usdc: '0.02' }, { network: 'base', max_price_usdc: '1' }];
    const notFound: Query[] = [{ network: 'solana' }, { max_price_usdc: '0.01' }, { can: 'v2,evm,exact,eip3009' }];
    for (const words of [{}, { q: 'brimbling' }] as Query[]) {
      for (const wanted of found) {
        const { total, facets } = await ask({ ...words, ...wanted });
        expect([total, facets?.network], JSON.stringify({ ...words, ...wanted })).toMatchObject([
          1,
          [
            { value: 'base', count: 1 },
            { value: 'solana', count: 0 },
          ],
        ]);
      }
      for (const wanted of notFound) expect((await ask({ ...words, ...wanted })).total).toBe(0);
      // What strangers say of that route is not what the listing asks.
      expect((await ask({ ...words, path: '/p/0', network: 'base' })).total).toBe(0);
    }
  });

  it('find what is on a host: with a query after its root, and by the path that is called or that the listing shows', async () => {
    const catalogue = await makeCatalogue();
    const declare = (slug: string, base_url: string, path: string) =>
      makeDeclaration({ slug, base_url, routes: [makeRoute({ path })] });
    await writeCatalogue(catalogue, NOW, async (writing) => {
      await recordDeclaration(writing, declare('tiered', 'https://tiered.example-provider.com/?tier=1', '/v1/quote'));
      await recordDeclaration(writing, declare('based', 'https://based.example-provider.com/base', '/v1/quote'));
    });
    const { get } = await serveLive(catalogue);
    const find = async (wanted: Query) => {
      const { listings } = (await (await get(`/agent/list?${new URLSearchParams(wanted)}`)).json()) as Answer;
      return listings.map(({ slug }) => slug);
    };
    expect(await find({ host: 'tiered.example-provider.com' })).toEqual(['tiered']);
    const host = 'based.example-provider.com';
    for (const path of ['/v1/quote', '/base/v1/quote']) expect(await find({ host, path })).toEqual(['based']);
    expect(await find({ host, path: '/quote' })).toEqual([]);
  });

  it('rank the listings that have all words above those that have one, and verified ones first among equals', async () => {
    const plain: Shape = {
      category: 'Data',
      provider: 'Alpha',
      routes: [{ amount: 1000, networks: ['base'], aside: false }],
      seen: ['base'],
      verified: false,
      score: null,
      updated: NOW,
      latency: null,
      proved: NOW,
      words: ['quazzle'],
      field: 2,
    };
    const { ask } = await serveShapes([
      plain,
      { ...plain, score: 90 },
      { ...plain, verified: true },
      { ...plain, words: ['quazzle', 'brimbling'] },
      { ...plain, words: ['quazzle'], field: 0 },
      ...Array(10).fill({ ...plain, words: [] }),
    ]);
    const { listings } = await ask({ q: 'quazzle brimbling' });
    expect(listings.map(({ slug }) => Number(slug.split('-').at(-1)))).toEqual([3, 4, 2, 1, 0]);
  });
});
