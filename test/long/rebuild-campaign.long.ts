import { expect, it } from 'vitest';
import { createRandom } from '../../scripts/bench/synthetic.ts';
import { makeFolder } from '../builders.ts';
import { serveReleaseFixture } from '../http/running.ts';
import { runCampaign } from '../release/campaign.ts';
import { makeReleaseFixture } from '../release/release-fixture.ts';

it('200 rebuilds under load, every fifth killed at a random moment', async () => {
  const listings = 100;
  const fixture = await makeReleaseFixture(makeFolder(), { count: listings });
  const server = await serveReleaseFixture({ fixture });
  const seed = Date.now() % 1_000_000;
  const plan = { rebuilds: 200, killEvery: 5, listings, random: createRandom(seed) };
  const report = await runCampaign(fixture, server.url, makeFolder(), plan);
  console.log(`seed ${seed}: ${report.requests} requests, ${report.released} releases, ${report.killed} killed`);
  expect(report).toMatchObject({ failed: [], wrong: [], different: [] });
  expect(report.killed).toBeGreaterThan(20);
  expect(server.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});
