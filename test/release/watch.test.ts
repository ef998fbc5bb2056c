import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import type { ServiceError } from '../../src/errors.ts';
import { openPageCode } from '../../src/release/compiling.ts';
import type { RebuildResult } from '../../src/release/events.ts';
import { watchAndRebuild } from '../../src/release/watch.ts';
import { makeFolder } from '../builders.ts';
import { rebuildAgain } from './rebuilding.ts';
import { makeReleaseFixture, type ReleaseFixture } from './release-fixture.ts';

function watch({ config }: Pick<ReleaseFixture, 'config'>) {
  const stopping = new AbortController();
  const results: RebuildResult[] = [];
  const failures: [reason: string, retryInMs: number][] = [];
  const yielded: ServiceError[] = [];
  let looks = 0;
  const ended = watchAndRebuild({
    config: {
      ...config,
      // Each look asks where the releases are.
      get releasesDir() {
        looks += 1;
        return config.releasesDir;
      },
    },
    signal: stopping.signal,
    pace: { poll: 20, quiet: 100, quietLimit: 1000, backoff: 50, backoffLimit: 100 },
    onResult: (result) => results.push(result),
    onYield: (error) => yielded.push(error),
    onFailure: ({ reason }: ServiceError, retryInMs) => failures.push([reason, retryInMs]),
  });
  const stop = async () => {
    stopping.abort();
    await ended;
  };
  onTestFinished(stop);
  return { results, failures, yielded, stop, getLooks: () => looks };
}

/** More looks than come before a rebuild. */
const ENOUGH_LOOKS = 60;

/** Waits until all of these looked at the catalogue again and again and none found anything to do, or made 20 releases. */
async function waitForRest(watches: readonly ReturnType<typeof watch>[]): Promise<number> {
  const count = () => watches.reduce((sum, { results }) => sum + results.length, 0);
  for (;;) {
    const [released, looks] = [count(), watches.map(({ getLooks }) => getLooks())];
    const isIdle = () => watches.every(({ getLooks }, at) => getLooks() >= (looks[at] ?? 0) + ENOUGH_LOOKS);
    while (count() === released && !isIdle()) await sleep(5);
    if (count() === released || released >= 20) return released;
  }
}

// Compiling the pages, once for each version of the code, is not what is waited for here.
beforeAll(() => openPageCode({ onEvent: () => undefined }));

/** More often than a watch tries again. */
const SOON = { interval: 20 };

it('makes one release of many writes, and another after each change, damage, loss or rebuild for other settings', async () => {
  const fixture = await makeReleaseFixture(makeFolder(), { count: 2 });
  const { release } = await rebuildAgain({ config: fixture.config });
  const list = join(fixture.config.releasesDir, 'releases', release.id, 'root/list.json');
  writeFileSync(list, 'x'.repeat(statSync(list).size));
  const { results } = watch(fixture);
  // The n-th result, which is the last so far.
  const waitFor = async (n: number) => {
    await expect.poll(() => results, SOON).toHaveLength(n);
    return results.at(-1);
  };
  expect(await waitFor(1)).toMatchObject({ outcome: 'released', release: { revision: 1 } });

  for (const edition of ['a', 'b', 'c', 'd']) await fixture.put([0], edition);
  expect(await waitFor(2)).toMatchObject({ outcome: 'released', release: { revision: 5 } });
  await fixture.put([1], 'later');
  expect(await waitFor(3)).toMatchObject({ outcome: 'released', release: { revision: 6 } });
  expect(fixture.read('api.ap/api-1.html')).toContain('Title1 later');

  rmSync(join(fixture.config.releasesDir, 'current/root/list.json'));
  expect(await waitFor(4)).toMatchObject({ outcome: 'released' });
  rmSync(join(fixture.config.releasesDir, 'assets'), { recursive: true });
  expect(await waitFor(5)).toMatchObject({ outcome: 'unchanged' });
  expect(existsSync(join(fixture.config.releasesDir, 'assets/_astro'))).toBe(true);

  await rebuildAgain({ config: { ...fixture.config, baseUrl: 'http://mistaken.example' } });
  expect(await waitFor(6)).toMatchObject({ outcome: 'released' });
  expect(fixture.read('root/index.html')).toContain('http://catalogue.example');
});

it('does not rebuild for ever against another process with other settings in the same folder', async () => {
  const fixture = await makeReleaseFixture(makeFolder(), { count: 2 });
  const one = watch(fixture);
  await expect.poll(() => one.results, SOON).toHaveLength(1);
  const other = watch({ config: { ...fixture.config, baseUrl: 'http://other.example' } });
  const settle = async (least: number) => {
    await expect.poll(() => one.results.length + other.results.length, SOON).toBeGreaterThanOrEqual(least);
    return waitForRest([one, other]);
  };
  await expect.poll(() => [...one.yielded, ...other.yielded], SOON).toHaveLength(1);
  const first = await settle(2);
  expect(first).toBeLessThanOrEqual(5);
  expect([...one.yielded, ...other.yielded]).toMatchObject([
    {
      reason: 'releases_shared',
      message: expect.stringContaining('for another BASE_URL, title or contact'),
      hint: expect.stringContaining('its own RELEASES folder'),
    },
  ]);

  await fixture.put([1], 'second');
  const second = await settle(first + 1);
  expect(second - first).toBeLessThanOrEqual(4);
  expect(one.results.length + other.results.length).toBe(second);
  expect(one.yielded.length + other.yielded.length).toBeLessThanOrEqual(2);
});

it('goes on after failures, later each time, and stops when told to', async () => {
  const fixture = await makeReleaseFixture(makeFolder(), { count: 2 });
  // A file where the folder of releases should be.
  mkdirSync(fixture.config.releasesDir, { recursive: true });
  const obstacle = join(fixture.config.releasesDir, 'releases');
  writeFileSync(obstacle, '');
  const { results, failures, stop } = watch(fixture);
  await expect.poll(() => failures, SOON).toHaveLength(3);
  expect(failures.map(([, retryInMs]) => retryInMs)).toEqual([50, 100, 100]);
  rmSync(obstacle);
  await expect.poll(() => results, SOON).toHaveLength(1);
  await stop();
  await fixture.put([0], 'unseen');
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(results).toHaveLength(1);
});
