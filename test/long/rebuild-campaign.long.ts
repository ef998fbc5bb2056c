import { expect, it } from 'vitest';
import { createRandom } from '../../scripts/bench/synthetic.ts';
import { makeFolder } from '../builders.ts';
import { serveSiteFixture } from '../http/running.ts';
import { runCampaign } from '../site/campaign.ts';
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
