import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import type { ServiceError } from '../../src/errors.ts';
import { openPageCode } from '../../src/site/compiling.ts';
import type { RebuildResult } from '../../src/site/events.ts';
import { getSitePaths } from '../../src/site/paths.ts';
import { watchAndRebuild } from '../../src/site/watch.ts';
import { makeFolder } from '../builders.ts';
import { makeWritten, rebuildAgain } from './rebuilding.ts';
import { makeSiteFixture, type SiteFixture } from './site-fixture.ts';

function watch({ config }: Pick<SiteFixture, 'config'>) {
  const stopping = new AbortController();
  const results: RebuildResult[] = [];
  const failures: [reason: string, retryInMs: number][] = [];
  const yielded: ServiceError[] = [];
  let looks = 0;
  const ended = watchAndRebuild({
    config: {
      ...config,
      // Each look asks for the settings of the site.
      get serviceTitle() {
        looks += 1;
        return config.serviceTitle;
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

/** One that finds something to do is the last before a rebuild. */
const ENOUGH_LOOKS = 10;

// Compiling the pages, once for each version of the code, is not what is waited for here.
beforeAll(() => openPageCode({ onEvent: () => undefined }));

/** More often than a watch tries again. */
const SOON = { interval: 20 };

it('goes on after failures, later each time, rebuilds once for many writes and again where the folder or its record is lost or damaged, and stops when told to', async () => {
  const fixture = await makeSiteFixture(makeFolder(), { count: 2 });
  const { siteDir, catalogueAddress } = fixture.config;
  const { record, folder } = getSitePaths(siteDir);
  renameSync(catalogueAddress, `${catalogueAddress}.away`);
  writeFileSync(record, Buffer.alloc(8192, 0xa5));
  const { results, failures, stop } = watch(fixture);
  await expect.poll(() => failures, SOON).toHaveLength(3);
  renameSync(`${catalogueAddress}.away`, catalogueAddress);
  expect(failures.slice(0, 3)).toEqual([
    ['no_catalogue', 50],
    ['no_catalogue', 100],
    ['no_catalogue', 100],
  ]);
  // The n-th result, which is the last so far.
  const waitFor = async (n: number) => {
    await expect.poll(() => results, SOON).toHaveLength(n);
    return results.at(-1);
  };
  expect(await waitFor(1)).toMatchObject({ outcome: 'written', site: { revision: 1 } });

  for (const edition of ['a', 'b', 'c', 'd']) await fixture.put([0], edition);
  expect(await waitFor(2)).toMatchObject({ outcome: 'written', site: { revision: 5 } });
  expect(fixture.read('api/api-0.html')).toContain('Title0 d');

  rmSync(record);
  expect(await waitFor(3)).toMatchObject({ outcome: 'written', unchanged: 0 });
  rmSync(folder, { recursive: true });
  expect(await waitFor(4)).toMatchObject({ outcome: 'written', unchanged: 0 });
  await stop();
  await fixture.put([0], 'unseen');
  // As long as three looks of a quiet watch.
  await sleep(300);
  expect(results).toHaveLength(4);
});

it('does not rebuild for ever against another process with other settings in the same folder', async () => {
  const fixture = await makeWritten(makeFolder());
  const { results, yielded, getLooks } = watch(fixture);
  // Looks at the catalogue again and again, and finds nothing to do.
  const waitForRest = async () => {
    const looks = getLooks();
    await expect.poll(getLooks, SOON).toBeGreaterThan(looks + ENOUGH_LOOKS);
  };
  await waitForRest();
  const takeOver = () => rebuildAgain({ config: { ...fixture.config, baseUrl: 'http://other.example' } });
  await takeOver();
  await waitForRest();
  expect(results).toEqual([]);
  expect(yielded).toMatchObject([
    {
      reason: 'site_shared',
      message: expect.stringContaining('for another BASE_URL, title or contact'),
      hint: expect.stringContaining('its own SITE folder'),
    },
  ]);

  await fixture.put([1], 'second');
  await expect.poll(() => results, SOON).toHaveLength(1);
  await takeOver();
  await waitForRest();
  expect([results.length, yielded.length]).toEqual([1, 2]);
});
