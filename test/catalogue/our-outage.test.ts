import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openCatalogue } from '../../src/catalogue/database.ts';
import { isOurs } from '../../src/catalogue/read/rounds.ts';
import { getRound } from '../../src/evidence/rounds.ts';
import { IDENTITY, makeCatalogue, makeFolder, NOW } from '../builders.ts';
import { inTurn } from '../in-turn.ts';
import { declareOthers, type EvidenceWorld, getTime, makeWorld, PROBER } from './evidence-world.ts';

const SLUG = 'example-prices';
const TIMEOUT = { outcome: 'timeout' } as const;

const OTHERS = 9;

/** Hours between two looks while hosts fail for weeks: every fourth round. */
const STEP = 24;

/** The catalogue that most tests begin with, which is written once. */
let answering: Buffer;
beforeAll(async () => {
  const catalogue = await openCatalogue(':memory:', { identity: IDENTITY, at: NOW });
  const world = await makeWorld(catalogue);
  await world.declare();
  await lookOn(world, await declareOthers(world, OTHERS), 0, 90);
  answering = catalogue.engine.sqlite.serialize();
  await catalogue.close();
});

/** A catalogue of ten hosts that all answered up to an hour, every six hours for four days. */
async function makeAnswering(until = 90): Promise<{ world: EvidenceWorld; others: string[] }> {
  const file = join(makeFolder(), 'catalogue.sqlite');
  writeFileSync(file, answering);
  const world = await makeWorld(await makeCatalogue(file));
  const others = Array.from({ length: OTHERS }, (_, index) => `other-${index}`);
  await lookOn(world, others, 96, until, 12);
  return { world, others };
}

async function lookOn(world: EvidenceWorld, others: string[], from: number, until: number, step = 6): Promise<void> {
  for (let hours = from; hours <= until; hours += step) await lookAtAll(world, others, hours, () => true);
}

/** Samples every listing in one round, the first one last, and publishes. */
async function lookAtAll(world: EvidenceWorld, others: string[], hours: number, answers: (slug: string) => boolean) {
  for (const slug of [...others, SLUG]) await world.see(hours, { slug, ...(!answers(slug) && TIMEOUT) });
  return await world.publish(hours);
}

describe('while most hosts fail that used to answer', () => {
  it('nothing is removed, no score falls, no network goes', async () => {
    const { world, others } = await makeAnswering();
    const before = await world.find();
    for (let hours = 96; hours <= 96 + 20 * 24; hours += STEP) {
      const published = await lookAtAll(world, others, hours, () => false);
      expect(published.map(({ result }) => result).filter((result) => result === 'delisted')).toEqual([]);
    }
    const after = await world.find();
    expect(after).toMatchObject({ state: 'live', networks: [{ advertised: true, last_seen_at: getTime(90) }] });
    expect(after.reliability).toMatchObject({ band: 'thin', samples: 16, last_sample_at: getTime(90) });
    expect(Number(after.reliability.score)).toBeGreaterThanOrEqual(Number(before.reliability.score));
    expect(after.routes[0]?.probe).toMatchObject({ outcome: 'payable', failures: 0 });
    expect(await isOurs(world.catalogue, PROBER, getRound(getTime(120)))).toBe(true);
  });

  it('of one prober, nobody suffers, and what another sees counts', async () => {
    const { world, others } = await makeAnswering();
    const [heard, unheard] = [others.slice(0, 4), others.slice(4)];
    for (let hours = 96; hours <= 96 + 20 * 24; hours += STEP) {
      for (const slug of heard) await world.see(hours, { slug, prober: 'other' });
      await world.see(hours, { slug: SLUG, prober: 'other', ...TIMEOUT });
      for (const slug of unheard) await world.see(hours, { slug, ...TIMEOUT });
      await world.publish(hours);
    }
    const last = getTime(96 + 20 * 24);
    expect(await isOurs(world.catalogue, PROBER, getRound(last))).toBe(true);
    expect(await isOurs(world.catalogue, 'other', getRound(last))).toBe(false);
    expect((await world.find(unheard[0])).reliability.last_sample_at).toBe(getTime(90));
    expect((await world.find(heard[0])).reliability.last_sample_at).toBe(last);
    expect(await world.find()).toMatchObject({ state: 'delisted', state_by: 'rule' });
  });

  it('one that failed before is not removed either, though its days are full', async () => {
    const { world, others } = await makeAnswering();
    // Its own failures fill 13 days.
    for (let hours = 96; hours < 90 + 13 * 24; hours += STEP)
      await lookAtAll(world, others, hours, (slug) => slug !== SLUG);
    // Then our network goes, and one of its probes cannot even be sent.
    for (let hours = 90 + 13 * 24; hours < 90 + 20 * 24; hours += STEP)
      await lookAtAll(world, others, hours, () => false);
    for (const slug of others) await world.see(90 + 20 * 24, { slug, ...TIMEOUT });
    await world.see(90 + 20 * 24, { outcome: 'internal', cause: 'enetunreach' });
    await world.publish(90 + 20 * 24);
    expect(await world.find()).toMatchObject({ state: 'live' });
    // It is once the fault is not ours any more.
    await lookAtAll(world, others, 90 + 20 * 24 + STEP, (slug) => slug !== SLUG);
    expect(await world.find()).toMatchObject({ state: 'delisted', state_by: 'rule' });
  });

  it('neither does time, be it that nothing could even be sent', async () => {
    const { world, others } = await makeAnswering(30 * 24);
    const before = (await world.find()).reliability;
    for (let hours = 30 * 24 + 6; hours <= 37 * 24; hours += STEP) {
      for (const slug of [...others, SLUG]) await world.see(hours, { slug, outcome: 'internal', cause: 'enetunreach' });
      await world.publish(hours);
    }
    expect((await world.find()).reliability).toMatchObject({
      band: 'established',
      score: before.score,
      samples: before.samples,
    });
  });

  it('who answers all the same is put back, and seen', async () => {
    const { world, others } = await makeAnswering();
    for (let hours = 96; hours <= 96 + 15 * 24; hours += STEP)
      await lookAtAll(world, others, hours, (slug) => slug !== SLUG);
    expect((await world.find()).state).toBe('delisted');
    await lookAtAll(world, others, 96 + 16 * 24, (slug) => slug === SLUG);
    expect(await world.find()).toMatchObject({ state: 'live', networks: [{ advertised: true }] });
  });
});

describe('a round', () => {
  it('that turns out not to be ours counts after all', async () => {
    const { world, others } = await makeAnswering();
    // Six hosts fail first, of which three had failed twice before.
    for (const hours of [96, 102])
      await lookAtAll(world, others, hours, (slug) => !['other-0', 'other-1', SLUG].includes(slug));
    const failing = ['other-0', 'other-1', 'other-2', 'other-3', 'other-4', SLUG];
    for (const slug of failing) await world.see(108, { slug, ...TIMEOUT });
    await world.publish(108);
    expect(await isOurs(world.catalogue, PROBER, getRound(getTime(108)))).toBe(true);
    expect((await world.find()).routes[0]?.probe).toMatchObject({ failures: 2 });
    expect((await world.find()).networks[0]?.advertised).toBe(true);
    for (const slug of ['other-5', 'other-6', 'other-7', 'other-8']) await world.see(109, { slug });
    await world.publish(109);
    expect(await isOurs(world.catalogue, PROBER, getRound(getTime(108)))).toBe(true);
    // Two that failed answer at a second look: four of ten fail, and those of them count.
    for (const slug of ['other-3', 'other-4']) await world.see(110, { slug });
    await world.publish(110);
    expect(await isOurs(world.catalogue, PROBER, getRound(getTime(108)))).toBe(false);
    expect((await world.find()).routes[0]?.probe).toMatchObject({ failures: 3 });
    expect((await world.find()).networks[0]?.advertised).toBe(false);
  });

  it('that turns out to be ours leaves the network that its failures had taken away', async () => {
    const { world, others } = await makeAnswering();
    for (const hours of [96, 102]) await lookAtAll(world, others, hours, (slug) => slug !== SLUG);
    await world.see(108, TIMEOUT);
    await world.publish(108);
    expect((await world.find()).networks[0]?.advertised).toBe(false);
    for (const slug of others) await world.see(109, { slug, ...TIMEOUT });
    await world.publish(109);
    expect((await world.find()).networks[0]?.advertised).toBe(true);
    expect((await world.find()).routes[0]?.probe).toMatchObject({ failures: 2 });
  });

  it('is judged although a later one was sampled before anything was published', async () => {
    const { world, others } = await makeAnswering();
    // A run is killed after an outage that it never got to judge; the next one is in the next round, and all is well.
    for (const slug of [...others, SLUG]) await world.see(96, { slug, ...TIMEOUT });
    await lookAtAll(world, others, 102, () => true);
    expect(await isOurs(world.catalogue, PROBER, getRound(getTime(96)))).toBe(true);
    expect((await world.find()).reliability).toMatchObject({ samples: 17 });
    // The same where a run goes on over the turn of a round.
    for (const slug of [...others, SLUG]) await world.see(113.9, { slug, ...TIMEOUT });
    for (const slug of [...others, SLUG]) await world.see(114.1, { slug, ...TIMEOUT });
    await world.publish(114.2);
    expect(await inTurn([113.9, 114.1], (hours) => isOurs(world.catalogue, PROBER, getRound(getTime(hours))))).toEqual([
      true,
      true,
    ]);
  });

  it('begins as ours while the first hosts go on failing, so that nothing flickers', async () => {
    const { world, others } = await makeAnswering();
    for (const hours of [96, 102]) await lookAtAll(world, others, hours, (slug) => slug !== SLUG);
    await lookAtAll(world, others, 108, () => false);
    const before = await world.getRevision();
    await world.see(114, TIMEOUT);
    await world.publish(114);
    expect(await world.getRevision()).toBe(before);
    expect((await world.find()).networks[0]?.advertised).toBe(true);
  });
});
