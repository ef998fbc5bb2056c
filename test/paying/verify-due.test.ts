import { describe, expect, it } from 'vitest';
import { listChanges } from '../../src/catalogue/read/changes.ts';
import { findListing } from '../../src/catalogue/read/listings.ts';
import { drawRoutes, isOpenToDraw, listDueRoutes } from '../../src/evidence/verification.ts';
import type { Listing } from '../../src/model/listing.ts';
import type { Route } from '../../src/model/route.ts';
import { makeTerms, recordReceiptFor } from '../records.ts';
import { getMarket } from '../worker-market.ts';
import { PAY_TO } from './paying.ts';
import { makePayingCommands, SLUG, sellWithoutSettling } from './verifying.ts';

const { base: chain } = await getMarket();

const WITH_EXAMPLE = { example: { query: { of: 'gold' } }, terms: [makeTerms({ pay_to: PAY_TO })] };
const DAY_MS = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();

describe('the order of what is due', () => {
  const AT = '2026-11-20T12:00:00.000Z';
  const route = (path: string, proved: string | null, valid: string | null = null) =>
    ({
      ...{ method: 'GET', path, example: {}, probe: { valid_at: valid } },
      proof: proved === null ? null : { verified_at: proved },
    }) as unknown as Route;
  const listing = (slug: string, score: number | null, routes: Route[]) =>
    ({ slug, reliability: { score }, routes }) as unknown as Listing;
  const order = (...listings: Listing[]) =>
    listDueRoutes(listings, AT).map((due) => `${due.listing.slug}${due.route.path}`);

  it('is: no proof, one of each listing, reliable, seen payable, older proof', () => {
    const [old, older, fresh] = ['2026-09-01T00:00:00.000Z', '2026-08-01T00:00:00.000Z', '2026-11-01T00:00:00.000Z'];
    expect(
      order(
        listing('stale', 99, [route('/old', old), route('/fresh', fresh)]),
        listing('unscored', null, [route('/a', null)]),
        listing('good', 95, [route('/a', null), route('/b', null), route('/older', older)]),
        listing('seen', null, [route('/a', null, AT)]),
        listing('fair', 50, [route('/a', null)]),
      ),
    ).toEqual(['good/a', 'fair/a', 'seen/a', 'unscored/a', 'good/b', 'stale/old', 'good/older']);
  });

  it('leaves out routes without an example request', () => {
    expect(order(listing('one', 1, [{ ...route('/a', null), example: null } as Route]))).toEqual([]);
  });
});

describe('the draw of proven routes', () => {
  const BUDGET = 1000;
  /** Draws with the same random number each time. */
  const draw = (prices: (number | null)[], random: number) =>
    drawRoutes(prices, { budget: BUDGET, getPrice: (price) => price, random: () => random });

  it('takes what fits into a fifth of the budget, whatever the random numbers are', () => {
    expect(draw([50, 50, 50, 50, 50, 50], 0.999)).toEqual([50, 50, 50, 50]);
    expect(draw([50, 50], 0.999)).toEqual([50, 50]);
  });

  it('leaves out a price that is not known or above the budget', () => {
    expect(draw([null, 1001, 50], 0)).toEqual([50]);
  });

  it('takes a price above the share as often as keeps the share', () => {
    expect([draw([BUDGET], 0.19), draw([BUDGET], 0.21)]).toEqual([[BUDGET], []]);
    let state = 1;
    const random = () => {
      state = (state * 48_271) % 2_147_483_647;
      return state / 2_147_483_647;
    };
    const prices = [30, 90, 150, 400, 1000];
    const sum = Array.from({ length: 20_000 }, () =>
      drawRoutes(prices, { budget: BUDGET, getPrice: (price) => price, random }),
    );
    const mean = sum.flat().reduce((total, price) => total + price, 0) / sum.length;
    expect(mean).toBeGreaterThan(195);
    expect(mean).toBeLessThan(205);
    expect(new Set(sum.flat())).toEqual(new Set(prices));
  });

  it('is among routes proved more than 3 and at most 60 days ago, with an example request', () => {
    const at = new Date().toISOString();
    const isOpen = (days: number | null, example: object | null = {}) =>
      isOpenToDraw({ example, proof: days === null ? null : { verified_at: daysAgo(days) } } as unknown as Route, at);
    expect([2, 4, 59, 61, null].map((days) => isOpen(days))).toEqual([false, true, true, false, false]);
    expect(isOpen(10, null)).toBe(false);
  });
});

describe('verify --due', () => {
  it('shows what is due and pays nothing without a budget; pays within it, once, and says what it did', async () => {
    const { run, runJson, getLost } = await makePayingCommands(chain, { route: WITH_EXAMPLE });
    const plan = await runJson('verify', '--due');
    expect([plan.code, plan.json]).toMatchObject([0, { due: 1, spent: 0, routes: [{ outcome: 'due', amount: 1000 }] }]);
    expect(await getLost()).toBe(0n);
    const short = await runJson('verify', '--due', '--budget', '0.000999');
    expect(short.json).toMatchObject({ spent: 0, routes: [{ outcome: 'skipped', reason: 'beyond_budget' }] });
    const paid = await run(['verify', '--due', '--budget', '0.01']);
    expect(paid.code).toBe(0);
    expect(paid.stdout).toContain('1 of 1 routes verified, for 0.001 of 0.01 USDC; 0 not reached.');
    const again = await runJson('verify', '--due', '--budget', '0.01');
    expect([again.code, again.json]).toMatchObject([0, { due: 0, spent: 0, ended: 'done' }]);
    expect(await getLost()).toBe(1000n);
  });

  it.each([
    [2, { due: 0, drawn: 0 }, 0n],
    [59, { due: 0, drawn: 1, routes: [{ outcome: 'verified', drawn: true }] }, 1000n],
    [61, { due: 1, drawn: 0, routes: [{ outcome: 'verified', drawn: false }] }, 1000n],
  ])('renews a proof of %i days: %j', async (days, expected, lost) => {
    const { runJson, catalogue, getLost } = await makePayingCommands(chain, { route: WITH_EXAMPLE });
    await recordReceiptFor(catalogue, SLUG, { pay_to: PAY_TO, settled_at: daysAgo(days) });
    const { json } = await runJson('verify', '--due', '--budget', '1');
    expect(json).toMatchObject(expected);
    expect(await getLost()).toBe(lost);
  });

  it('finds by the draw a proven seller that stopped delivering, and pays nothing without a budget', async () => {
    const { run, catalogue, getLost } = await makePayingCommands(chain, {
      route: WITH_EXAMPLE,
      sale: async ({ response, settle }) => {
        await settle();
        response.writeHead(500).end();
      },
    });
    await recordReceiptFor(catalogue, SLUG, { pay_to: PAY_TO, settled_at: daysAgo(10) });
    const verification = async () => (await findListing(catalogue, { slug: SLUG }))?.routes[0]?.verification;
    const plan = await run(['verify', '--due']);
    expect(plan.stdout).toContain('Up to 20 % of a budget pays for some of 1 proven route, chosen at random.');
    expect([await verification(), await getLost()]).toEqual(['settlement-verified', 0n]);
    // Five times the price: a fifth of it pays for one call, whatever the random numbers are.
    const { stdout } = await run(['verify', '--due', '--budget', '0.005']);
    expect(stdout).toContain('0 of 1 routes verified, for 0.001 of 0.005 USDC; 0 not reached; 1 chosen at random.');
    expect([await verification(), await getLost()]).toEqual(['unverified', 1000n]);
    const lost = (await listChanges(catalogue, SLUG)).filter(({ kind }) => kind === 'unverified');
    expect(lost.map(({ reason }) => reason)).toEqual(['paid_not_delivered']);
  });

  it('pays a seller that delivered nothing once a week at most', async () => {
    const { runJson, catalogue, getLost } = await makePayingCommands(chain, {
      route: WITH_EXAMPLE,
      sale: async ({ response, settle }) => {
        await settle();
        response.writeHead(500).end();
      },
    });
    const first = await runJson('verify', '--due', '--budget', '1');
    expect(first.json).toMatchObject({ spent: 1000, routes: [{ outcome: 'not_delivered', amount: 1000 }] });
    expect((await findListing(catalogue, { slug: SLUG }))?.routes[0]?.cautions).toMatchObject([
      { code: 'undelivered' },
    ]);
    const second = await runJson('verify', '--due', '--budget', '1');
    expect(second.json).toMatchObject({ spent: 0, routes: [{ outcome: 'skipped', reason: 'under_caution' }] });
    catalogue.engine.sqlite.prepare('UPDATE payments SET prepared_at = ?').run(daysAgo(8));
    const third = await runJson('verify', '--due', '--budget', '1');
    expect(third.json).toMatchObject({ spent: 1000 });
    expect(await getLost()).toBe(2000n);
  });

  it.each([
    [{ MAX_USDC_PER_DAY: '0.0005' }, 'cap_per_day'],
    [{ PAYER_STOP_FILE: '/nowhere/at/all' }, 'stopped'],
  ])('ends at once if nothing more can be paid: %j', async (settings, ended) => {
    const { runJson, getLost } = await makePayingCommands(chain, { route: WITH_EXAMPLE, settings });
    const { code, json } = await runJson('verify', '--due', '--budget', '1');
    expect([code, json.ended, json.spent, await getLost()]).toEqual([1, ended, 0, 0n]);
  });

  it('counts a payment that is still open as spent, and ends', async () => {
    const { sale, signal } = sellWithoutSettling();
    const { run, runJson, catalogue } = await makePayingCommands(chain, { route: WITH_EXAMPLE, sale });
    const { stdout } = await run(['verify', '--due', '--budget', '1', '--json'], { signal });
    expect(JSON.parse(stdout)).toMatchObject({ ended: 'payment_open', spent: 1000, routes: [{ outcome: 'open' }] });
    expect((await runJson('verify', '--due', '--budget', '1')).json).toMatchObject({
      spent: 0,
      routes: [{ outcome: 'skipped', reason: 'tried_today' }],
    });
    expect(catalogue.engine.sqlite.prepare('SELECT count(*) FROM payments').pluck().get()).toBe(1);
  });

  it.each([
    [['verify'], 'Name a listing, or add --due'],
    [['verify', SLUG, '--due'], 'Name a listing, or add --due'],
    [['verify', SLUG, '--budget', '1'], '--budget goes with --due'],
    [['verify', '--due', '--pay'], 'go with one listing'],
    [['verify', '--due', '--budget', 'much'], 'a decimal amount of USDC'],
  ])('%j is wrong usage', async (args, sentence) => {
    const { run } = await makePayingCommands(chain, { route: WITH_EXAMPLE });
    expect(await run(args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(sentence) });
  });
});
