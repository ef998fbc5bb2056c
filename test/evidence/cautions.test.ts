import { describe, expect, it } from 'vitest';
import { correctReceipt } from '../../src/catalogue/corrections.ts';
import { withdrawDeclarations } from '../../src/catalogue/declarations.ts';
import { delistListing } from '../../src/catalogue/delisting.ts';
import { listStaleListings } from '../../src/catalogue/integrity.ts';
import { publishListing } from '../../src/catalogue/publish.ts';
import { type Reply, recordReplies } from '../../src/catalogue/replies.ts';
import { writeCatalogue } from '../../src/catalogue/write.ts';
import { type CautionCode, ON_RECORD_AFTER_DAYS } from '../../src/model/caution.ts';
import { NETWORKS } from '../../src/model/network.ts';
import type { Receipt } from '../../src/model/payment.ts';
import type { Terms } from '../../src/model/terms.ts';
import { declareOthers, type EvidenceWorld, getTime, makeWorld, type Seen } from '../catalogue/evidence-world.ts';
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
function makeCautioned() {
  const world = makeWorld();
  const { catalogue } = world;
  let hours = 0;
  const settle = () => expect(listStaleListings(catalogue)).toEqual([]);
  const write = (work: Parameters<typeof writeCatalogue<void>>[2]) => {
    writeCatalogue(catalogue, getTime(hours), work);
    settle();
  };
  return {
    ...world,
    declare: (...args: Parameters<EvidenceWorld['declare']>) => {
      const listing = world.declare(args[0], hours);
      settle();
      return listing;
    },
    /** Probes a listing every six hours, a number of times, with the same result each time. */
    see: (seen: Seen = {}, times = 1) => {
      for (let count = 0; count < times; count++) {
        hours += ROUND;
        world.look(hours, seen);
      }
      settle();
    },
    asks: (...offers: Partial<Terms>[]): Seen => ({ terms: offers.map((offer) => makeTerms(offer)) }),
    pay: (receipt: Partial<Receipt> = {}, slug = 'example-prices') => {
      hours += 1;
      const id = recordReceiptFor(catalogue, slug, { settled_at: getTime(hours), ...receipt });
      settle();
      return id;
    },
    write,
    now: () => getTime(hours),
    list: (slug?: string): CautionCode[] => {
      const { cautions, routes } = world.find(slug);
      return [...cautions, ...routes.flatMap((route) => route.cautions)].map(({ code }) => code);
    },
    get: (code: CautionCode, slug?: string) => {
      const { cautions, routes } = world.find(slug);
      return [...cautions, ...routes.flatMap((route) => route.cautions)].find((one) => one.code === code);
    },
    reply: (replies: Reply[], slug = 'example-prices') => {
      const listing = world.find(slug);
      write((writing) => {
        recordReplies(writing, listing.base_url, `${listing.base_url}/file.json`, replies);
        publishListing(writing, listing, 'declared_by_provider');
      });
    },
  };
}

const DAYS_ON_RECORD = (ON_RECORD_AFTER_DAYS * DAY) / ROUND;

describe('terms', () => {
  it('that were only declared have a caution until a 402 is seen or a call is paid', () => {
    const { declare, see, list, get, pay } = makeCautioned();
    declare();
    expect(get('never_seen')).toMatchObject({ since: '2026-11-01T00:00:00.000Z', severity: 'notice' });
    see({ outcome: 'no_402', status: 404 }, 2);
    expect(list()).toEqual(['never_seen']);
    see();
    expect(list()).toEqual([]);
    declare({ slug: 'paid-only', base_url: 'https://paid.only-provider.com' });
    expect(list('paid-only')).toEqual(['never_seen']);
    pay({}, 'paid-only');
    expect(list('paid-only')).toEqual([]);
    declare({ slug: 'flat', base_url: 'https://flat.only-provider.com', routes: [], price: { min: 5, max: 5 } });
    expect(get('never_seen', 'flat')).toMatchObject({ evidence: { declared_at: '2026-11-01T00:00:00.000Z' } });
  });
});

describe('another payee', () => {
  it('is a danger until it was asked for 14 days', () => {
    const { declare, see, asks, list, get } = makeCautioned();
    declare();
    see({}, 4);
    see(asks({ pay_to: B }), DAYS_ON_RECORD);
    expect(get('payee_differs')).toMatchObject({
      severity: 'danger',
      since: getTime(5 * ROUND),
      evidence: { network: 'base', pay_to: B, pay_to_before: A },
    });
    see(asks({ pay_to: B }));
    expect(list()).toEqual([]);
  });

  it('ends with a delivered call paid to it, and comes back when that receipt is corrected', () => {
    const { declare, see, asks, list, pay, write } = makeCautioned();
    declare();
    see({}, 2);
    see(asks({ pay_to: B }));
    pay({ pay_to: B, delivered: false });
    expect(list()).toEqual(['undelivered', 'payee_differs']);
    const id = pay({ pay_to: B });
    expect(list()).toEqual([]);
    write((writing) => void correctReceipt(writing, id, 'It was a page of errors.'));
    expect(list()).toEqual(['undelivered', 'payee_differs']);
  });

  it('ends when the earlier payee is named again, and comes back with the other one', () => {
    const { declare, see, asks, list, get } = makeCautioned();
    declare();
    see({}, 4);
    see(asks({ pay_to: B }));
    expect(list()).toEqual(['payee_differs']);
    see();
    expect(list()).toEqual([]);
    // One probe long ago does not put it on record.
    see(asks({ pay_to: B }), 2);
    expect(get('payee_differs')?.evidence).toEqual({ network: 'base', pay_to: B, pay_to_before: A });
    see(asks({ pay_to: C }));
    expect(get('payee_differs')?.evidence).toEqual({ network: 'base', pay_to: C, pay_to_before: A });
  });

  it('that was on record before stays known', () => {
    const { declare, see, asks, list } = makeCautioned();
    declare();
    see({}, 2);
    see(asks({ pay_to: B }), DAYS_ON_RECORD + 1);
    see();
    expect(list()).toEqual([]);
    see(asks({ pay_to: B }));
    expect(list()).toEqual([]);
  });

  it('is a danger even if the old one is named beside it', () => {
    const { declare, see, asks, list, get } = makeCautioned();
    declare();
    see({}, 2);
    see(asks({ pay_to: A }, { pay_to: B }));
    expect(get('payee_differs')?.evidence).toMatchObject({ pay_to: B, pay_to_before: A });
    see();
    expect(list()).toEqual([]);
  });

  it('is not forgotten because the price changes with every challenge', () => {
    const { declare, see, asks, list } = makeCautioned();
    declare();
    see({}, 2);
    for (let count = 0; count < 24; count++) see(asks({ pay_to: B, amount: 900 - count }));
    expect(list()).toEqual(['payee_differs']);
    for (let count = 0; count <= DAYS_ON_RECORD - 24; count++) see(asks({ pay_to: B, amount: 800 - count }));
    expect(list()).toEqual([]);
  });

  it('than the declared one is a danger from the first probe on', () => {
    const { declare, see, asks, get } = makeCautioned();
    declare();
    see(asks({ pay_to: B }));
    expect(get('payee_differs')?.evidence).toMatchObject({ pay_to: B, pay_to_before: A });
  });

  it('on a new network has no caution while no payee is established', () => {
    const { declare, see, asks, list } = makeCautioned();
    declare();
    see({}, 2);
    see(asks({}, SOLANA));
    expect(list()).toEqual([]);
    see(asks({}, SOLANA), DAYS_ON_RECORD + 1);
    expect(list()).toEqual([]);
  });

  it.each([
    ['beside', [{}, SOLANA]],
    ['in place of', [SOLANA]],
  ])('on a new network, %s an established one, is a danger for 14 days', (_name, offers) => {
    const { declare, see, asks, list, get } = makeCautioned();
    declare();
    see({}, DAYS_ON_RECORD + 1);
    see(asks(...offers));
    expect(list()).toEqual(['payee_differs']);
    expect(get('payee_differs')?.evidence).toEqual({
      network: 'solana',
      pay_to: SOLANA.pay_to,
      network_before: 'base',
      pay_to_before: A,
    });
    see(asks(...offers), DAYS_ON_RECORD - 1);
    expect(list()).toEqual(['payee_differs']);
    see(asks(...offers));
    expect(list()).toEqual([]);
  });

  it('on a new network has no caution if a paid call established it or the provider names it', () => {
    const paid = makeCautioned();
    paid.declare();
    paid.see();
    paid.pay();
    paid.see(paid.asks({}, SOLANA), 3);
    expect(paid.list()).toEqual(['payee_differs']);
    paid.see(paid.asks({}, { ...SOLANA, pay_to: OTHER_SOLANA }));
    expect(paid.get('payee_differs')?.evidence).toMatchObject({ pay_to: OTHER_SOLANA, pay_to_before: A });
    paid.pay({ network: 'solana', asset: SOLANA.asset, pay_to: OTHER_SOLANA });
    expect(paid.list()).toEqual([]);
    const named = makeCautioned();
    named.declare({ routes: [makeRoute({ terms: [makeTerms(), makeTerms(SOLANA)] })] });
    named.see({}, DAYS_ON_RECORD + 1);
    named.see(named.asks({}, SOLANA));
    expect(named.list()).toEqual([]);
  });
});

describe('a payee that rotates', () => {
  it('has a caution until one payee is named for three days', () => {
    const { declare, see, asks, list } = makeCautioned();
    declare({ routes: [makeRoute({ terms: [makeTerms({ pay_to: null })] })] });
    see({ ...asks({ pay_to: B }), payee_rotates: true });
    expect(list()).toEqual(['payee_rotates']);
    see(asks({ pay_to: C }), 11);
    expect(list()).toEqual(['payee_rotates']);
    see(asks({ pay_to: C }));
    expect(list()).toEqual([]);
  });

  it('puts none of its payees on record', () => {
    const { declare, see, asks, list, get } = makeCautioned();
    declare();
    see({}, 8);
    see({ ...asks({ pay_to: C }), payee_rotates: true });
    expect(list()).toEqual(['payee_rotates']);
    see(asks({ pay_to: B }), 12);
    expect(get('payee_differs')?.evidence).toMatchObject({ pay_to: B, pay_to_before: A });
  });
});

describe('a higher price', () => {
  it('has a caution until it falls, was asked for 14 days, or a call was paid at it', () => {
    const { declare, see, asks, list, get, pay } = makeCautioned();
    declare();
    see({}, 2);
    see(asks({ amount: 2000 }), 2);
    expect(get('price_above_record')).toMatchObject({
      severity: 'notice',
      since: getTime(3 * ROUND),
      evidence: { network: 'base', amount: 2000, amount_before: 1000 },
    });
    see();
    expect(list()).toEqual([]);
    see(asks({ amount: 2000 }), DAYS_ON_RECORD);
    expect(list()).toEqual(['price_above_record']);
    see(asks({ amount: 2000 }));
    expect(list()).toEqual([]);
    see(asks({ amount: 3000 }));
    pay({ amount: 2000 });
    expect(list()).toEqual(['price_above_record']);
    pay({ amount: 3000 });
    expect(list()).toEqual([]);
  });

  it('is compared with the price on record, however that became so', () => {
    const { declare, see, asks, list, get } = makeCautioned();
    declare();
    see({}, 2);
    see(asks({ amount: 5000 }));
    see(asks({ amount: 2000 }));
    expect(get('price_above_record')?.evidence).toMatchObject({ amount: 2000, amount_before: 1000 });
    for (const amount of [2100, 2200, 2300]) see(asks({ amount }));
    expect(get('price_above_record')).toMatchObject({
      since: getTime(3 * ROUND),
      evidence: { amount: 2300, amount_before: 1000 },
    });
    // A price that was lower for a moment is not the one on record.
    see(asks({ amount: 500 }));
    see();
    expect(list()).toEqual([]);
  });

  it('and another payee are two cautions, and each ends by its own rule', () => {
    const { declare, see, asks, list } = makeCautioned();
    declare();
    see({}, 2);
    see(asks({ pay_to: B, amount: 2000 }));
    expect(list()).toEqual(['payee_differs', 'price_above_record']);
    see(asks({ pay_to: B, amount: 1000 }));
    expect(list()).toEqual(['payee_differs']);
    see(asks({ pay_to: A, amount: 2000 }));
    expect(list()).toEqual(['price_above_record']);
    see();
    expect(list()).toEqual([]);
  });
});

describe('failing probes', () => {
  it('are a caution from the third on, raise no further revision, and end with a valid 402', () => {
    const { declare, see, list, get, getRevision } = makeCautioned();
    declare();
    see({}, 2);
    const failing = { outcome: 'server_error', status: 500 } as const;
    see(failing, 2);
    expect(list()).toEqual([]);
    see(failing);
    expect(get('probes_failing')).toMatchObject({
      severity: 'notice',
      evidence: { outcome: 'server_error', failures: 3 },
    });
    const revision = getRevision();
    see(failing, 3);
    expect(getRevision() - revision, 'only what is published daily').toBeLessThanOrEqual(1);
    see(failing, 16);
    expect(getRevision() - revision).toBeLessThanOrEqual(6);
    expect(list()).toEqual(['probes_failing']);
    see();
    expect(list()).toEqual([]);
  });

  it('that are our own fault do not count', () => {
    const world = makeWorld();
    world.declare();
    const slugs = ['example-prices', ...declareOthers(world, 6)];
    const lookAtAll = (hours: number, seen: Seen) => {
      for (const slug of slugs) world.see(hours, { slug, ...seen });
      world.publish(hours);
      expect(listStaleListings(world.catalogue)).toEqual([]);
      const said = slugs.flatMap((slug) => world.find(slug).routes.flatMap(({ cautions }) => cautions));
      expect(said.map(({ code }) => code)).toEqual([]);
    };
    for (const hours of [6, 12]) lookAtAll(hours, {});
    for (let hours = 18; hours <= 18 + 5 * ROUND; hours += ROUND)
      lookAtAll(hours, { outcome: 'timeout', status: null });
    lookAtAll(60, {});
  });

  it('with the same answers as before raise no revision', () => {
    const { declare, see, getRevision } = makeCautioned();
    declare();
    see({}, 60);
    const revision = getRevision();
    see({}, 3);
    expect(getRevision() - revision).toBeLessThanOrEqual(1);
  });
});

describe('an offer that every source withdrew', () => {
  it('has a caution until a source offers it again', () => {
    const { declare, see, list, write, get, now } = makeCautioned();
    declare();
    see();
    write((writing) => void withdrawDeclarations(writing, makeDeclaration().source, new Set()));
    expect(get('withdrawn')).toMatchObject({ severity: 'notice', since: now() });
    see({}, 2);
    expect(list()).toEqual(['withdrawn']);
    declare();
    expect(list()).toEqual([]);
  });
});

describe('a paid call', () => {
  it('that delivers nothing ends the verification on both networks, until a later one is delivered', () => {
    const { declare, see, asks, find, list, get, pay } = makeCautioned();
    const both = [makeTerms(), makeTerms(SOLANA)];
    declare({ routes: [makeRoute({ terms: both })] });
    see(asks(...both));
    pay();
    pay({ ...SOLANA, genesis: NETWORKS.solana.genesis } as Partial<Receipt>);
    expect(find().routes[0]?.proofs.map(({ network }) => network)).toEqual(['solana', 'base']);
    const id = pay({ delivered: false });
    expect(get('undelivered')).toMatchObject({ severity: 'danger', evidence: { receipt_id: id, network: 'base' } });
    expect([find().routes[0]?.proofs, find().networks.map((entry) => entry.settlement_verified)]).toEqual([
      [],
      [false, false],
    ]);
    pay({ delivered: false, unrecognised: 'html_page' });
    expect(list()).toEqual(['unrecognised']);
    pay();
    expect([list(), find().routes[0]?.proofs.map(({ network }) => network)]).toEqual([[], ['base']]);
  });

  it('that is corrected no longer counts for or against its route', () => {
    const { declare, see, find, list, pay, write } = makeCautioned();
    declare();
    see();
    const first = pay();
    const failed = pay({ delivered: false });
    write((writing) => void correctReceipt(writing, failed, 'The fault was ours: the request had no body.'));
    expect([list(), find().routes[0]?.verification]).toEqual([[], 'settlement-verified']);
    write((writing) => void correctReceipt(writing, first, 'It was a page of errors.'));
    expect([list(), find().routes[0]?.verification]).toEqual([[], 'unverified']);
    expect(
      find()
        .corrections.map(({ receipt_id }) => receipt_id)
        .sort(),
    ).toEqual([first, failed].sort());
    expect(find().networks[0]).toMatchObject({ settlement_verified: false, last_verified_at: null });
  });

  it('that settled in the same second as a delivered one counts as the later', () => {
    const { declare, find, list, pay, now } = makeCautioned();
    declare();
    pay({ delivered: false, settled_at: now() });
    pay({ settled_at: now() });
    expect([list(), find().routes[0]?.verification]).toEqual([[], 'settlement-verified']);
    for (const delivered of [true, false]) pay({ delivered, settled_at: getTime(50) });
    expect([list(), find().routes[0]?.verification]).toEqual([['undelivered'], 'unverified']);
    for (const delivered of [false, true]) pay({ delivered, settled_at: getTime(60) });
    expect([list(), find().routes[0]?.verification]).toEqual([['undelivered'], 'unverified']);
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

  it.each([0, 1])('has a caution, whichever of the two comes first (%i)', (index) => {
    const { declare, list, get } = makeCautioned();
    declare(makeMimic(index));
    expect(list(`mimic-${index}`)).toEqual(['never_seen']);
    declare(REAL);
    expect(get('imitates_name', `mimic-${index}`)).toMatchObject({
      severity: 'notice',
      evidence: { known_listing: 'coingecko', known_host: 'api.coingecko.com' },
    });
    expect(list('coingecko')).toEqual(['never_seen']);
  });

  it('loses the caution when the better known one is removed or renamed', () => {
    const { declare, list, write } = makeCautioned();
    declare(REAL);
    declare(makeMimic(0));
    expect(list('mimic-0')).toContain('imitates_name');
    write((writing) => void delistListing(writing, 'coingecko', { by: 'operator', reason: 'Gone.' }));
    expect(list('mimic-0')).not.toContain('imitates_name');
  });

  it('has no caution while the listing is verified itself', () => {
    const { declare, list, pay } = makeCautioned();
    declare(REAL);
    declare(makeMimic(0));
    pay({ pay_to: B }, 'mimic-0');
    expect(list('mimic-0')).toEqual([]);
    pay({ pay_to: B, delivered: false }, 'mimic-0');
    expect(list('mimic-0')).toEqual(['imitates_name', 'undelivered']);
  });

  it('has no caution while only the other one’s payees are paid', () => {
    const { declare, see, asks, list } = makeCautioned();
    declare(REAL);
    declare(makeMimic(0, { pay_to: A }));
    expect(list('mimic-0')).toEqual(['never_seen']);
    // Naming the real payee in a claim costs nothing: what counts is whom the 402 asks to pay.
    see({ slug: 'mimic-0', ...asks({ pay_to: B }) });
    expect(list('mimic-0')).toContain('imitates_name');
    see({ slug: 'mimic-0', ...asks({ pay_to: B }, { pay_to: A }) });
    expect(list('mimic-0')).toContain('imitates_name');
    // The better known one moves to that account.
    see({ slug: 'coingecko', ...asks({ pay_to: B }, { pay_to: A }) });
    expect(list('mimic-0')).not.toContain('imitates_name');
    see({ slug: 'coingecko', ...asks({ pay_to: A }) });
    expect(list('mimic-0')).toContain('imitates_name');
  });

  it('belongs to the one that is established first, if neither domain has that name', () => {
    const { declare, see, list } = makeCautioned();
    const named = { title: 'Harbour Tides', provider_name: 'One' };
    declare({ slug: 'first', base_url: 'https://api.first-one.dev', ...named });
    declare({ ...makeMimic(1), title: 'Harbour-Tides', provider_name: 'Two' });
    expect([list('first'), list('mimic-1')]).toEqual([['never_seen'], ['never_seen']]);
    see({ slug: 'first' }, 58);
    expect([list('first'), list('mimic-1')]).toEqual([[], ['imitates_name', 'never_seen']]);
  });
});

describe('a reply', () => {
  it('is shown beside its caution, changes with its words, and ends with them or with the caution', () => {
    const { declare, get, list, pay, reply } = makeCautioned();
    declare();
    pay({ delivered: false });
    expect(get('undelivered')?.reply).toBeNull();
    reply([{ caution: 'undelivered', route: null, text: 'We gave the money back.' }]);
    expect(get('undelivered')?.reply?.text).toBe('We gave the money back.');
    reply([
      { caution: 'undelivered', route: null, text: 'We gave the money back.' },
      { caution: 'undelivered', route: 'GET /v1/price/:symbol', text: 'It was our fault.' },
    ]);
    expect(get('undelivered')?.reply?.text).toBe('It was our fault.');
    reply([]);
    expect(get('undelivered')?.reply).toBeNull();
    reply([{ caution: 'undelivered', route: null, text: 'Mended.' }]);
    pay();
    expect(list()).toEqual([]);
    pay({ delivered: false });
    expect(get('undelivered')?.reply?.text).toBe('Mended.');
  });
});
