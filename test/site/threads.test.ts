import { mkdirSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { expect, it } from 'vitest';
import { getPublishedState } from '../../src/published/state.ts';
import { openPageCode } from '../../src/site/compiling.ts';
import { getSitePaths } from '../../src/site/paths.ts';
import { countThreads, openThreads } from '../../src/site/threads.ts';
import { makeFolder } from '../builders.ts';
import { openTestReading } from '../reading.ts';
import { rebuildAgain } from './rebuilding.ts';
import { makeSiteFixture } from './site-fixture.ts';

it('renders in one thread where there are few pages, or less than 2 GB of memory', () => {
  const most = Math.min(4, availableParallelism());
  expect(countThreads(0)).toBe(1);
  expect(countThreads(1000, 8e9)).toBe(1);
  expect(countThreads(100_000, 8e9)).toBe(most);
  expect(countThreads(100_000, 1e9)).toBe(1);
});

it('writes pages in another thread, of the state that it is asked for alone', async (context) => {
  context.skip(availableParallelism() < 2, 'one processor: use a machine with two');
  const { config, catalogue } = await makeSiteFixture(makeFolder(), { count: 1 });
  await rebuildAgain({ config });
  const reading = await openTestReading({ address: config.catalogueAddress }, { site: config });
  const state = getPublishedState(reading.published);
  const code = await openPageCode({ onEvent: () => undefined });
  const { unfinished } = getSitePaths(config.siteDir);
  mkdirSync(unfinished);
  const pages = [{ path: '/api/api-0', file: 'api/api-0.html', key: 'key', number: 7 }];
  const threads = openThreads(5000);
  const written = await threads.run({ config, code, state, pages });
  expect(written).toMatchObject([{ path: '/api/api-0', number: 7, forms: ['br', 'gz'] }]);
  expect(readdirSync(unfinished).sort()).toEqual(['7', '7.br', '7.gz']);
  expect(await threads.run({ config, code, state: { ...state, revision: 2 }, pages })).toBeUndefined();
  await threads.close();
  await catalogue.close();
});
