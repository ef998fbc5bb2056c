import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { buildSyntheticDeclaration } from '../../scripts/bench/synthetic.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { makeCatalogue, NOW } from '../builders.ts';
import { recordDeclaration } from '../written.ts';
import { serveLive } from './serving.ts';

interface Summary {
  live_listings: number;
  settlement_verified: number;
}

it('never gives one revision two different counts while the catalogue changes', async () => {
  const catalogue = await makeCatalogue();
  await writeCatalogue(catalogue, NOW, async (writing) => {
    for (let index = 0; index < 60; index += 1) await recordDeclaration(writing, buildSyntheticDeclaration(index));
  });
  const { get, reading } = await serveLive(catalogue, () => new Date());
  const writer = new Worker(new URL('./busy-writer.ts', import.meta.url), { workerData: { file: catalogue.address } });
  const exited = new Promise<number>((resolve) => writer.once('exit', resolve));
  const counts = new Map<number, string>();
  let fetched = 0;
  let running = true;
  void exited.then(() => {
    running = false;
  });
  while (running) {
    const followed = reading.catchUp();
    const [document, list] = await Promise.all([get('/openapi.json'), get('/agent/list?limit=1000')]);
    await followed;
    for (const response of [document, list]) {
      const revision = Number(response.headers.get('x-catalogue-revision'));
      const body = (await response.json()) as Record<string, unknown>;
      const summary = (body['x-catalogue'] ?? body.catalogue) as Summary;
      const said = `${summary.live_listings} live, ${summary.settlement_verified} verified`;
      expect(counts.get(revision) ?? said).toBe(said);
      counts.set(revision, said);
      const listed = (body.tags ?? body.listings) as unknown[];
      expect(listed).toHaveLength(summary.live_listings);
      fetched += 1;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await exited).toBe(0);
  expect(fetched).toBeGreaterThan(20);
  expect(counts.size).toBeGreaterThan(10);
  expect(new Set(counts.values()).size).toBeGreaterThan(5);
});
