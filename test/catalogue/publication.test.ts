import { describe, expect, it } from 'vitest';
import { listChanges } from '../../src/catalogue/changes.ts';
import { delistListing, relistListing } from '../../src/catalogue/delisting.ts';
import { writeCatalogue } from '../../src/catalogue/write.ts';
import { UNSCORED } from '../../src/evidence/reliability.ts';
import { NETWORKS } from '../../src/model/network.ts';
import type { ProbeOutcome } from '../../src/model/probe.ts';
import { makeRoute, makeTerms, recordVerified } from '../builders.ts';
import { DAY, declareOthers, type EvidenceWorld, getTime, makeWorld } from './evidence-world.ts';

const SOLANA = makeTerms({ network: 'solana', asset: NETWORKS.solana.usdc, pay_to: 'So1aNaPayee' });
const listKinds = ({ catalogue, getRevision }: EvidenceWorld, since = getRevision() - 1) =>
  listChanges(catalogue, { since }).map(({ kind, reason }) => [kind, reason]);
const fail = (outcome: ProbeOutcome = 'timeout') => ({ outcome });

/** Fails every six hours, from an hour on, so often. */
function failOn({ look }: EvidenceWorld, { from, times, every = 6 }: { from: number; times: number; every?: number }) {
  return Array.from({ length: times }, (_, index) => look(from + index * every, fail())?.result);
}

describe('samples alone', () => {
  it('of a listing that was never probed say nothing: no score, no default', () => {
    const world = makeWorld();
    expect(world.declare().reliability).toEqual(UNSCORED);
    expect(world.publish(1)).toEqual([]);
    expect(world.find().routes[0]).toMatchObject({ probe: null, payee: null });
  });

  it('are published from the first on', () => {
    const world = makeWorld();
    world.declare();
    expect(world.look(1)).toEqual({ slug: 'example-prices', result: 'changed' });
    const { routes, reliability, networks } = world.find();
    expect(routes[0]?.probe).toEqual({
      ...{ at: getTime(1), outcome: 'payable', cause: null, status: 402 },
      ...{ valid_at: getTime(1), failures: 0, failing_since: null, latency: null },
    });
    expect(routes[0]?.terms.map(({ evidence, current }) => [evidence, current])).toEqual([
      ['declared', true],
      ['observed', true],
    ]);
    expect(reliability).toMatchObject({ band: 'unscored', score: null, samples: 1, last_sample_at: getTime(1) });
    expect(networks[0]).toMatchObject({ key: 'base', advertised: true, last_seen_at: getTime(1) });
    expect(listKinds(world)).toEqual([
      ['cleared', 'probed'],
      ['routed', 'probed'],
    ]);
  });

  it('move nothing that readers see more than once a day, and never leave it a day behind', () => {
    const world = makeWorld();
    world.declare();
    world.look(0);
    const moved: number[] = [];
    for (let hours = 6; hours <= 40 * 24; hours += 6) {
      const before = world.getRevision();
      world.look(hours);
      if (world.getRevision() > before) moved.push(hours);
      expect(Date.parse(getTime(hours)) - Date.parse(world.find().routes[0]?.probe?.at ?? '')).toBeLessThan(DAY);
    }
    const perDay = Map.groupBy(moved, (hours) => Math.floor(hours / 24));
    expect(Math.max(...[...perDay.values()].map((times) => times.length))).toBe(1);
    expect(world.find().reliability).toMatchObject({ band: 'established', samples: 120 });
  });

  it('leave the revision as it was between, however many there are', () => {
    const world = makeWorld();
    world.declare();
    // The second tells that the payee is a fixed one.
    for (const hours of [0, 1]) expect(world.look(hours)?.result).toBe('changed');
    const before = world.getRevision();
    for (let hours = 1.5; hours < 24; hours += 0.5) expect(world.look(hours)?.result).toBe('unchanged');
    expect(world.getRevision()).toBe(before);
    expect(world.look(24)?.result).toBe('changed');
    expect(listKinds(world)).toEqual([['seen', 'probed']]);
  });

  it('are published for all listings together, whenever each was sampled', () => {
    const world = makeWorld();
    world.declare();
    const others = declareOthers(world, 5);
    const slugs = ['example-prices', ...others];
    const moved: number[] = [];
    for (let hours = 0; hours < 20 * 24; hours += 1) {
      const before = world.getRevision();
      world.look(hours, { slug: slugs[hours % 6] ?? '' });
      if (world.getRevision() > before) moved.push(hours);
    }
    // After the first hours, in which each is seen for the first and the second time, and but for the days on which the
    // band of each rises, the revision moves once a day.
    const later = Map.groupBy(moved, (hours) => Math.floor(hours / 24));
    const counts = [...later].filter(([day]) => day > 0).map(([, hours]) => hours.length);
    expect(counts.toSorted((a, b) => a - b).slice(0, 15)).toEqual(Array.from({ length: 15 }, () => 1));
    expect(moved.length).toBeLessThan(12 + 20 + 12);
  });

  it('are published at once where the score moves by five points', () => {
    const world = makeWorld();
    world.declare();
    for (let hours = 0; hours <= 120; hours += 6) world.look(hours);
    const { score } = world.find().reliability;
    const results = failOn(world, { from: 126, times: 3 });
    expect(results[0]).toBe('changed');
    expect(Number(score) - Number(world.find().reliability.score)).toBeGreaterThan(5);
    expect(listKinds(world)).toContainEqual(['scored', 'sampled']);
  });
});

describe('terms that a probe sees', () => {
  it('are the price, and each time one stood is a period of its own', () => {
    const world = makeWorld();
    world.declare();
    const ask = (hours: number, amount: number) => world.look(hours, { terms: [makeTerms({ amount })] });
    ask(0, 1000);
    ask(6, 1000);
    ask(12, 2500);
    expect(world.find()).toMatchObject({ price_min: 2500, price_max: 2500 });
    expect(listKinds(world)).toEqual([
      ['priced', 'probed'],
      ['cautioned', 'price_above_record'],
      ['routed', 'probed'],
    ]);
    ask(18, 1000);
    const observed = world.find().routes[0]?.terms.filter(({ evidence }) => evidence === 'observed');
    expect(
      observed?.map(({ amount, first_seen_at, last_seen_at, current }) => [
        amount,
        first_seen_at,
        last_seen_at,
        current,
      ]),
    ).toEqual([
      [1000, getTime(0), getTime(6), false],
      [2500, getTime(12), getTime(12), false],
      [1000, getTime(18), getTime(18), true],
    ]);
    expect(world.find().price_min).toBe(1000);
  });

  it('name a network more, or one less', () => {
    const world = makeWorld();
    world.declare();
    world.look(0);
    world.look(6, { terms: [makeTerms(), SOLANA] });
    expect(world.find().networks.map(({ key, advertised, last_seen_at }) => [key, advertised, last_seen_at])).toEqual([
      ['base', true, getTime(6)],
      ['solana', true, getTime(6)],
    ]);
    expect(listKinds(world)).toContainEqual(['networked', 'probed']);
    world.look(12);
    expect(world.find().networks.map(({ key, advertised, last_seen_at }) => [key, advertised, last_seen_at])).toEqual([
      ['base', true, getTime(12)],
      ['solana', false, null],
    ]);
  });

  it('win over what is declared, also what is declared later', () => {
    const world = makeWorld();
    world.declare();
    world.look(6, { terms: [makeTerms({ amount: 7000 })] });
    world.declare({ routes: [makeRoute({ terms: [makeTerms({ amount: 5000 })] })] }, 12);
    expect(world.find()).toMatchObject({ price_min: 7000, price_max: 7000 });
  });

  it('give a price to a listing that was held for want of one', () => {
    const world = makeWorld();
    world.declare({ routes: [makeRoute({ terms: [] })] });
    expect(world.find().state).toBe('held');
    world.look(6, { terms: [makeTerms({ amount: 300 })] });
    expect(world.find()).toMatchObject({ state: 'live', price_min: 300, listed_at: getTime(6) });
    expect(listKinds(world)).toContainEqual(['listed', 'probed']);
  });

  it('of an answer that is no valid 402 are none', () => {
    const world = makeWorld();
    world.declare();
    world.look(0, { outcome: 'wildcard_402', status: 402, terms: [makeTerms({ amount: 9 })] });
    expect(world.find()).toMatchObject({ price_min: 1000, routes: [{ terms: [{ evidence: 'declared' }] }] });
  });
});

describe('a payee', () => {
  const payTo = (digit: number) => [makeTerms({ pay_to: `0x${String(digit).repeat(40)}` })];
  const listObserved = ({ find }: EvidenceWorld) =>
    find().routes[0]?.terms.filter(({ evidence }) => evidence === 'observed') ?? [];

  it('that is a fresh one each time is rotating, and leaves no rows behind', () => {
    const world = makeWorld();
    world.declare();
    world.look(0, { terms: payTo(2), payee_rotates: true });
    for (let turn = 1; turn < 30; turn += 1) world.look(turn * 6, { terms: payTo(turn % 9) });
    expect(world.find().routes[0]?.payee).toBe('rotating');
    expect(listObserved(world)).toMatchObject([{ pay_to: null, first_seen_at: getTime(0), current: true }]);
  });

  it('is taken for rotating without a second challenge, once three in a row differ', () => {
    const world = makeWorld();
    world.declare();
    for (let turn = 1; turn <= 20; turn += 1) world.look(turn * 6, { terms: payTo(turn % 9) });
    expect(world.find().routes[0]?.payee).toBe('rotating');
    expect(listObserved(world).length).toBeLessThanOrEqual(3);
    expect(listObserved(world).filter(({ current }) => current)).toMatchObject([{ pay_to: null }]);
  });

  it('that rotates leaves a verified route verified, and one that changed does not', () => {
    const world = makeWorld();
    world.declare();
    world.look(0);
    recordVerified(world.catalogue, 'example-prices', '/v1/price/:symbol', getTime(1));
    expect(world.find().routes[0]?.verification).toBe('settlement-verified');
    for (let turn = 2; turn < 9; turn += 1) {
      world.look(turn * 6, { terms: payTo(turn), ...(turn === 2 && { payee_rotates: true }) });
      expect(world.find().routes[0]?.verification).toBe('settlement-verified');
    }
    const other = makeWorld();
    other.declare();
    other.look(0);
    recordVerified(other.catalogue, 'example-prices', '/v1/price/:symbol', getTime(1));
    other.look(6, { terms: payTo(7), payee_rotates: false });
    expect(other.find().routes[0]).toMatchObject({ verification: 'unverified', payee: 'fixed', proof: null });
    expect(listKinds(other)).toContainEqual(['unverified', 'terms_changed']);
    expect(other.find().networks[0]).toMatchObject({ settlement_verified: false, last_verified_at: getTime(1) });
  });

  it('and network decide over a verification, not the price', () => {
    const world = makeWorld();
    world.declare();
    world.look(0);
    recordVerified(world.catalogue, 'example-prices', '/v1/price/:symbol', getTime(1));
    world.look(6, { terms: [makeTerms({ amount: 9000 })] });
    expect(world.find().routes[0]).toMatchObject({ verification: 'settlement-verified', proof: { amount: 1000 } });
    world.look(12, { terms: [SOLANA] });
    expect(world.find().routes[0]?.verification).toBe('unverified');
    // Asked again as it was paid, the receipt proves again.
    world.look(18);
    expect(world.find().routes[0]?.verification).toBe('settlement-verified');
    expect(listKinds(world)).toContainEqual(['verified', 'paid_and_delivered']);
  });
});

describe('a listing that fails', () => {
  it('loses its network after three failures in a row, and its price never', () => {
    const world = makeWorld();
    world.declare();
    world.look(0);
    failOn(world, { from: 6, times: 2 });
    expect(world.find().networks[0]).toMatchObject({ advertised: true });
    failOn(world, { from: 18, times: 1 });
    expect(world.find()).toMatchObject({ price_min: 1000, networks: [{ advertised: false, last_seen_at: null }] });
    world.look(24);
    expect(world.find().networks[0]).toMatchObject({ advertised: true, last_seen_at: getTime(24) });
  });

  it('is removed after 14 days and 10 failures, and put back by one valid 402', () => {
    const world = makeWorld();
    world.declare();
    world.look(0);
    // 55 failures, the last of them 13 days and 18 hours after the last valid 402.
    expect(failOn(world, { from: 6, times: 55 })).not.toContain('delisted');
    expect(world.look(335.9, fail())?.result).not.toBe('delisted');
    expect(world.look(336, fail())?.result).toBe('delisted');
    expect(world.find()).toMatchObject({ state: 'delisted', state_by: 'rule', state_reason: 'no_valid_402' });
    expect(listChanges(world.catalogue, { since: world.getRevision() - 1 })[0]).toMatchObject({
      kind: 'delisted',
      reason: 'no_valid_402',
      detail: { by: 'rule', evidence: { failing: { since: getTime(0), failures: 56 }, sample: { at: getTime(336) } } },
    });
    expect(world.look(360, fail())?.result).not.toBe('relisted');
    expect(world.look(384)?.result).toBe('relisted');
    expect(world.find()).toMatchObject({ state: 'live', state_by: null, networks: [{ advertised: true }] });
    expect(listKinds(world)).toContainEqual(['relisted', 'relisted_by_rule']);
  });

  it('that somebody put back has its 14 days again', () => {
    const world = makeWorld();
    world.declare();
    world.look(0);
    failOn(world, { from: 6, times: 60 });
    expect(world.find()).toMatchObject({ state: 'delisted', state_by: 'rule' });
    writeCatalogue(world.catalogue, getTime(370), (writing) =>
      relistListing(writing, world.find().slug, { by: 'operator' }),
    );
    expect(failOn(world, { from: 372, times: 50 })).not.toContain('delisted');
    expect(world.look(370 + 14 * 24, fail())?.result).toBe('delisted');
  });

  it('is not removed before it failed ten times, however long it is silent', () => {
    const world = makeWorld();
    world.declare();
    world.look(0);
    expect(failOn(world, { from: 100, times: 9, every: 100 })).not.toContain('delisted');
    expect(world.look(1000, fail())?.result).toBe('delisted');
  });

  it('and never answered is removed 14 days after the first failure', () => {
    const world = makeWorld();
    world.declare();
    expect(failOn(world, { from: 0, times: 56 })).not.toContain('delisted');
    expect(world.look(336, fail())?.result).toBe('delisted');
  });

  it.each(['input_rejected', 'rate_limited', 'blocked_address', 'internal'] as const)(
    'with %s alone stays as it is for ever',
    (outcome) => {
      const world = makeWorld();
      world.declare();
      world.look(0);
      for (let hours = 6; hours < 40 * 24; hours += 6) world.look(hours, fail(outcome));
      expect(world.find()).toMatchObject({
        ...{ state: 'live', networks: [{ advertised: true, last_seen_at: getTime(0) }] },
        reliability: { band: 'unscored', score: null },
      });
    },
  );

  it('is put back by a 402 that came while it was being removed', () => {
    const world = makeWorld();
    world.declare();
    failOn(world, { from: 0, times: 56 });
    world.see(336, fail());
    world.publish(336.2);
    expect(world.find()).toMatchObject({ state: 'delisted', state_at: getTime(336.2) });
    expect(world.look(336.1)?.result).toBe('relisted');
  });
});

describe('who was removed by somebody', () => {
  it.each(['operator', 'provider'] as const)('as the %s wished stays out, whatever a probe sees', (by) => {
    const world = makeWorld();
    world.declare();
    world.look(0);
    writeCatalogue(world.catalogue, getTime(1), (writing) =>
      delistListing(writing, 'example-prices', { by, reason: 'as wished' }),
    );
    for (let hours = 6; hours < 60; hours += 6) world.look(hours);
    expect(world.find()).toMatchObject({ state: 'delisted', state_by: by, state_reason: 'as wished' });
    // Neither does a rule put its own name on it.
    failOn(world, { from: 60, times: 70 });
    expect(world.find()).toMatchObject({ state: 'delisted', state_by: by, state_reason: 'as wished' });
    writeCatalogue(world.catalogue, getTime(500), (writing) => relistListing(writing, 'example-prices', { by }));
    expect(world.find().state).toBe('live');
  });
});
