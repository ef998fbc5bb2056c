import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listStaleListings } from '../../src/catalogue/integrity.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { recordDeclarations } from '../../src/catalogue/write/declarations.ts';
import { publishListings } from '../../src/catalogue/write/publication.ts';
import { repairListings } from '../../src/catalogue/write/repair.ts';
import type { Declaration } from '../../src/model/declaration.ts';
import { makeFolder } from '../builders.ts';
import { getTime, makeWorld } from '../catalogue/evidence-world.ts';
import { fewExamples } from '../few-examples.ts';
import { inTurn } from '../in-turn.ts';
import { openNewCatalogue } from '../new-catalogue.ts';
import { IDENTITY, makeDeclaration, makeRoute, makeTerms, recordReceiptFor } from '../records.ts';

/** A seller: the title and the provider that a source gives it, its host, and whom it is paid to. */
interface Seller {
  host: string;
  title?: string;
  provider?: string;
  payee?: number;
}

const getSlug = (host: string) => host.replaceAll('.', '-');
const getPayee = (number: number) => `0x${number.toString(16).padStart(40, '0')}`;

function declareSeller({ host, title = '', provider = '', payee }: Seller): Declaration {
  const pay_to = getPayee(payee ?? [...host].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7));
  return makeDeclaration({
    ...{ slug: getSlug(host), base_url: `https://${host}`, title, provider_name: provider },
    routes: [makeRoute({ terms: [makeTerms({ pay_to })] })],
  });
}

async function makeMarket() {
  const world = await makeWorld();
  const { catalogue, find } = world;
  const settle = async () => expect(await listStaleListings(catalogue)).toEqual([]);
  return {
    catalogue,
    /** Declares sellers in one import. */
    list: async (hours: number, ...sellers: Seller[]) => {
      const declarations = sellers.map(declareSeller);
      await writeCatalogue(catalogue, getTime(hours), (writing) => recordDeclarations(writing, declarations));
      await settle();
    },
    verify: async (host: string, hours: number) => {
      const pay_to = (await find(getSlug(host))).routes[0]?.terms[0]?.pay_to ?? '';
      await recordReceiptFor(catalogue, getSlug(host), { pay_to, settled_at: getTime(hours) });
      await settle();
    },
    /** Probes a seller every six hours until it is established. */
    establish: async (host: string, hours: number) => {
      const { routes } = await find(getSlug(host));
      const terms = [makeTerms({ pay_to: routes[0]?.terms[0]?.pay_to ?? '' })];
      await inTurn(Array.from({ length: 58 }), async (_, index) => {
        await world.look(hours + index * 6, { slug: getSlug(host), terms });
      });
      expect((await find(getSlug(host))).reliability.band).toBe('established');
      await settle();
    },
    /** Gives the host that a seller is said to imitate; null without a caution. */
    getImitated: async (host: string) => {
      const { cautions } = await find(getSlug(host));
      return cautions.find(({ code }) => code === 'imitates_name')?.evidence.known_host ?? null;
    },
  };
}

const REAL = { host: 'api.coingecko.com', title: 'CoinGecko', provider: 'CoinGecko' };

const IMITATORS: readonly Seller[] = [
  { host: 'pay.coingecko.io', title: 'CoinGecko' },
  { host: 'coingecko.dev' },
  { host: 'coingecko.xyz', title: 'Prices of coins', provider: 'Anna' },
  { host: 'coingeck0.com', title: 'CoinGeck0' },
  { host: 'c0ingecko.net' },
  { host: 'colngecko.com', title: 'ColnGecko' },
  { host: 'co1ngecko.com', title: 'Co1nGecko' },
  { host: 'one.example', title: 'COlNGECKO' },
  { host: 'two.example', title: 'СоinGесkо' },
  { host: 'three.example', title: 'COINGECКO' },
  { host: 'xn--cingecko-nbh.com' },
  { host: 'coin-gecko.com', title: 'coin-gecko' },
  { host: 'coin-gecko.io' },
  { host: 'coingecko.vercel.app', title: 'CoinGecko' },
  { host: 'coin-gecko.onrender.com' },
  { host: 'coingecko.koyeb.app' },
  { host: 'coingecko.anna.workers.dev', title: 'Coin Gecko' },
  ...['CoinGecko Pro', 'Official CoinGecko', 'CoinGecko API v2', 'CoinGeckoPro', 'get CoinGecko', 'CoinGecko App'].map(
    (title, index) => ({ host: `words-${index}.example`, title }),
  ),
  ...['The 0fficial CoinGecko AP1', 'CoinGecko.com', 'coingecko.io', 'CoinGecko x402', 'CoinGeckoAI'].map(
    (provider, index) => ({ host: `provider-${index}.example`, title: 'Prices', provider }),
  ),
  { host: 'getcoingecko.com' },
  { host: 'coingecko-api.com' },
  { host: 'coingeckoapi.com' },
];

const getHosts = (sellers: readonly Seller[]) => sellers.map(({ host }) => host);

describe('a name of a verified listing', () => {
  it('is found at every other domain, however it is disguised, whichever was imported first', async () => {
    const orders = await inTurn([[REAL, ...IMITATORS], [...IMITATORS].reverse().concat(REAL)], async (sellers) => {
      const { list, verify, getImitated } = await makeMarket();
      await list(0, ...sellers);
      await verify(REAL.host, 1);
      expect(await getImitated(REAL.host)).toBeNull();
      return await inTurn(IMITATORS, async ({ host }) => `${host}: ${await getImitated(host)}`);
    });
    const expected = getHosts(IMITATORS).map((host) => `${host}: ${REAL.host}`);
    expect(orders).toEqual([expected, expected]);
  });

  it('is found where the verified listing has no title but its registered domain', async () => {
    const { list, verify, getImitated } = await makeMarket();
    await list(0, { host: 'coingecko.com' }, { host: 'coingecko.io' }, { host: 'other.example', title: 'CoinGecko' });
    await verify('coingecko.com', 1);
    expect([await getImitated('coingecko.io'), await getImitated('other.example')]).toEqual([
      'coingecko.com',
      'coingecko.com',
    ]);
  });

  it.each<[Seller, Seller]>([
    [
      { host: 'weather.com', title: 'Weather' },
      { host: 'acme.example', title: 'Acme Weather' },
    ],
    [{ host: 'weather.com', title: 'Weather' }, { host: 'acmeweather.com' }],
    [
      { host: 'weather.com', title: 'Weather' },
      { host: 'one.example', title: 'Weather Tides' },
    ],
    [
      { host: 'coingecko.com', title: 'CoinGecko' },
      { host: 'one.example', title: 'CoinGecko Alerts' },
    ],
    [
      { host: 'getaround.com', title: 'Getaround' },
      { host: 'around.com', title: 'Around' },
    ],
    [
      { host: 'openai.com', title: 'OpenAI' },
      { host: 'open.example', title: 'Open' },
    ],
    [
      { host: 'one.example', title: 'The API' },
      { host: 'two.example', title: 'The API' },
    ],
    [
      { host: 'one.example', title: 'AI Services' },
      { host: 'two.example', title: 'AI Services' },
    ],
    [
      { host: 'one.example', title: 'Jam' },
      { host: 'two.example', title: 'Jam' },
    ],
    [{ host: 'tides.vercel.app' }, { host: 'one.example', title: 'Tides' }],
    [
      { host: 'tides.anna.workers.dev', title: 'Tides' },
      { host: 'other.anna.workers.dev', title: 'Tides' },
    ],
    [
      { host: 'api.tides.com', title: 'Tides' },
      { host: 'x402.tides.com', title: 'Tides' },
    ],
    [
      { host: 'tides.com', title: 'Tides', payee: 5 },
      { host: 'tides.dev', title: 'Tides', payee: 5 },
    ],
    [
      { host: 'stripe.com', title: 'Stripe' },
      { host: 'one.example', title: 'Stripes' },
    ],
    [
      { host: 'pass.com', title: 'Pass' },
      { host: 'compass.com', title: 'Compass' },
    ],
    [
      { host: 'time.com', title: 'Time' },
      { host: 'realtime.com', title: 'Realtime' },
    ],
    [
      { host: 'sign.com', title: 'Sign' },
      { host: 'signal.com', title: 'Signal' },
    ],
  ])('is not seen in an honest one: %j, %j', async (known, honest) => {
    const { list, verify, getImitated } = await makeMarket();
    await list(0, known, honest);
    await verify(known.host, 1);
    expect([await getImitated(known.host), await getImitated(honest.host)]).toEqual([null, null]);
  });
});

describe('nobody imitates', () => {
  it('a listing that came later, whether its domain is that name, or it is established or verified', async () => {
    const { list, verify, establish, getImitated } = await makeMarket();
    await list(0, { host: 'api.first-one.dev', title: 'Harbour Tides' });
    await list(
      1,
      { host: 'harbourtides.com', title: 'Harbour Tides' },
      { host: 'mimic.example', title: 'HarbourTides' },
    );
    expect(await getImitated('api.first-one.dev')).toBeNull();
    expect(await getImitated('mimic.example')).toBe('harbourtides.com');
    await establish('mimic.example', 2);
    expect(await getImitated('harbourtides.com')).toBe('mimic.example');
    await verify('harbourtides.com', 400);
    expect([await getImitated('api.first-one.dev'), await getImitated('mimic.example')]).toEqual([
      null,
      'harbourtides.com',
    ]);
    expect(await getImitated('harbourtides.com')).toBeNull();
  });

  it('a listing whose title was made from its host, nor one that is not live, without evidence', async () => {
    const { list, getImitated } = await makeMarket();
    await list(0, { host: 'harbour-tides.dev' }, { host: 'tides.io' }, { host: 'tides.com', title: 'Tides' });
    await list(1, { host: 'one.example', title: 'Harbour Tides' });
    expect(await inTurn(['one.example', 'tides.io'], getImitated)).toEqual([null, null]);
  });

  it('a name that is only like the label of its domain', async () => {
    const { list, getImitated } = await makeMarket();
    await list(0, { host: 'harb0ur-tides.com', title: 'Harbour Tides' });
    await list(1, { host: 'one.example', title: 'Harbour Tides' });
    expect(await getImitated('one.example')).toBeNull();
  });
});

it('a name becomes a listing’s own once a source gives the name that was made from its host', async () => {
  const { list, getImitated } = await makeMarket();
  await list(0, { host: 'tides.com' });
  await list(1, { host: 'one.example', title: 'Tides' });
  expect(await getImitated('one.example')).toBeNull();
  await list(2, { host: 'tides.com', title: 'Tides' });
  expect(await getImitated('one.example')).toBe('tides.com');
});

it('names that were recorded by earlier rules are compared after a repair', async () => {
  const { catalogue, list, verify, getImitated } = await makeMarket();
  await list(0, REAL, { host: 'coingecko.io' });
  await catalogue.query.deleteFrom('listing_names').execute();
  await verify(REAL.host, 1);
  expect(await getImitated('coingecko.io')).toBeNull();
  await writeCatalogue(catalogue, getTime(2), repairListings);
  expect(await getImitated('coingecko.io')).toBe(REAL.host);
});

it('of several the verified one is named, then the one that had the name first', async () => {
  const { list, verify, getImitated } = await makeMarket();
  await list(0, { host: 'tides.net', title: 'Tides' });
  await list(1, { host: 'tides.com', title: 'Tides' }, { host: 'aaa.example', title: 'Tides' });
  await list(2, { host: 'mimic.example', title: 'Tides' });
  expect(await getImitated('mimic.example')).toBe('tides.net');
  await verify('tides.com', 3);
  expect(await getImitated('mimic.example')).toBe('tides.com');
  await verify('aaa.example', 4);
  expect(await getImitated('mimic.example')).toBe('aaa.example');
  expect(await getImitated('tides.net')).toBeNull();
});

const seller = fc.record({
  title: fc.constantFrom('', 'Tides', 'T1des', 'Tides API', 'Tides Pro', 'Harbour', 'Harbour Tides'),
  provider: fc.constantFrom('', '', 'Tides', 'Harbour'),
  payee: fc.constantFrom(1, 2, 3),
  at: fc.integer({ min: 0, max: 2 }),
  is_verified: fc.boolean(),
});
const HOSTS = [
  'tides.com',
  'tides.io',
  't1des.com',
  'tides.vercel.app',
  'harbour.com',
  'api.harbour.com',
  'one.example',
];

it('who imitates whom does not depend on the order in which listings are published', async () => {
  const folder = makeFolder();
  const sellers = fc.array(seller, { minLength: HOSTS.length, maxLength: HOSTS.length });
  const orders = fc.shuffledSubarray([...HOSTS.keys()], { minLength: HOSTS.length });
  await fc.assert(
    fc.asyncProperty(
      sellers,
      fc.array(orders, { minLength: 4, maxLength: 4 }),
      async (all, [declared, paid, ...last]) => {
        const work = async (declaring: readonly number[], paying: readonly number[]) => {
          const catalogue = await openNewCatalogue(join(folder, randomUUID()), { identity: IDENTITY, at: getTime(0) });
          const world = await makeWorld(catalogue);
          const makeSeller = (index: number) => ({ ...(all[index] as (typeof all)[0]), host: HOSTS[index] ?? '' });
          const ordered = declaring.map(makeSeller);
          for (const hours of [0, 1, 2]) {
            for (const one of ordered.filter(({ at }) => at === hours)) await world.declare(declareSeller(one), hours);
          }
          for (const { host, payee, is_verified } of paying.map(makeSeller)) {
            const settled_at = getTime(3);
            if (is_verified) await recordReceiptFor(catalogue, getSlug(host), { pay_to: getPayee(payee), settled_at });
          }
          const read = async () => await inTurn(HOSTS, async (host) => (await world.find(getSlug(host))).cautions);
          const found = await read();
          for (const order of last) {
            const identities = await inTurn(order, async (index) => await world.find(getSlug(HOSTS[index] ?? '')));
            await writeCatalogue(catalogue, getTime(4), (writing) =>
              publishListings(
                writing,
                identities.map(({ id, slug, base_url }) => ({
                  identity: { id, slug, base_url },
                  cause: 'derived_again',
                })),
              ),
            );
          }
          expect(await read()).toEqual(found);
          expect(await listStaleListings(catalogue)).toEqual([]);
          await catalogue.close();
          return found;
        };
        const indices = [...HOSTS.keys()];
        expect(await work(declared ?? [], paid ?? [])).toEqual(await work(indices, indices));
      },
    ),
    fewExamples(5),
  );
});
