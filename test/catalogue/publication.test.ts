import { describe, expect, it } from 'vitest';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { delistListing, relistListing } from '../../src/catalogue/write/decisions.ts';
import { UNSCORED } from '../../src/evidence/reliability.ts';
import { NETWORKS } from '../../src/model/network.ts';
import type { ProbeOutcome } from '../../src/model/probe.ts';
import { makeRoute, makeTerms, recordVerified } from '../builders.ts';
import { listAllChanges } from '../changes.ts';
import { inTurn } from '../in-turn.ts';
import { DAY, declareOthers, type EvidenceWorld, getTime, makeWorld } from './evidence-world.ts';

const SOLANA = makeTerms({ network: 'solana', asset: NETWORKS.solana.usdc, pay_to: 'So1aNaPayee' });
const listKinds = async ({ catalogue, getRevision }: EvidenceWorld, since?: number) =>
  (await listAllChanges(catalogue, since ?? (await getRevision()) - 1)).map(({ kind, reason }) => [kind, reason]);
const fail = (outcome: ProbeOutcome = 'timeout') => ({ outcome });

/** Fails every six hours, from an hour on, so often. */
async function failOn(
  { look }: EvidenceWorld,
  { from, times, every = 6 }: { from: number; times: number; every?: number },
) {
  return await inTurn(
    Array.from({ length: times }),
    async (_, index) => (await look(from + index * every, fail()))?.result,
  );
}

describe('samples alone', () => {
  it('of a listing that was never probed say nothing: no score, no default', async () => {
    const world = await makeWorld();
    expect((await world.declare()).reliability).toEqual(UNSCORED);
    expect(await world.publish(1)).toEqual([]);
    expect((await world.find()).routes[0]).toMatchObject({ probe: null, payee: null });
  });

  it('are published from the first on', async () => {
    const world = await makeWorld();
    await world.declare();
    expect(await world.look(1)).toEqual({ slug: 'example-prices', result: 'changed' });
    const { routes, reliability, networks } = await world.find();
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
    expect(await listKinds(world)).toEqual([
      ['cleared', 'probed'],
      ['routed', 'probed'],
    ]);
  });

  it('move nothing that readers see more than once a day, and never leave it a day behind', async () => {
    const world = await makeWorld();
    await world.declare();
    await world.look(0);
    const moved: number[] = [];
    for (let hours = 6; hours <= 32 * 24; hours += 6) {
      const before = await world.getRevision();
      await world.look(hours);
      if ((await world.getRevision()) > before) moved.push(hours);
      expect(Date.parse(getTime(hours)) - Date.parse((await world.find()).routes[0]?.probe?.at ?? '')).toBeLessThan(
        DAY,
      );
    }
    const perDay = Map.groupBy(moved, (hours) => Math.floor(hours / 24));
    expect(Math.max(...[...perDay.values()].map((times) => times.length))).toBe(1);
    expect((await world.find()).reliability).toMatchObject({ band: 'established', samples: 120 });
  });

  it('leave the revision as it was between, however many there are', async () => {
    const world = await makeWorld();
    await world.declare();
    // The second tells that the payee is a fixed one.
    for (const hours of [0, 1]) expect((await world.look(hours))?.result).toBe('changed');
    const before = await world.getRevision();
    for (let hours = 1.5; hours < 24; hours += 0.5) expect((await world.look(hours))?.result).toBe('unchanged');
    expect(await world.getRevision()).toBe(before);
    expect((await world.look(24))?.result).toBe('changed');
    expect(await world.getRevision()).toBe(before + 1);
    expect(await listKinds(world)).toEqual([]);
  });

  it('are published for all listings together, whenever each was sampled', async () => {
    const world = await makeWorld();
    await world.declare();
    const others = await declareOthers(world, 3);
    const slugs = ['example-prices', ...others];
    const moved: number[] = [];
    for (let hours = 0; hours < 12 * 24; hours += 2) {
      const before = await world.getRevision();
      await world.look(hours, { slug: slugs[(hours / 2) % 4] ?? '' });
      if ((await world.getRevision()) > before) moved.push(hours);
    }
    // After the first hours, in which each is seen for the first and the second time, and but for the days on which the
    // band of each rises, the revision moves once a day.
    const later = Map.groupBy(moved, (hours) => Math.floor(hours / 24));
    const counts = [...later].filter(([day]) => day > 0).map(([, hours]) => hours.length);
    expect(counts.toSorted((a, b) => a - b).slice(0, 8)).toEqual(Array.from({ length: 8 }, () => 1));
    expect(moved.length).toBeLessThan(8 + 8 + 12);
  });

  it('are published at once where the score moves by five points', async () => {
    const world = await makeWorld();
    await world.declare();
    for (let hours = 0; hours <= 120; hours += 6) await world.look(hours);
    const { score } = (await world.find()).reliability;
    const results = await failOn(world, { from: 126, times: 3 });
    expect(results[0]).toBe('changed');
    expect(Number(score) - Number((await world.find()).reliability.score)).toBeGreaterThan(5);
    expect(await listKinds(world)).not.toContainEqual(['scored', 'sampled']);
  });

  it('move the score in whole points, and are told as a change where its band is another', async () => {
    const world = await makeWorld();
    await world.declare();
    const bands: string[] = [];
    for (let hours = 0; hours <= 20 * 24; hours += 6) {
      const revision = await world.getRevision();
      await world.look(hours);
      const { score, band } = (await world.find()).reliability;
      expect(Number.isInteger(score ?? 0)).toBe(true);
      const kinds = await listAllChanges(world.catalogue, revision);
      for (const { kind, detail } of kinds)
        if (kind === 'scored') bands.push(`${Object(detail.to).band} ${hours / 24}`);
      if ((await world.getRevision()) > revision) expect((await world.find()).revision).toBe(revision + 1);
      expect(bands.at(-1)?.split(' ')[0] ?? 'unscored').toBe(band);
    }
    expect(bands).toEqual(['thin 3', 'established 14']);
  });
});

describe('terms that a probe sees', () => {
  it('are the price, and each time one stood is a period of its own', async () => {
    const world = await makeWorld();
    await world.declare();
    const ask = (hours: number, amount: number) => world.look(hours, { terms: [makeTerms({ amount })] });
    await ask(0, 1000);
    await ask(6, 1000);
    await ask(12, 2500);
    expect(await world.find()).toMatchObject({ price_min: 2500, price_max: 2500 });
    expect(await listKinds(world)).toEqual([
      ['priced', 'probed'],
      ['cautioned', 'price_above_record'],
      ['routed', 'probed'],
    ]);
    await ask(18, 1000);
    const observed = (await world.find()).routes[0]?.terms.filter(({ evidence }) => evidence === 'observed');
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
    expect((await world.find()).price_min).toBe(1000);
  });

  it('name a network more, or one less', async () => {
    const world = await makeWorld();
    await world.declare();
    await world.look(0);
    await world.look(6, { terms: [makeTerms(), SOLANA] });
    expect(
      (await world.find()).networks.map(({ key, advertised, last_seen_at }) => [key, advertised, last_seen_at]),
    ).toEqual([
      ['base', true, getTime(6)],
      ['solana', true, getTime(6)],
    ]);
    expect(await listKinds(world)).toContainEqual(['networked', 'probed']);
    await world.look(12);
    expect(
      (await world.find()).networks.map(({ key, advertised, last_seen_at }) => [key, advertised, last_seen_at]),
    ).toEqual([
      ['base', true, getTime(12)],
      ['solana', false, null],
    ]);
  });

  it('win over what is declared, also what is declared later', async () => {
    const world = await makeWorld();
    await world.declare();
    await world.look(6, { terms: [makeTerms({ amount: 7000 })] });
    await world.declare({ routes: [makeRoute({ terms: [makeTerms({ amount: 5000 })] })] }, 12);
    expect(await world.find()).toMatchObject({ price_min: 7000, price_max: 7000 });
  });

  it('give a price to a listing that was held for want of one', async () => {
    const world = await makeWorld();
    await world.declare({ routes: [makeRoute({ terms: [] })] });
    expect((await world.find()).state).toBe('held');
    await world.look(6, { terms: [makeTerms({ amount: 300 })] });
    expect(await world.find()).toMatchObject({ state: 'live', price_min: 300, listed_at: getTime(6) });
    expect(await listKinds(world)).toContainEqual(['listed', 'probed']);
  });

  it('of an answer that is no valid 402 are none', async () => {
    const world = await makeWorld();
    await world.declare();
    await world.look(0, { outcome: 'wildcard_402', status: 402, terms: [makeTerms({ amount: 9 })] });
    expect(await world.find()).toMatchObject({ price_min: 1000, routes: [{ terms: [{ evidence: 'declared' }] }] });
  });
});

describe('a payee', () => {
  const payTo = (digit: number) => [makeTerms({ pay_to: `0x${String(digit).repeat(40)}` })];
  const listObserved = async ({ find }: EvidenceWorld) =>
    (await find()).routes[0]?.terms.filter(({ evidence }) => evidence === 'observed') ?? [];

  it('that is a fresh one each time is rotating, and leaves no rows behind', async () => {
    const world = await makeWorld();
    await world.declare();
    await world.look(0, { terms: payTo(2), payee_rotates: true });
    for (let turn = 1; turn < 30; turn += 1) await world.look(turn * 6, { terms: payTo(turn % 9) });
    expect((await world.find()).routes[0]?.payee).toBe('rotating');
    expect(await listObserved(world)).toMatchObject([{ pay_to: null, first_seen_at: getTime(0), current: true }]);
  });

  it('is taken for rotating without a second challenge, once three in a row differ', async () => {
    const world = await makeWorld();
    await world.declare();
    for (let turn = 1; turn <= 20; turn += 1) await world.look(turn * 6, { terms: payTo(turn % 9) });
    expect((await world.find()).routes[0]?.payee).toBe('rotating');
    expect((await listObserved(world)).length).toBeLessThanOrEqual(3);
    expect((await listObserved(world)).filter(({ current }) => current)).toMatchObject([{ pay_to: null }]);
  });

  it('that rotates leaves a verified route verified, and one that changed does not', async () => {
    const world = await makeWorld();
    await world.declare();
    await world.look(0);
    await recordVerified(world.catalogue, 'example-prices', '/v1/price/:symbol', getTime(1));
    expect((await world.find()).routes[0]?.verification).toBe('settlement-verified');
    for (let turn = 2; turn < 9; turn += 1) {
      await world.look(turn * 6, { terms: payTo(turn), ...(turn === 2 && { payee_rotates: true }) });
      expect((await world.find()).routes[0]?.verification).toBe('settlement-verified');
    }
    const other = await makeWorld();
    await other.declare();
    await other.look(0);
    await recordVerified(other.catalogue, 'example-prices', '/v1/price/:symbol', getTime(1));
    await other.look(6, { terms: payTo(7), payee_rotates: false });
    expect((await other.find()).routes[0]).toMatchObject({ verification: 'unverified', payee: 'fixed', proof: null });
    expect(await listKinds(other)).toContainEqual(['unverified', 'terms_changed']);
    expect((await other.find()).networks[0]).toMatchObject({
      settlement_verified: false,
      last_verified_at: getTime(1),
    });
  });

  it('and network decide over a verification, not the price', async () => {
    const world = await makeWorld();
    await world.declare();
    await world.look(0);
    await recordVerified(world.catalogue, 'example-prices', '/v1/price/:symbol', getTime(1));
    await world.look(6, { terms: [makeTerms({ amount: 9000 })] });
    expect((await world.find()).routes[0]).toMatchObject({
      verification: 'settlement-verified',
      proof: { amount: 1000 },
    });
    await world.look(12, { terms: [SOLANA] });
    expect((await world.find()).routes[0]?.verification).toBe('unverified');
    // Asked again as it was paid, the receipt proves again.
    await world.look(18);
    expect((await world.find()).routes[0]?.verification).toBe('settlement-verified');
    expect(await listKinds(world)).toContainEqual(['verified', 'paid_and_delivered']);
  });
});

describe('a listing that fails', () => {
  it('loses its network after three failures in a row, and its price never', async () => {
    const world = await makeWorld();
    await world.declare();
    await world.look(0);
    await failOn(world, { from: 6, times: 2 });
    expect((await world.find()).networks[0]).toMatchObject({ advertised: true });
    await failOn(world, { from: 18, times: 1 });
    expect(await world.find()).toMatchObject({
      price_min: 1000,
      networks: [{ advertised: false, last_seen_at: null }],
    });
    await world.look(24);
    expect((await world.find()).networks[0]).toMatchObject({ advertised: true, last_seen_at: getTime(24) });
  });

  it('is removed after 14 days and 10 failures, and put back by one valid 402', async () => {
    const world = await makeWorld();
    await world.declare();
    await world.look(0);
    // 55 failures, the last of them 13 days and 18 hours after the last valid 402.
    expect(await failOn(world, { from: 6, times: 55 })).not.toContain('delisted');
    expect((await world.look(335.9, fail()))?.result).not.toBe('delisted');
    expect((await world.look(336, fail()))?.result).toBe('delisted');
    expect(await world.find()).toMatchObject({ state: 'delisted', state_by: 'rule', state_reason: 'no_valid_402' });
    expect((await listAllChanges(world.catalogue, (await world.getRevision()) - 1))[0]).toMatchObject({
      kind: 'delisted',
      reason: 'no_valid_402',
      detail: { by: 'rule', evidence: { failing: { since: getTime(0), failures: 56 }, sample: { at: getTime(336) } } },
    });
    expect((await world.look(360, fail()))?.result).not.toBe('relisted');
    expect((await world.look(384))?.result).toBe('relisted');
    expect(await world.find()).toMatchObject({ state: 'live', state_by: null, networks: [{ advertised: true }] });
    expect(await listKinds(world)).toContainEqual(['relisted', 'relisted_by_rule']);
  });

  it('that somebody put back has its 14 days again', async () => {
    const world = await makeWorld();
    await world.declare();
    await world.look(0);
    await failOn(world, { from: 6, times: 16, every: 24 });
    expect(await world.find()).toMatchObject({ state: 'delisted', state_by: 'rule' });
    const { slug } = await world.find();
    await writeCatalogue(world.catalogue, getTime(370), (writing) => relistListing(writing, slug, { by: 'operator' }));
    expect(await failOn(world, { from: 372, times: 14, every: 24 })).not.toContain('delisted');
    expect((await world.look(370 + 14 * 24, fail()))?.result).toBe('delisted');
  });

  it('is not removed before it failed ten times, however long it is silent', async () => {
    const world = await makeWorld();
    await world.declare();
    await world.look(0);
    expect(await failOn(world, { from: 100, times: 9, every: 100 })).not.toContain('delisted');
    expect((await world.look(1000, fail()))?.result).toBe('delisted');
  });

  it('and never answered is removed 14 days after the first failure', async () => {
    const world = await makeWorld();
    await world.declare();
    expect(await failOn(world, { from: 0, times: 56 })).not.toContain('delisted');
    expect((await world.look(336, fail()))?.result).toBe('delisted');
  });

  it.each(['input_rejected', 'rate_limited', 'blocked_address', 'internal'] as const)(
    'with %s alone stays as it is for ever',
    async (outcome) => {
      const world = await makeWorld();
      await world.declare();
      await world.look(0);
      for (let hours = 6; hours < 40 * 24; hours += 24) await world.look(hours, fail(outcome));
      expect(await world.find()).toMatchObject({
        ...{ state: 'live', networks: [{ advertised: true, last_seen_at: getTime(0) }] },
        reliability: { band: 'unscored', score: null },
      });
    },
  );

  it('is put back by a 402 that came while it was being removed', async () => {
    const world = await makeWorld();
    await world.declare();
    await failOn(world, { from: 0, times: 14, every: 24 });
    await world.see(336, fail());
    await world.publish(336.2);
    expect(await world.find()).toMatchObject({ state: 'delisted', state_at: getTime(336.2) });
    expect((await world.look(336.1))?.result).toBe('relisted');
  });
});

describe('who was removed by somebody', () => {
  it.each(['operator', 'provider'] as const)('as the %s wished stays out, whatever a probe sees', async (by) => {
    const world = await makeWorld();
    await world.declare();
    await world.look(0);
    await writeCatalogue(world.catalogue, getTime(1), (writing) =>
      delistListing(writing, 'example-prices', { by, reason: 'as wished' }),
    );
    for (let hours = 6; hours < 60; hours += 6) await world.look(hours);
    expect(await world.find()).toMatchObject({ state: 'delisted', state_by: by, state_reason: 'as wished' });
    // Neither does a rule put its own name on it.
    await failOn(world, { from: 60, times: 18, every: 24 });
    expect(await world.find()).toMatchObject({ state: 'delisted', state_by: by, state_reason: 'as wished' });
    await writeCatalogue(world.catalogue, getTime(500), (writing) => relistListing(writing, 'example-prices', { by }));
    expect((await world.find()).state).toBe('live');
  });
});
