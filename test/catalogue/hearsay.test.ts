import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listStaleListings } from '../../src/catalogue/integrity.ts';
import { listProbeHosts, listProbeTasks } from '../../src/catalogue/read/probe-plan.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { delistListing } from '../../src/catalogue/write/decisions.ts';
import { recordDeclarations } from '../../src/catalogue/write/declarations.ts';
import { publishSampled } from '../../src/catalogue/write/probed.ts';
import { judgeRounds } from '../../src/catalogue/write/rounds.ts';
import { recordSample } from '../../src/catalogue/write/samples.ts';
import { getNextProbeAt } from '../../src/evidence/schedule.ts';
import type { Declaration } from '../../src/model/declaration.ts';
import { type Listing, listCautionSummaries } from '../../src/model/listing.ts';
import type { DeclaredRoute, ItemWords } from '../../src/model/route.ts';
import type { SourceKind } from '../../src/model/source.ts';
import {
  makeCatalogue,
  makeDeclaration,
  makeFolder,
  makeRoute,
  makeSample,
  makeTerms,
  recordVerified,
} from '../builders.ts';
import { fewExamples } from '../few-examples.ts';
import { getTime } from './evidence-world.ts';

const SLUG = 'tides';
const OTHER_PAYEE = '0x6666666666666666666666666666666666666666';
const HOST = 'https://api.tides.com';
const FEED = 'https://feed-a.example/discovery/resources';
const OTHER_FEED = 'https://feed-b.example/discovery/resources';
const WORDS = { title: '', tagline: '', description: '', provider_name: '', service_name: null, category: null };
const HONEST = makeRoute({
  path: '/v1/heights',
  description: 'Heights of tides.',
  item: { service_name: 'Tide Tables' },
});

/** Makes routes that only somebody else names, cheap, to be paid to him, and with his words. */
function makePhantoms(count: number): DeclaredRoute[] {
  return Array.from({ length: count }, (_, at) =>
    makeRoute({
      ...{ path: `/p/${at}`, description: 'DEPRECATED, moved to another host.', example: null },
      terms: [makeTerms({ amount: 1, pay_to: OTHER_PAYEE })],
      item: { service_name: 'Moved', docs_url: 'https://rival.com/docs' },
    }),
  );
}

function declare(
  kind: SourceKind,
  name: string,
  routes: DeclaredRoute[],
  words: Partial<Declaration> = {},
): Declaration {
  const source = { kind, name, observed_at: kind === 'bazaar' ? getTime(0) : null };
  return makeDeclaration({ ...WORDS, ...{ source, slug: SLUG, base_url: HOST, routes }, ...words });
}

/** A market of one honest seller, whose only route always answers, and of what others say about it. */
async function makeMarket(answers = ['/v1/heights'], file?: string) {
  const catalogue = await makeCatalogue(file);
  const failing = new Map<string, string>();
  const say = (hours: number, ...declarations: Declaration[]) =>
    writeCatalogue(catalogue, getTime(hours), (writing) => recordDeclarations(writing, declarations));
  const find = async (): Promise<Listing> => {
    const row = await catalogue.query.selectFrom('listings').select('document').executeTakeFirstOrThrow();
    return JSON.parse(row.document);
  };
  return {
    catalogue,
    say,
    find,
    /** Lives from one hour to another with the real plan: what is due is asked every six hours. */
    live: async (from: number, to: number) => {
      for (let hours = from; hours < to; hours += 6) {
        const at = getTime(hours + 0.1);
        const hosts = await listProbeHosts(catalogue, { kind: 'due', at });
        for (const id of hosts.flatMap(({ listing_ids }) => listing_ids)) {
          for (const { listing_id, delisted_at, route } of await listProbeTasks(catalogue, id, { kind: 'due', at })) {
            const isThere = route.method === 'GET' && answers.includes(route.path);
            if (isThere) failing.delete(id);
            else if (!failing.has(id)) failing.set(id, at);
            const failed = { outcome: 'no_402', status: 404 } as const;
            const sample = makeSample({ at, ...(isThere ? {} : failed) });
            const next = getNextProbeAt(
              { at, failing_since: failing.get(id) ?? null, delisted_at, wait_until: null },
              () => 0.5,
            );
            const taken = { listing_id, route_id: route.id, host: HOST, prober: 'one' };
            await writeCatalogue(catalogue, at, (writing) => recordSample(writing, taken, sample, next));
          }
        }
        await writeCatalogue(catalogue, at, judgeRounds);
        await writeCatalogue(catalogue, at, (writing) => publishSampled(writing, 100, { fresh: true }));
      }
    },
  };
}

/** What readers see of a listing that others could lower, and how well it stands. */
function getStanding({
  title,
  tagline,
  description,
  docs_url,
  category,
  state,
  price_min,
  price_max,
  ...rest
}: Listing) {
  const { routes, reliability } = rest;
  return {
    ...{ title, tagline, description, docs_url, category, state, price_min, price_max },
    score: reliability.score,
    band: reliability.band,
    proofs: routes.filter(({ proof }) => proof !== null).length,
    counted: routes.filter(({ set_aside }) => !set_aside).map(({ path }) => path),
    cautions: listCautionSummaries(rest as Listing).map(({ code }) => code),
  };
}

describe('routes that others invent for a listing whose own route answers', () => {
  let twoDays: Buffer | undefined;

  /** Makes a market that has lived for two days, which every one of them begins with, and has its call paid if so told. */
  async function makeLived(isVerified: boolean) {
    const file = join(makeFolder(), 'catalogue.sqlite');
    if (twoDays) writeFileSync(file, twoDays);
    const market = await makeMarket(undefined, file);
    if (!twoDays) {
      await market.say(0, declare('bazaar', FEED, [HONEST]));
      await market.live(0, 48);
      twoDays = market.catalogue.engine.sqlite.serialize();
    }
    if (isVerified) await recordVerified(market.catalogue, SLUG, '/v1/heights', getTime(48));
    return market;
  }

  const [ATTACKED, END] = [54, 54 + 24 * 18];
  const alone = new Map<boolean, ReturnType<typeof getStanding>>();

  /** How the listing stands at the end where nobody else speaks of it. */
  async function getStandingAlone(isVerified: boolean) {
    const known = alone.get(isVerified);
    if (known) return known;
    const market = await makeLived(isVerified);
    await market.live(ATTACKED, END);
    const standing = getStanding(await market.find());
    alone.set(isVerified, standing);
    return standing;
  }

  it.each([
    [5, 'in a feed of their own', false],
    [60, 'in a feed of their own', true],
    [16, 'in the feed of the seller', true],
  ] as const)('%i of them %s change nothing (settlement-verified: %s)', async (count, where, isVerified) => {
    const attacked = await makeLived(isVerified);
    const phantoms = makePhantoms(count);
    const isOwn = where === 'in the feed of the seller';
    const lie = isOwn
      ? declare('bazaar', FEED, [HONEST, ...phantoms])
      : declare('bazaar', OTHER_FEED, phantoms, { title: 'Moved', docs_url: 'https://rival.com/docs' });
    await attacked.say(50, lie);
    await attacked.live(ATTACKED, END);
    const seen = getStanding(await attacked.find());
    expect(seen).toEqual(await getStandingAlone(isVerified));
    expect(seen).toMatchObject({ title: 'Tide Tables', description: 'Heights of tides.', state: 'live', cautions: [] });
    expect(seen).toMatchObject({ price_min: 1000, price_max: 1000, counted: ['/v1/heights'], band: 'established' });
    expect(await listStaleListings(attacked.catalogue)).toEqual([]);
    const { routes } = await attacked.find();
    const invented = routes.filter(({ path }) => path.startsWith('/p/'));
    expect(invented).toHaveLength(count);
    for (const { set_aside, cautions } of invented) {
      expect(set_aside).toBe(true);
      expect(cautions).toMatchObject([{ code: 'never_seen', evidence: { said_by_others: true } }]);
    }
    // Each was asked, and after three failures once a week.
    if (count === 5) for (const { probe } of invented) expect(probe?.failures).toBeLessThan(8);
  });

  it('are asked beside the real one, which is asked at every visit', async () => {
    const { say, live, find, catalogue } = await makeMarket();
    await say(0, declare('bazaar', FEED, [HONEST]));
    await live(0, 12);
    await say(12, declare('bazaar', OTHER_FEED, makePhantoms(5)));
    const [id = ''] = (await listProbeHosts(catalogue, { kind: 'due', at: getTime(24) })).flatMap(
      (one) => one.listing_ids,
    );
    const tasks = await listProbeTasks(catalogue, id, { kind: 'due', at: getTime(24) });
    expect(tasks.map(({ route }) => route.path)).toEqual(['/p/0', '/v1/heights']);
    await live(12, 12 + 24 * 10);
    expect((await find()).reliability.samples).toBe(42);
  });
});

describe('words and terms of others', () => {
  it('of one newer item in another feed neither mark nor rewrite, before the first 402 or after it', async () => {
    const { say, live, find } = await makeMarket();
    await say(0, declare('bazaar', FEED, [HONEST]));
    const before = getStanding(await find());
    const poison = { ...HONEST, ...makePhantoms(1)[0], path: HONEST.path };
    await say(1, declare('bazaar', OTHER_FEED, [poison], { title: 'Moved', docs_url: 'https://rival.com/docs' }));
    expect(getStanding(await find())).toEqual(before);
    await live(6, 24 * 13);
    const { routes, cautions, docs_url, title } = await find();
    expect([title, docs_url, cautions, routes[0]?.cautions]).toEqual(['Tide Tables', null, [], []]);
  });

  it('are links to the host itself or to the one above it', async () => {
    const { say, find } = await makeMarket();
    const link = async (hours: number, docs_url: string) => {
      await say(hours, declare('bazaar', FEED, [{ ...HONEST, item: { docs_url } }]));
      return (await find()).docs_url;
    };
    expect(await link(0, 'https://docs.tides.com/')).toBeNull();
    expect(await link(1, 'https://tides.com/docs')).toBe('https://tides.com/docs');
    expect(await link(2, 'https://rival.com/docs')).toBeNull();
  });
});

describe('documents of one host', () => {
  const priced = () => declare('openapi', `${HOST}/openapi.json`, [HONEST], { title: 'Tide Tables' });
  const bare = (name: string) => declare('x402_file', name, [makeRoute({ path: '/v1/heights', terms: [] })]);

  it.each([`${HOST}/.well-known/x402`, `${HOST}/zzz.json`])(
    'of which a bare one (%s) erases no price',
    async (name) => {
      for (const order of [
        [priced(), bare(name)],
        [bare(name), priced()],
      ]) {
        const { say, find } = await makeMarket();
        for (const [at, one] of order.entries()) await say(at, one);
        expect(await find()).toMatchObject({ state: 'live', price_min: 1000 });
      }
    },
  );

  it('of today win over a feed and over an older document, by the time they were read', async () => {
    const { say, find } = await makeMarket();
    const at = (amount: number) => [makeRoute({ path: '/v1/heights', terms: [makeTerms({ amount })] })];
    const january = {
      ...declare('bazaar', FEED, at(9000)),
      source: { kind: 'bazaar', name: FEED, observed_at: '2026-01-05T00:00:00.000Z' },
    } as Declaration;
    await say(0, january);
    await say(1, declare('openapi', `${HOST}/openapi.json`, at(2000)));
    expect((await find()).price_min).toBe(2000);
    await say(2, declare('x402_file', `${HOST}/.well-known/x402`, at(3000)));
    expect((await find()).price_min).toBe(3000);
    await say(3, declare('openapi', `${HOST}/openapi.json`, at(2000)));
    expect((await find()).price_min).toBe(2000);
    await say(4, january);
    expect((await find()).price_min).toBe(2000);
  });

  it('beside it on a platform speak for nobody but their own host', async () => {
    const { say, find } = await makeMarket();
    const there = { base_url: 'https://tides.vercel.app' };
    await say(0, declare('bazaar', FEED, [HONEST], there));
    await say(
      1,
      declare('openapi', 'https://rival.vercel.app/openapi.json', makePhantoms(3), { ...there, title: 'Moved' }),
    );
    const { sources, title } = await find();
    expect(title).toBe('Tide Tables');
    expect(sources.map(({ authority }) => authority)).toEqual(['hearsay', 'hearsay']);
  });

  it('make its routes due at once, and a valid 402 lifts a removal by rule', async () => {
    const { say, live, find, catalogue } = await makeMarket();
    await say(0, declare('bazaar', FEED, [HONEST]));
    await live(0, 12);
    await writeCatalogue(catalogue, getTime(13), (writing) =>
      delistListing(writing, SLUG, { by: 'rule', reason: 'no_valid_402' }),
    );
    await say(14, declare('provider', `${HOST}/.well-known/agent-payable.json`, [HONEST]));
    expect(await find()).toMatchObject({ state: 'delisted' });
    const hosts = await listProbeHosts(catalogue, { kind: 'due', at: getTime(14) });
    expect(hosts.map(({ host }) => host)).toEqual([HOST]);
    await live(18, 24);
    expect(await find()).toMatchObject({ state: 'live' });
  });
});

it('a payee that the host’s document announced a day before is a notice, and nothing of it once seen for three days', async () => {
  const { say, find, catalogue } = await makeMarket();
  const moved = [makeTerms({ pay_to: OTHER_PAYEE })];
  const document = `${HOST}/openapi.json`;
  await say(0, declare('openapi', document, [HONEST]));
  const [route] = (await find()).routes;
  const see = async (hours: number, terms = [makeTerms()]) => {
    const at = getTime(hours);
    const taken = { listing_id: (await find()).id, route_id: route?.id ?? '', host: HOST, prober: 'one' };
    await writeCatalogue(catalogue, at, (writing) => recordSample(writing, taken, makeSample({ at, terms }), at));
    await writeCatalogue(catalogue, at, (writing) => publishSampled(writing, 100, { fresh: true }));
    return (await find()).routes[0]?.cautions.map(({ code }) => code);
  };
  expect(await see(0)).toEqual([]);
  await recordVerified(catalogue, SLUG, '/v1/heights', getTime(1));
  await say(10, declare('openapi', document, [{ ...HONEST, terms: moved }]));
  expect(await see(20)).toEqual([]);
  expect(await see(36, moved)).toEqual(['payee_announced']);
  expect((await find()).routes[0]?.proof).toBeNull();
  expect(await see(36 + 71, moved)).toEqual(['payee_announced']);
  expect(await see(36 + 73, moved)).toEqual([]);
});

const claim = fc.record({
  feed: fc.constantFrom(FEED, OTHER_FEED, 'https://feed-c.example/items', 'https://rival.com/openapi.json'),
  path: fc.constantFrom('/v1/heights', '/', '/p/1', '/p/2', '/v1/heights/:port'),
  method: fc.constantFrom('GET' as const, 'POST' as const),
  amount: fc.constantFrom(1, 500, 1000, 90_000),
  pay_to: fc.constantFrom(makeTerms().pay_to, OTHER_PAYEE),
  description: fc.constantFrom('', 'Heights of tides.', 'DEPRECATED.'),
  item: fc.constantFrom<ItemWords>({}, { service_name: 'Moved' }, { description: 'Gone.', tags: ['spam'] }),
  title: fc.constantFrom('', 'Moved'),
  is_probed: fc.boolean(),
});

it('any number of claims by others lowers nothing of a listing whose host or probes speak', async () => {
  // What was before all claims is the same each time.
  const makeKnown = async (hasDocument: boolean) => {
    const market = await makeMarket();
    await market.say(0, declare('bazaar', FEED, [HONEST]));
    if (hasDocument)
      await market.say(0, declare('openapi', `${HOST}/openapi.json`, [HONEST], { title: 'Tide Tables' }));
    await market.live(0, 6 * 14);
    return market.catalogue.engine.sqlite.serialize();
  };
  const [undocumented, documented] = [await makeKnown(false), await makeKnown(true)];
  await fc.assert(
    fc.asyncProperty(fc.array(claim, { minLength: 1, maxLength: 12 }), fc.boolean(), async (claims, hasDocument) => {
      const file = join(makeFolder(), 'catalogue.sqlite');
      writeFileSync(file, hasDocument ? documented : undocumented);
      const market = await makeMarket(undefined, file);
      const before = getStanding(await market.find());
      for (const [feed, ofFeed] of Map.groupBy(claims, (one) => one.feed)) {
        const routes = new Map<string, DeclaredRoute>(feed === FEED ? [['GET /v1/heights', HONEST]] : []);
        for (const { path, method, amount, pay_to, description, item } of ofFeed) {
          const key = `${method} ${path}`;
          // In its own feed an item replaces no other of the same route.
          if (feed === FEED && key === 'GET /v1/heights') continue;
          routes.set(key, makeRoute({ path, method, description, item, terms: [makeTerms({ amount, pay_to })] }));
        }
        const kind = feed.endsWith('.json') ? 'openapi' : 'bazaar';
        await market.say(
          6 * 14,
          declare(kind, feed, [...routes.values()], { title: feed === FEED ? '' : (ofFeed[0]?.title ?? '') }),
        );
      }
      expect(getStanding(await market.find())).toEqual(before);
      if (!claims.some(({ is_probed }) => is_probed)) return;
      await market.live(6 * 14, 6 * 20);
      const { score, band, ...after } = getStanding(await market.find());
      const { score: was, band: _band, ...rest } = before;
      expect(after).toEqual(rest);
      expect([score ?? 0, band]).toEqual([expect.any(Number), 'thin']);
      expect(score).toBeGreaterThanOrEqual(was ?? 0);
      expect(await listStaleListings(market.catalogue)).toEqual([]);
    }),
    fewExamples(25),
  );
});

describe('a price that only others name', () => {
  const name = (path: string, ...amounts: number[]) =>
    makeRoute({ path, terms: amounts.map((amount) => makeTerms({ amount })) });

  it('counts while no other is known, and where the host names routes without one', async () => {
    const { say, find } = await makeMarket();
    const sayAsHost = (hours: number, ...routes: DeclaredRoute[]) =>
      say(hours, declare('openapi', 'https://api.tides.com/openapi.json', routes));
    await say(0, declare('bazaar', FEED, [name('/v1/heights', 700)]));
    expect(await find()).toMatchObject({ state: 'live', price_min: 700, price_max: 700 });
    await sayAsHost(1, name('/v1/heights'), name('/v1/other'));
    expect(await find()).toMatchObject({ state: 'live', price_min: 700, price_max: 700 });
    await sayAsHost(2, name('/v1/heights'), name('/v1/other', 1000));
    expect(await find()).toMatchObject({ state: 'live', price_min: 1000, price_max: 1000 });
  });
});
