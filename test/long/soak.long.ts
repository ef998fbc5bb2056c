import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import type { Asked } from '../../scripts/bench/measuring.ts';
import { buildSyntheticDeclaration, createRandom, WRITTEN_MAX } from '../../scripts/bench/synthetic.ts';
import { openWrittenWorld, startService } from '../../scripts/bench/world.ts';
import { openRebuilder } from '../../src/site/rebuild.ts';
import { PATHS } from '../../src/views/links.ts';
import { makeFolder } from '../builders.ts';
import { openCountLedger } from './soak/counts.ts';
import { findChild, getGrowth, type MemorySample, plotMemory, readMb } from './soak/memory.ts';
import { openQuestions } from './soak/questions.ts';
import { openWriter, RESERVED } from './soak/writer.ts';

/** `SOAK_MINUTES` and `SOAK_LISTINGS` make it shorter and smaller. */
const MINUTES = Number(process.env.SOAK_MINUTES ?? 20);
const LISTINGS = Number(process.env.SOAK_LISTINGS ?? 10_000);
/** Those that have names of their own, and so are asked for and written: of more listings the rest are their copies. */
const NAMED = Math.min(LISTINGS, WRITTEN_MAX);

/** Readers, and how long each rests between two requests, in milliseconds: the load has a bound. */
const READERS = 4;
const REST_MS = 15;
const WRITE_MS = 1000;
const REBUILD_MS = 10_000;
const SAMPLE_MS = 5000;

/** Most memory of the server, in MB, once a quiet minute has passed behind all of it: some 360 were seen. */
const MEMORY_MAX = 450;
const QUIET_MS = 130_000;
/** Of a catalogue of at most so many listings. */
const MEASURED_LISTINGS = 10_000;

/** By how much of itself memory may grow over the second half. In a short run it has not settled, so that is only shown. */
const GROWTH_MAX = 0.1;
const SETTLED_MINUTES = 5;

it(
  `serves ${MINUTES} minutes of everything, written to and rebuilt, without a fault`,
  async () => {
    const run = { folder: makeFolder(), rounds: 1, tell: (line: string) => console.info(line) };
    const world = await openWrittenWorld(run, LISTINGS);
    const server = await startService(world, '--no-rebuild');
    onTestFinished(server.stop);
    const rebuilder = openRebuilder({ background: true });
    onTestFinished(rebuilder.close);
    const writer = await openWriter(world.config.catalogueAddress, NAMED);
    onTestFinished(writer.close);
    const seed = Date.now() % 1_000_000;
    const slugs = Array.from({ length: NAMED - RESERVED }, (_, at) => buildSyntheticDeclaration(at).service_name ?? '');
    const build = openQuestions({ slugs, random: createRandom(seed) });
    const counts = openCountLedger();
    const [failed, memory] = [[] as string[], { server: [], rebuilder: [] } as Memory];
    let [requests, rebuilds] = [0, 0];

    const ask = async ({ path, method = 'GET', headers, body }: Asked) => {
      requests += 1;
      try {
        const response = await fetch(`${server.url}${path}`, { method, headers, body: body ?? null });
        const text = await response.text();
        if (!response.ok || text.includes('"isError":true')) failed.push(`${path}: ${response.status}`);
        counts.record(path, response.headers.get('x-catalogue-revision'), text);
      } catch (error) {
        failed.push(`${path}: ${error instanceof Error ? String(error.cause ?? error.message) : error}`);
      }
    };
    const readRevision = async () => {
      const response = await fetch(`${server.url}${PATHS.agentList}?limit=1`, { method: 'HEAD' });
      return Number(response.headers.get('x-catalogue-revision'));
    };
    const started = performance.now();
    let end = started + MINUTES * 60_000;
    // Where one part fails, the others end with it.
    onTestFinished(() => {
      end = 0;
    });
    const repeat = async (everyMs: number, work: () => Promise<void>) => {
      // What takes longer than its period is done less often, and not more times at the end.
      for (let next = performance.now() + everyMs; Math.max(next, performance.now()) < end; next += everyMs) {
        await sleep(Math.max(0, next - performance.now()));
        await work();
      }
    };
    const read = async () => {
      while (performance.now() < end) {
        await ask(build());
        await sleep(REST_MS);
      }
    };
    const write = async () => {
      const { revision, slug } = await writer.write();
      if (!slug) return;
      while ((await readRevision()) < revision) await sleep(5);
      // As soon as it is in the documents, a new listing has a page, which is not written yet.
      await ask({ path: PATHS.listing(slug), headers: {} });
    };
    const rebuild = async () => {
      const { outcome } = await rebuilder.rebuild({ config: world.config });
      if (outcome === 'written') rebuilds += 1;
    };
    const sample = async () => {
      const seconds = (performance.now() - started) / 1000;
      const held = { server: readMb(server.pid), rebuilder: readMb(findChild('rebuild-process')) };
      if (held.server !== undefined) memory.server.push({ seconds, mb: held.server });
      if (held.rebuilder !== undefined) memory.rebuilder.push({ seconds, mb: held.rebuilder });
    };
    await Promise.all([
      ...Array.from({ length: READERS }, read),
      repeat(WRITE_MS, write),
      repeat(REBUILD_MS, rebuild),
      repeat(SAMPLE_MS, sample),
    ]);

    console.info(
      `seed ${seed}: ${requests} requests (${(requests / MINUTES / 60).toFixed(0)}/s), ${rebuilds} rebuilds, counts of ` +
        `${counts.compared.size} revisions compared`,
    );
    for (const [name, samples] of Object.entries(memory)) {
      if (samples.length > 1) console.info(plotMemory(name, samples));
    }
    expect(failed).toEqual([]);
    expect(counts.wrong).toEqual([]);
    // It proves nothing where documents were not compared or pages not written.
    expect(counts.compared.size).toBeGreaterThan(MINUTES * 10);
    expect(rebuilds).toBeGreaterThan(MINUTES * 3);
    await rebuilder.close();
    await sleep(QUIET_MS);
    const quiet = readMb(server.pid) ?? 0;
    console.info(`${quiet.toFixed(0)} MB in the server behind a quiet minute`);
    if (LISTINGS <= MEASURED_LISTINGS) expect(quiet).toBeLessThan(MEMORY_MAX);
    if (MINUTES < SETTLED_MINUTES) return;
    for (const [name, samples] of Object.entries(memory)) {
      const last = samples.at(-1)?.mb ?? 0;
      expect(`${name}: ${getGrowth(samples) < GROWTH_MAX * last}`).toBe(`${name}: true`);
    }
  },
  // Making the catalogue and its first pages takes minutes, on a busy machine many.
  (MINUTES + 20) * 60_000,
);

interface Memory {
  readonly server: MemorySample[];
  readonly rebuilder: MemorySample[];
}
