import { describe, expect, it } from 'vitest';
import type { Catalogue } from '../../src/catalogue/database.ts';
import { listStaleListings } from '../../src/catalogue/integrity.ts';
import { type ProbeSample, probeSample } from '../../src/model/probe.ts';
import { makeRoute, makeSample, makeTerms, recordVerified } from '../builders.ts';
import { DAY, declareOthers, getTime, HOUR, makeWorld } from './evidence-world.ts';

const ROUTES = ['/v1/a', '/v1/b'].map((path) => makeRoute({ path }));

describe('a sample', () => {
  it('is kept whole, with its route', async () => {
    const world = await makeWorld();
    const { id, routes } = await world.declare({ routes: ROUTES });
    const seen = makeSample({
      outcome: 'server_error',
      cause: 'status_503',
      status: 503,
      retry_after_seconds: 9,
      detail: { a: 1 },
    });
    await world.see(1, { ...seen, path: '/v1/b' });
    await world.see(2, { path: '/v1/a' });
    const [last, first] = await listSamples(world.catalogue, id, 10);
    const { route_id, ...rest } = first ?? {};
    expect(rest).toEqual({ ...seen, at: getTime(1) });
    expect([last?.route_id, route_id]).toEqual(routes.map((route) => route.id));
    expect(probeSample.safeParse(rest).success).toBe(true);
    expect(await listSamples(world.catalogue, id, 1)).toHaveLength(1);
  });

  it('that a clock dates far ahead removes others, but for the newest 50', async () => {
    const world = await makeWorld();
    const { id } = await world.declare();
    const taken = Array.from({ length: 60 }, (_, index) => index * 6);
    for (const hours of taken) await world.see(hours);
    await world.look(130 * 24);
    const kept = await listSamples(world.catalogue, id, 100);
    expect(kept.map(({ at }) => at)).toEqual([...taken.slice(-49), 130 * 24].map(getTime).reverse());
  });

  it('of a seller that offers a hundred things is kept with the first twenty', async () => {
    const world = await makeWorld();
    const { id } = await world.declare();
    const terms = Array.from({ length: 100 }, (_, index) => makeTerms({ amount: 1000 + index }));
    const differences = terms.map((after) => ({ kind: 'added' as const, fields: [], before: null, after }));
    await world.look(0, { terms, differences });
    const [kept] = await listSamples(world.catalogue, id, 1);
    expect([kept?.terms.length, kept?.differences.length]).toEqual([20, 20]);
    expect(await world.find()).toMatchObject({ price_min: 1000, price_max: 1019 });
  });

  it('alone moves nothing that readers see', async () => {
    const world = await makeWorld();
    const before = await world.declare();
    await world.see(1, { outcome: 'no_402' });
    expect(await world.find()).toEqual(before);
    expect(await world.getRevision()).toBe(before.revision);
  });

  it('is let go of 90 days before the latest of its listing, the last one of a route never', async () => {
    const world = await makeWorld();
    const { id } = await world.declare({ routes: ROUTES });
    await world.look(0, { path: '/v1/b' });
    for (let day = 0; day < 120; day += 1) await world.see(day * 24 + 1, { path: '/v1/a' });
    await world.look(120 * 24 + 1, { path: '/v1/a' });
    const kept = await listSamples(world.catalogue, id, 1000);
    expect(kept.map(({ at }) => (Date.parse(at) - Date.parse(getTime(1))) / DAY).toSorted((a, b) => a - b)).toEqual([
      -HOUR / DAY,
      ...Array.from({ length: 91 }, (_, index) => 30 + index),
    ]);
    expect((await world.find()).routes.map(({ probe }) => probe?.at)).toEqual([getTime(120 * 24 + 1), getTime(0)]);
  });

  it('that was the last valid one stays, so that since when is known', async () => {
    const world = await makeWorld();
    const { id } = await world.declare();
    for (const day of [0, 1]) await world.look(day * 24);
    for (let day = 2; day < 120; day += 1) await world.see(day * 24, { outcome: 'timeout' });
    await world.look(120 * 24, { outcome: 'timeout' });
    expect(await listSamples(world.catalogue, id, 1000)).toHaveLength(1 + 91);
    expect((await world.find()).routes[0]?.probe).toMatchObject({ valid_at: getTime(24), failures: 91 });
  });

  it('of a listing that is no longer probed stays, and so does what follows from it', async () => {
    const world = await makeWorld();
    const { id } = await world.declare();
    for (let hours = 0; hours < 20 * 24; hours += 6) await world.look(hours);
    const [other = ''] = await declareOthers(world, 1);
    for (let day = 20; day < 119; day += 1) await world.see(day * 24, { slug: other });
    await world.look(119 * 24, { slug: other });
    expect(await listSamples(world.catalogue, id, 1000)).toHaveLength(80);
    expect((await world.find()).reliability).toMatchObject({ band: 'established' });
    expect(await listStaleListings(world.catalogue)).toEqual([]);
  });
});

describe('the check of a catalogue', () => {
  const listFaults = async ({ catalogue }: Awaited<ReturnType<typeof makeWorld>>) => [
    ...catalogue.engine.listFaults(),
    ...(await listStaleListings(catalogue)),
  ];

  it('finds nothing stale while samples wait to be published, for the end of a run or of a day', async () => {
    const world = await makeWorld();
    await world.declare();
    for (let hours = 0; hours < 100; hours += 6) {
      await world.see(hours, hours % 5 === 0 ? { outcome: 'timeout' } : {});
      expect(await listFaults(world)).toEqual([]);
      await world.publish(hours);
      expect(await listFaults(world)).toEqual([]);
    }
  });

  it('still finds what samples do not explain', async () => {
    const world = await makeWorld();
    await world.declare();
    for (const hours of [0, 6]) await world.look(hours);
    await recordVerified(world.catalogue, 'example-prices', '/v1/price/:symbol', getTime(7));
    await world.look(12);
    expect(await listFaults(world)).toEqual([]);
    const spoil = (sql: string) => world.catalogue.engine.sqlite.exec(sql);
    spoil(
      `UPDATE listings SET document = json_set(document, '$.price_min', 1, '$.networks[0].advertised', json('false'))`,
    );
    expect(await listFaults(world)).toMatchObject([{ fields: expect.arrayContaining(['price_min', 'networks']) }]);
  });
});

/** Lists the latest recorded samples of a listing, newest first. */
async function listSamples(
  { query }: Catalogue,
  listingId: string,
  limit: number,
): Promise<(ProbeSample & { route_id: string })[]> {
  const rows = await query
    .selectFrom('samples')
    .select(['route_id', 'at', 'outcome', 'cause', 'status', 'latency_ms', 'document'])
    .where('listing_id', '=', listingId)
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ document, ...columns }) => ({ ...JSON.parse(document), ...columns }));
}
