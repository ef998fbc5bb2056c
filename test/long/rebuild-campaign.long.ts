import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createRandom } from '../../scripts/bench/synthetic.ts';
import { makeFolder } from '../builders.ts';
import { serveSiteFixture } from '../http/running.ts';
import { runCampaign } from '../site/campaign.ts';
import { rebuildAgain } from '../site/rebuilding.ts';
import { makeSiteFixture } from '../site/site-fixture.ts';

it('200 rebuilds under load, every fourth killed at a random moment', async () => {
  const listings = 100;
  const fixture = await makeSiteFixture(makeFolder(), { count: listings, settings: { INTAKE: 'off' } });
  const server = await serveSiteFixture({ fixture });
  const seed = Date.now() % 1_000_000;
  const plan = { rebuilds: 200, killEvery: 4, listings, random: createRandom(seed) };
  const report = await runCampaign(fixture, server.url, makeFolder(), plan);
  console.log(
    `seed ${seed}: ${report.requests} requests, ${report.written} rebuilds, ${report.killed} killed, ${report.followed} links`,
  );
  expect(report).toMatchObject({ failed: [], wrong: [], different: [] });
  expect(report.killed).toBeGreaterThan(30);
  expect(server.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});

it('writes every page where several threads do', async () => {
  const fixture = await makeSiteFixture(makeFolder(), { count: 800 });
  const { site } = await rebuildAgain({ config: fixture.config });
  const files = [...fixture.readPages().values()].map(({ file }) => file);
  expect(files.length).toBeGreaterThan(1600);
  expect(files.filter((file) => !existsSync(join(fixture.config.siteDir, file)))).toEqual([]);
  for (const number of [0, 399, 799]) expect(fixture.readPages().has(`/api/api-${number}.md`)).toBe(true);
  expect(await rebuildAgain({ config: fixture.config })).toEqual({ outcome: 'unchanged', site });
});
