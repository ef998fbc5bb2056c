import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { openCatalogue } from '../../src/catalogue/database.ts';
import { isOurRound } from '../../src/catalogue/rounds.ts';
import { IDENTITY, makeCatalogue, makeFolder, NOW } from '../builders.ts';
import { declareOthers, type EvidenceWorld, getTime, makeWorld } from './evidence-world.ts';

const SLUG = 'example-prices';
const TIMEOUT = { outcome: 'timeout' } as const;

const OTHERS = 9;

/** The catalogue that most tests begin with, which is written once. */
let answering: Buffer;
beforeAll(() => {
  const catalogue = openCatalogue(':memory:', { identity: IDENTITY, at: NOW });
  const world = makeWorld(catalogue);
  world.declare();
  lookOn(world, declareOthers(world, OTHERS), 0, 90);
  answering = catalogue.sqlite.serialize();
  catalogue.close();
});

/** A catalogue of ten hosts that all answered, every six hours, up to an hour. */
function makeAnswering(until = 90): { world: EvidenceWorld; others: string[] } {
  const file = join(makeFolder(), 'catalogue.sqlite');
  writeFileSync(file, answering);
  const world = makeWorld(makeCatalogue(file));
  const others = Array.from({ length: OTHERS }, (_, index) => `other-${index}`);
  lookOn(world, others, 96, until);
  return { world, others };
}

function lookOn(world: EvidenceWorld, others: string[], from: number, until: number): void {
  for (let hours = from; hours <= until; hours += 6) lookAtAll(world, others, hours, () => true);
}

/** Samples every listing in one round, the first one last, and publishes. */
function lookAtAll(world: EvidenceWorld, others: string[], hours: number, answers: (slug: string) => boolean) {
  for (const slug of [...others, SLUG]) world.see(hours, { slug, ...(!answers(slug) && TIMEOUT) });
  return world.publish(hours);
}

describe('while most hosts fail that used to answer', () => {
  it('nothing is removed, no score falls, no network goes', () => {
    const { world, others } = makeAnswering();
    const before = world.find();
    for (let hours = 96; hours <= 96 + 20 * 24; hours += 6) {
      const published = lookAtAll(world, others, hours, () => false);
      expect(published.map(({ result }) => result).filter((result) => result === 'delisted')).toEqual([]);
    }
    const after = world.find();
    expect(after).toMatchObject({ state: 'live', networks: [{ advertised: true, last_seen_at: getTime(90) }] });
    expect(after.reliability).toMatchObject({ band: 'thin', samples: 16, last_sample_at: getTime(90) });
    expect(Number(after.reliability.score)).toBeGreaterThanOrEqual(Number(before.reliability.score));
    expect(after.routes[0]?.probe).toMatchObject({ outcome: 'payable', failures: 0 });
    expect(isOurRound(world.catalogue, getTime(120))).toBe(true);
  });

  it('one that failed before is not removed either, though its days are full', () => {
    const { world, others } = makeAnswering();
    // Its own failures fill 13 days.
    for (let hours = 96; hours < 90 + 13 * 24; hours += 6) lookAtAll(world, others, hours, (slug) => slug !== SLUG);
    // Then our network goes, and one of its probes cannot even be sent.
    for (let hours = 90 + 13 * 24; hours < 90 + 20 * 24; hours += 6) lookAtAll(world, others, hours, () => false);
    for (const slug of others) world.see(90 + 20 * 24, { slug, ...TIMEOUT });
    world.see(90 + 20 * 24, { outcome: 'internal', cause: 'enetunreach' });
    world.publish(90 + 20 * 24);
    expect(world.find()).toMatchObject({ state: 'live' });
    // It is once the fault is not ours any more.
    lookAtAll(world, others, 90 + 20 * 24 + 6, (slug) => slug !== SLUG);
    expect(world.find()).toMatchObject({ state: 'delisted', state_by: 'rule' });
  });

  it('neither does time, be it that nothing could even be sent', () => {
    const { world, others } = makeAnswering(30 * 24);
    const before = world.find().reliability;
    for (let hours = 30 * 24 + 6; hours <= 37 * 24; hours += 6) {
      for (const slug of [...others, SLUG]) world.see(hours, { slug, outcome: 'internal', cause: 'enetunreach' });
      world.publish(hours);
    }
    expect(world.find().reliability).toMatchObject({
      band: 'established',
      score: before.score,
      samples: before.samples,
    });
  });

  it('who answers all the same is put back, and seen', () => {
    const { world, others } = makeAnswering();
    for (let hours = 96; hours <= 96 + 15 * 24; hours += 6) lookAtAll(world, others, hours, (slug) => slug !== SLUG);
    expect(world.find().state).toBe('delisted');
    lookAtAll(world, others, 96 + 16 * 24, (slug) => slug === SLUG);
    expect(world.find()).toMatchObject({ state: 'live', networks: [{ advertised: true }] });
  });
});

describe('a round', () => {
  it('that turns out not to be ours counts after all', () => {
    const { world, others } = makeAnswering();
    // Six hosts fail first, of which three had failed twice before.
    for (const hours of [96, 102])
      lookAtAll(world, others, hours, (slug) => !['other-0', 'other-1', SLUG].includes(slug));
    const failing = ['other-0', 'other-1', 'other-2', 'other-3', 'other-4', SLUG];
    for (const slug of failing) world.see(108, { slug, ...TIMEOUT });
    world.publish(108);
    expect(isOurRound(world.catalogue, getTime(108))).toBe(true);
    expect(world.find().routes[0]?.probe).toMatchObject({ failures: 2 });
    expect(world.find().networks[0]?.advertised).toBe(true);
    for (const slug of ['other-5', 'other-6', 'other-7', 'other-8']) world.see(109, { slug });
    world.publish(109);
    expect(isOurRound(world.catalogue, getTime(108))).toBe(true);
    // Two that failed answer at a second look: four of ten fail, and those of them count.
    for (const slug of ['other-3', 'other-4']) world.see(110, { slug });
    world.publish(110);
    expect(isOurRound(world.catalogue, getTime(108))).toBe(false);
    expect(world.find().routes[0]?.probe).toMatchObject({ failures: 3 });
    expect(world.find().networks[0]?.advertised).toBe(false);
  });

  it('that turns out to be ours leaves the network that its failures had taken away', () => {
    const { world, others } = makeAnswering();
    for (const hours of [96, 102]) lookAtAll(world, others, hours, (slug) => slug !== SLUG);
    world.see(108, TIMEOUT);
    world.publish(108);
    expect(world.find().networks[0]?.advertised).toBe(false);
    for (const slug of others) world.see(109, { slug, ...TIMEOUT });
    world.publish(109);
    expect(world.find().networks[0]?.advertised).toBe(true);
    expect(world.find().routes[0]?.probe).toMatchObject({ failures: 2 });
  });

  it('is judged although a later one was sampled before anything was published', () => {
    const { world, others } = makeAnswering();
    // A run is killed after an outage that it never got to judge; the next one is in the next round, and all is well.
    for (const slug of [...others, SLUG]) world.see(96, { slug, ...TIMEOUT });
    lookAtAll(world, others, 102, () => true);
    expect(isOurRound(world.catalogue, getTime(96))).toBe(true);
    expect(world.find().reliability).toMatchObject({ samples: 17 });
    // The same where a run goes on over the turn of a round.
    for (const slug of [...others, SLUG]) world.see(113.9, { slug, ...TIMEOUT });
    for (const slug of [...others, SLUG]) world.see(114.1, { slug, ...TIMEOUT });
    world.publish(114.2);
    expect([113.9, 114.1].map((hours) => isOurRound(world.catalogue, getTime(hours)))).toEqual([true, true]);
  });

  it('begins as ours while the first hosts go on failing, so that nothing flickers', () => {
    const { world, others } = makeAnswering();
    for (const hours of [96, 102]) lookAtAll(world, others, hours, (slug) => slug !== SLUG);
    lookAtAll(world, others, 108, () => false);
    const before = world.getRevision();
    world.see(114, TIMEOUT);
    world.publish(114);
    expect(world.getRevision()).toBe(before);
    expect(world.find().networks[0]?.advertised).toBe(true);
  });
});
