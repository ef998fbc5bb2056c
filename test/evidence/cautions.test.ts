import { describe, expect, it } from 'vitest';
import { listStaleListings } from '../../src/catalogue/integrity.ts';
import type { Reply } from '../../src/catalogue/read/replies.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { correctReceipt } from '../../src/catalogue/write/corrections.ts';
import { delistListing } from '../../src/catalogue/write/decisions.ts';
import { withdrawDeclarations } from '../../src/catalogue/write/declarations.ts';
import { publishListing } from '../../src/catalogue/write/publication.ts';
import { recordReplies } from '../../src/catalogue/write/replies.ts';
import { type CautionCode, ON_RECORD_AFTER_DAYS } from '../../src/model/caution.ts';
import { NETWORKS } from '../../src/model/network.ts';
import type { Receipt } from '../../src/model/payment.ts';
import type { Terms } from '../../src/model/terms.ts';
import { declareOthers, type EvidenceWorld, getTime, makeWorld, type Seen } from '../catalogue/evidence-world.ts';
import { inTurn } from '../in-turn.ts';
import { makeDeclaration, makeRoute, makeTerms, recordReceiptFor } from '../records.ts';

const [A, B, C] = ['1', '2', '3'].map((digit) => `0x${digit.repeat(40)}`) as [string, string, string];
const SOLANA = {
  network: 'solana',
  asset: NETWORKS.solana.usdc,
  pay_to: '7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2',
} satisfies Partial<Terms>;
const OTHER_SOLANA = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM';
const ROUND = 6;
const DAY = 24;

/** A catalogue with one or more listings. Every step publishes what is on record. */
async function makeCautioned() {
  const world = await makeWorld();
  const { catalogue } = world;
  let hours = 0;
  const settle = async () => expect(await listStaleListings(catalogue)).toEqual([]);
  const write = async (work: Parameters<typeof writeCatalogue<unknown>>[2]) => {
    await writeCatalogue(catalogue, getTime(hours), work);
    await settle();
  };
  return {
    ...world,
    declare: async (...args: Parameters<EvidenceWorld['declare']>) => {
      const listing = await world.declare(args[0], hours);
      await settle();
      return listing;
    },
    /** Probes a listing a number of times, six hours apart unless said otherwise, with the same result each time. */
    see: async (seen: Seen = {}, times = 1, apart = ROUND) => {
      for (let count = 0; count < times; count++) {
        hours += apart;
        await world.look(hours, seen);
      }
      await settle();
    },
    /** Probes a listing with the same result for as long as it takes to be on record, but for the last round. */
    seeLong: async (seen: Seen = {}) => {
      const [first, last] = [hours + ROUND, hours + ON_RECORD_AFTER_DAYS * DAY];
      for (hours = first; hours < last; hours += DAY) await world.look(hours, seen);
      hours = last;
      await world.look(hours, seen);
      await settle();
    },
    asks: (...offers: Partial<Terms>[]): Seen => ({ terms: offers.map((offer) => makeTerms(offer)) }),
    pay: async (receipt: Partial<Receipt> = {}, slug = 'example-prices') => {
      hours += 1;
      const id = await recordReceiptFor(catalogue, slug, { settled_at: getTime(hours), ...receipt });
      await settle();
      return id;
    },
    write,
    now: () => getTime(hours),
    list: async (slug?: string): Promise<CautionCode[]> => {
      const { cautions, routes } = await world.find(slug);
      return [...cautions, ...routes.flatMap((route) => route.cautions)].map(({ code }) => code);
    },
    get: async (code: CautionCode, slug?: string) => {
      const { cautions, routes } = await world.find(slug);
      return [...cautions, ...routes.flatMap((route) => route.cautions)].find((one) => one.code === code);
    },
    reply: async (replies: Reply[], slug = 'example-prices') => {
      const listing = await world.find(slug);
      await write(async (writing) => {
        await recordReplies(writing, listing.base_url, `${listing.base_url}/file.json`, replies);
        await publishListing(writing, listing, 'declared_by_provider');
      });
    },
  };
}

describe('terms', () => {
  it('that were only declared have a caution until a 402 is seen or a call is paid', async () => {
    const { declare, see, list, get, pay } = await makeCautioned();
    await declare();
    expect(await get('never_seen')).toMatchObject({ since: '2026-11-01T00:00:00.000Z', severity: 'notice' });
    await see({ outcome: 'no_402', status: 404 }, 2);
    expect(await list()).toEqual(['never_seen']);
    await see();
    expect(await list()).toEqual([]);
    await declare({ slug: 'paid-only', base_url: 'https://paid.only-provider.com' });
    expect(await list('paid-only')).toEqual(['never_seen']);
    await pay({}, 'paid-only');
    expect(await list('paid-only')).toEqual([]);
    await declare({ slug: 'flat', base_url: 'https://flat.only-provider.com', routes: [], price: { min: 5, max: 5 } });
    expect(await get('never_seen', 'flat')).toMatchObject({ evidence: { declared_at: '2026-11-01T00:00:00.000Z' } });
  });
});

describe('another payee', () => {
  it('is a danger until it was asked for 14 days', async () => {
    const { declare, see, seeLong, asks, list, get } = await makeCautioned();
    await declare();
    await see({}, 4);
    await seeLong(asks({ pay_to: B }));
    expect(await get('payee_differs')).toMatchObject({
      severity: 'danger',
      since: getTime(5 * ROUND),
      evidence: { network: 'base', pay_to: B, pay_to_before: A },
    });
    await see(asks({ pay_to: B }));
    expect(await list()).toEqual([]);
  });

  it('ends with a delivered call paid to it, and comes back when that receipt is corrected', async () => {
    const { declare, see, asks, list, pay, write } = await makeCautioned();
    await declare();
    await see({}, 2);
    await see(asks({ pay_to: B }));
    await pay({ pay_to: B, delivered: false });
    expect(await list()).toEqual(['undelivered', 'payee_differs']);
    const id = await pay({ pay_to: B });
    expect(await list()).toEqual([]);
    await write((writing) => correctReceipt(writing, id, 'It was a page of errors.'));
    expect(await list()).toEqual(['undelivered', 'payee_differs']);
  });

  it('ends when the earlier payee is named again, and comes back with the other one', async () => {
    const { declare, see, asks, list, get } = await makeCautioned();
    await declare();
    await see({}, 4);
    await see(asks({ pay_to: B }));
    expect(await list()).toEqual(['payee_differs']);
    await see();
    expect(await list()).toEqual([]);
    // One probe long ago does not put it on record.
    await see(asks({ pay_to: B }), 2);
    expect((await get('payee_differs'))?.evidence).toEqual({ network: 'base', pay_to: B, pay_to_before: A });
    await see(asks({ pay_to: C }));
    expect((await get('payee_differs'))?.evidence).toEqual({ network: 'base', pay_to: C, pay_to_before: A });
  });

  it('that was on record before stays known', async () => {
    const { declare, see, seeLong, asks, list } = await makeCautioned();
    await declare();
    await see({}, 2);
    await seeLong(asks({ pay_to: B }));
    await see(asks({ pay_to: B }));
    await see();
    expect(await list()).toEqual([]);
    await see(asks({ pay_to: B }));
    expect(await list()).toEqual([]);
  });

  it('is a danger even if the old one is named beside it', async () => {
    const { declare, see, asks, list, get } = await makeCautioned();
    await declare();
    await see({}, 2);
    await see(asks({ pay_to: A }, { pay_to: B }));
    expect((await get('payee_differs'))?.evidence).toMatchObject({ pay_to: B, pay_to_before: A });
    await see();
    expect(await list()).toEqual([]);
  });

  it('is not forgotten because the price changes with every challenge', async () => {
    const { declare, see, asks, list } = await makeCautioned();
    await declare();
    await see({}, 2);
    await see(asks({ pay_to: B, amount: 900 }));
    for (let count = 1; count < ON_RECORD_AFTER_DAYS; count++)
      await see(asks({ pay_to: B, amount: 900 - count }), 1, DAY);
    expect(await list()).toEqual(['payee_differs']);
    await see(asks({ pay_to: B, amount: 800 }), 1, DAY);
    expect(await list()).toEqual([]);
  });

  it('than the declared one is a danger from the first probe on', async () => {
    const { declare, see, asks, get } = await makeCautioned();
    await declare();
    await see(asks({ pay_to: B }));
    expect((await get('payee_differs'))?.evidence).toMatchObject({ pay_to: B, pay_to_before: A });
  });

  it('on a new network has no caution while no payee is established', async () => {
    const { declare, see, seeLong, asks, list } = await makeCautioned();
    await declare();
    await see({}, 2);
    await see(asks({}, SOLANA));
    expect(await list()).toEqual([]);
    await seeLong(asks({}, SOLANA));
    await see(asks({}, SOLANA));
    expect(await list()).toEqual([]);
  });

  it.each([
    ['beside', [{}, SOLANA]],
    ['in place of', [SOLANA]],
  ])('on a new network, %s an established one, is a danger for 14 days', async (_name, offers) => {
    const { declare, see, seeLong, asks, list, get } = await makeCautioned();
    await declare();
    await seeLong();
    await see();
    await see(asks(...offers));
    expect(await list()).toEqual(['payee_differs']);
    expect((await get('payee_differs'))?.evidence).toEqual({
      network: 'solana',
      pay_to: SOLANA.pay_to,
      network_before: 'base',
      pay_to_before: A,
    });
    await see(asks(...offers), ON_RECORD_AFTER_DAYS - 1, DAY);
    await see(asks(...offers), 3);
    expect(await list()).toEqual(['payee_differs']);
    await see(asks(...offers));
    expect(await list()).toEqual([]);
  });

  it('on a new network has no caution if a paid call established it or the provider names it', async () => {
    const paid = await makeCautioned();
    await paid.declare();
    await paid.see();
    await paid.pay();
    await paid.see(paid.asks({}, SOLANA), 3);
    expect(await paid.list()).toEqual(['payee_differs']);
    await paid.see(paid.asks({}, { ...SOLANA, pay_to: OTHER_SOLANA }));
    expect((await paid.get('payee_differs'))?.evidence).toMatchObject({ pay_to: OTHER_SOLANA, pay_to_before: A });
    await paid.pay({ network: 'solana', asset: SOLANA.asset, pay_to: OTHER_SOLANA });
    expect(await paid.list()).toEqual([]);
    const named = await makeCautioned();
    await named.declare({ routes: [makeRoute({ terms: [makeTerms(), makeTerms(SOLANA)] })] });
    await named.seeLong();
    await named.see();
    await named.see(named.asks({}, SOLANA));
    expect(await named.list()).toEqual([]);
  });
});

describe('a payee that rotates', () => {
  it('has a caution until one payee is named for three days', async () => {
    const { declare, see, asks, list } = await makeCautioned();
    await declare({ routes: [makeRoute({ terms: [makeTerms({ pay_to: null })] })] });
    await see({ ...asks({ pay_to: B }), payee_rotates: true });
    expect(await list()).toEqual(['payee_rotates']);
    await see(asks({ pay_to: C }), 11);
    expect(await list()).toEqual(['payee_rotates']);
    await see(asks({ pay_to: C }));
    expect(await list()).toEqual([]);
  });

  it('puts none of its payees on record', async () => {
    const { declare, see, asks, list, get } = await makeCautioned();
    await declare();
    await see({}, 8);
    await see({ ...asks({ pay_to: C }), payee_rotates: true });
    expect(await list()).toEqual(['payee_rotates']);
    await see(asks({ pay_to: B }), 12);
    expect((await get('payee_differs'))?.evidence).toMatchObject({ pay_to: B, pay_to_before: A });
  });
});

describe('a higher price', () => {
  it('has a caution until it falls, was asked for 14 days, or a call was paid at it', async () => {
    const { declare, see, seeLong, asks, list, get, pay } = await makeCautioned();
    await declare();
    await see({}, 2);
    await see(asks({ amount: 2000 }), 2);
    expect(await get('price_above_record')).toMatchObject({
      severity: 'notice',
      since: getTime(3 * ROUND),
      evidence: { network: 'base', amount: 2000, amount_before: 1000 },
    });
    await see();
    expect(await list()).toEqual([]);
    await seeLong(asks({ amount: 2000 }));
    expect(await list()).toEqual(['price_above_record']);
    await see(asks({ amount: 2000 }));
    expect(await list()).toEqual([]);
    await see(asks({ amount: 3000 }));
    await pay({ amount: 2000 });
    expect(await list()).toEqual(['price_above_record']);
    await pay({ amount: 3000 });
    expect(await list()).toEqual([]);
    await see(asks({ amount: 4000, scheme: 'upto' }));
    await pay({ amount: 3000, ceiling: 3000 });
    expect(await list()).toEqual(['price_above_record']);
    await pay({ amount: 120, ceiling: 4000 });
    expect(await list()).toEqual([]);
  });

  it('is compared with the price on record, however that became so', async () => {
    const { declare, see, asks, list, get } = await makeCautioned();
    await declare();
    await see({}, 2);
    await see(asks({ amount: 5000 }));
    await see(asks({ amount: 2000 }));
    expect((await get('price_above_record'))?.evidence).toMatchObject({ amount: 2000, amount_before: 1000 });
    for (const amount of [2100, 2200, 2300]) await see(asks({ amount }));
    expect(await get('price_above_record')).toMatchObject({
      since: getTime(3 * ROUND),
      evidence: { amount: 2300, amount_before: 1000 },
    });
    // A price that was lower for a moment is not the one on record.
    await see(asks({ amount: 500 }));
    await see();
    expect(await list()).toEqual([]);
  });

  it('and another payee are two cautions, and each ends by its own rule', async () => {
    const { declare, see, asks, list } = await makeCautioned();
    await declare();
    await see({}, 2);
    await see(asks({ pay_to: B, amount: 2000 }));
    expect(await list()).toEqual(['payee_differs', 'price_above_record']);
    await see(asks({ pay_to: B, amount: 1000 }));
    expect(await list()).toEqual(['payee_differs']);
    await see(asks({ pay_to: A, amount: 2000 }));
    expect(await list()).toEqual(['price_above_record']);
    await see();
    expect(await list()).toEqual([]);
  });
});

describe('failing probes', () => {
  it('are a caution from the third on, raise no further revision, and end with a valid 402', async () => {
    const { declare, see, list, get, getRevision } = await makeCautioned();
    await declare();
    await see({}, 2);
    const failing = { outcome: 'server_error', status: 500 } as const;
    await see(failing, 2);
    expect(await list()).toEqual([]);
    await see(failing);
    expect(await get('probes_failing')).toMatchObject({
      severity: 'notice',
      evidence: { outcome: 'server_error', failures: 3 },
    });
    const revision = await getRevision();
    await see(failing, 3);
    expect((await getRevision()) - revision, 'only what is published daily').toBeLessThanOrEqual(1);
    await see(failing, 16);
    expect((await getRevision()) - revision).toBeLessThanOrEqual(6);
    expect(await list()).toEqual(['probes_failing']);
    await see();
    expect(await list()).toEqual([]);
  });

  it('that are our own fault do not count', async () => {
    const world = await makeWorld();
    await world.declare();
    const slugs = ['example-prices', ...(await declareOthers(world, 6))];
    const lookAtAll = async (hours: number, seen: Seen) => {
      for (const slug of slugs) await world.see(hours, { slug, ...seen });
      await world.publish(hours);
      expect(await listStaleListings(world.catalogue)).toEqual([]);
      const listings = await inTurn(slugs, (slug) => world.find(slug));
      const said = listings.flatMap(({ routes }) => routes.flatMap(({ cautions }) => cautions));
      expect(said.map(({ code }) => code)).toEqual([]);
    };
    for (const hours of [6, 12]) await lookAtAll(hours, {});
    for (let hours = 18; hours <= 18 + 5 * ROUND; hours += ROUND)
      await lookAtAll(hours, { outcome: 'timeout', status: null });
    await lookAtAll(60, {});
  });

  it('with the same answers as before raise no revision', async () => {
    const { declare, see, getRevision } = await makeCautioned();
    await declare();
    await see({}, 60);
    const revision = await getRevision();
    await see({}, 3);
    expect((await getRevision()) - revision).toBeLessThanOrEqual(1);
  });
});

describe('an offer that every source withdrew', () => {
  it('has a caution until a source offers it again', async () => {
    const { declare, see, list, write, get, now } = await makeCautioned();
    await declare();
    await see();
    await write((writing) => withdrawDeclarations(writing, makeDeclaration().source, new Set()));
    expect(await get('withdrawn')).toMatchObject({ severity: 'notice', since: now() });
    await see({}, 2);
    expect(await list()).toEqual(['withdrawn']);
    await declare();
    expect(await list()).toEqual([]);
  });
});

describe('a paid call', () => {
  it('that delivers nothing ends the verification on both networks, until a later one is delivered', async () => {
    const { declare, see, asks, find, list, get, pay } = await makeCautioned();
    const both = [makeTerms(), makeTerms(SOLANA)];
    await declare({ routes: [makeRoute({ terms: both })] });
    await see(asks(...both));
    await pay();
    await pay({ ...SOLANA, genesis: NETWORKS.solana.genesis } as Partial<Receipt>);
    expect((await find()).routes[0]?.proofs.map(({ network }) => network)).toEqual(['solana', 'base']);
    const id = await pay({ delivered: false });
    expect(await get('undelivered')).toMatchObject({
      severity: 'danger',
      evidence: { receipt_id: id, network: 'base' },
    });
    expect([
      (await find()).routes[0]?.proofs,
      (await find()).networks.map((entry) => entry.settlement_verified),
    ]).toEqual([[], [false, false]]);
    await pay({ delivered: false, unrecognised: 'html_page' });
    expect(await list()).toEqual(['unrecognised']);
    await pay();
    expect([await list(), (await find()).routes[0]?.proofs.map(({ network }) => network)]).toEqual([[], ['base']]);
  });

  it('that is corrected no longer counts for or against its route', async () => {
    const { declare, see, find, list, pay, write } = await makeCautioned();
    await declare();
    await see();
    const first = await pay();
    const failed = await pay({ delivered: false });
    await write((writing) => correctReceipt(writing, failed, 'The fault was ours: the request had no body.'));
    expect([await list(), (await find()).routes[0]?.verification]).toEqual([[], 'settlement-verified']);
    await write((writing) => correctReceipt(writing, first, 'It was a page of errors.'));
    expect([await list(), (await find()).routes[0]?.verification]).toEqual([[], 'unverified']);
    expect((await find()).corrections.map(({ receipt_id }) => receipt_id).sort()).toEqual([first, failed].sort());
    expect((await find()).networks[0]).toMatchObject({ settlement_verified: false, last_verified_at: null });
  });

  it('that settled in the same second as a delivered one counts as the later', async () => {
    const { declare, find, list, pay, now } = await makeCautioned();
    await declare();
    await pay({ delivered: false, settled_at: now() });
    await pay({ settled_at: now() });
    expect([await list(), (await find()).routes[0]?.verification]).toEqual([[], 'settlement-verified']);
    for (const delivered of [true, false]) await pay({ delivered, settled_at: getTime(50) });
    expect([await list(), (await find()).routes[0]?.verification]).toEqual([['undelivered'], 'unverified']);
    for (const delivered of [false, true]) await pay({ delivered, settled_at: getTime(60) });
    expect([await list(), (await find()).routes[0]?.verification]).toEqual([['undelivered'], 'unverified']);
  });
});

describe('a name that is another’s', () => {
  const REAL = {
    slug: 'coingecko',
    base_url: 'https://api.coingecko.com',
    title: 'CoinGecko',
    provider_name: 'CoinGecko',
  };
  const LOOKALIKES = [
    // "o" and "e" of the Cyrillic alphabet.
    { title: 'C\u043einG\u0435cko', provider_name: 'Somebody else' },
    { title: 'Prices', provider_name: 'The official CoinGecko API' },
  ];
  const makeMimic = (index: number, overrides: Partial<Terms> = {}) => ({
    slug: `mimic-${index}`,
    base_url: `https://mimic-${index}.lookalikes.dev`,
    routes: [makeRoute({ terms: [makeTerms({ pay_to: B, ...overrides })] })],
    ...LOOKALIKES[index],
  });

  it.each([0, 1])('has a caution, whichever of the two comes first (%i)', async (index) => {
    const { declare, list, get } = await makeCautioned();
    await declare(makeMimic(index));
    expect(await list(`mimic-${index}`)).toEqual(['never_seen']);
    await declare(REAL);
    expect(await get('imitates_name', `mimic-${index}`)).toMatchObject({
      severity: 'notice',
      evidence: { known_listing: 'coingecko', known_host: 'api.coingecko.com' },
    });
    expect(await list('coingecko')).toEqual(['never_seen']);
  });

  it('loses the caution when the better known one is removed or renamed', async () => {
    const { declare, list, write } = await makeCautioned();
    await declare(REAL);
    await declare(makeMimic(0));
    expect(await list('mimic-0')).toContain('imitates_name');
    await write((writing) => delistListing(writing, 'coingecko', { by: 'operator', reason: 'Gone.' }));
    expect(await list('mimic-0')).not.toContain('imitates_name');
  });

  it('has no caution for a title that was made from its host, which makes no better known one either', async () => {
    const { declare, list } = await makeCautioned();
    const at = (host: string) => {
      return { base_url: `https://${host}`, provider_name: '', routes: makeMimic(0).routes };
    };
    await declare(REAL);
    await declare({ slug: 'nameless', title: '', ...at('coingecko.anna.workers.dev') });
    expect(await list('nameless')).toEqual(['never_seen']);
    await declare({ slug: 'nameless', title: 'CoinGecko', ...at('coingecko.anna.workers.dev') });
    expect(await list('nameless')).toContain('imitates_name');
    await declare({ slug: 'tides', title: '', ...at('harbour-tides.dev') });
    await declare({ slug: 'other-tides', title: 'Harbour Tides', ...at('api.first-one.dev'), routes: [makeRoute()] });
    expect(await list('other-tides')).toEqual(['never_seen']);
  });

  it('has no caution while the listing is verified itself', async () => {
    const { declare, list, pay } = await makeCautioned();
    await declare(REAL);
    await declare(makeMimic(0));
    await pay({ pay_to: B }, 'mimic-0');
    expect(await list('mimic-0')).toEqual([]);
    await pay({ pay_to: B, delivered: false }, 'mimic-0');
    expect(await list('mimic-0')).toEqual(['imitates_name', 'undelivered']);
  });

  it('has no caution while only the other one’s payees are paid', async () => {
    const { declare, see, asks, list } = await makeCautioned();
    await declare(REAL);
    await declare(makeMimic(0, { pay_to: A }));
    expect(await list('mimic-0')).toEqual(['never_seen']);
    // Naming the real payee in a claim costs nothing: what counts is whom the 402 asks to pay.
    await see({ slug: 'mimic-0', ...asks({ pay_to: B }) });
    expect(await list('mimic-0')).toContain('imitates_name');
    await see({ slug: 'mimic-0', ...asks({ pay_to: B }, { pay_to: A }) });
    expect(await list('mimic-0')).toContain('imitates_name');
    // The better known one moves to that account.
    await see({ slug: 'coingecko', ...asks({ pay_to: B }, { pay_to: A }) });
    expect(await list('mimic-0')).not.toContain('imitates_name');
    await see({ slug: 'coingecko', ...asks({ pay_to: A }) });
    expect(await list('mimic-0')).toContain('imitates_name');
  });

  it('belongs to the one that is established first, if neither domain has that name', async () => {
    const { declare, see, list } = await makeCautioned();
    const named = { title: 'Harbour Tides', provider_name: 'One' };
    await declare({ slug: 'first', base_url: 'https://api.first-one.dev', ...named });
    await declare({ ...makeMimic(1), title: 'Harbour-Tides', provider_name: 'Two' });
    expect([await list('first'), await list('mimic-1')]).toEqual([['never_seen'], ['never_seen']]);
    await see({ slug: 'first' }, 58);
    expect([await list('first'), await list('mimic-1')]).toEqual([[], ['imitates_name', 'never_seen']]);
  });
});

describe('a reply', () => {
  it('is shown beside its caution, changes with its words, and ends with them or with the caution', async () => {
    const { declare, get, list, pay, reply } = await makeCautioned();
    await declare();
    await pay({ delivered: false });
    expect((await get('undelivered'))?.reply).toBeNull();
    await reply([{ caution: 'undelivered', route: null, text: 'We gave the money back.' }]);
    expect((await get('undelivered'))?.reply?.text).toBe('We gave the money back.');
    await reply([
      { caution: 'undelivered', route: null, text: 'We gave the money back.' },
      { caution: 'undelivered', route: 'GET /v1/price/:symbol', text: 'It was our fault.' },
    ]);
    expect((await get('undelivered'))?.reply?.text).toBe('It was our fault.');
    await reply([]);
    expect((await get('undelivered'))?.reply).toBeNull();
    await reply([{ caution: 'undelivered', route: null, text: 'Mended.' }]);
    await pay();
    expect(await list()).toEqual([]);
    await pay({ delivered: false });
    expect((await get('undelivered'))?.reply?.text).toBe('Mended.');
  });
});
