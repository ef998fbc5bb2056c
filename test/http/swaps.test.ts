import { expect, it } from 'vitest';
import { createRandom } from '../../scripts/bench/synthetic.ts';
import { makeFolder } from '../builders.ts';
import { runCampaign } from '../release/campaign.ts';
import { makeShelf } from '../release/shelf.ts';
import { serveShelf } from './running.ts';

it('three rebuilds under load, one of them killed: no request fails and no page is of another listing', {
  timeout: 90_000,
}, async () => {
  const listings = 30;
  const shelf = await makeShelf(makeFolder(), { count: listings });
  const server = await serveShelf({ shelf });
  const plan = { rebuilds: 3, killEvery: 2, listings, random: createRandom(7) };
  const report = await runCampaign(shelf, server.url, makeFolder(), plan);
  expect(report).toMatchObject({ failed: [], wrong: [], different: [] });
  expect(report.killed + report.released).toBe(3);
  expect(report.requests).toBeGreaterThan(250);
  expect(server.logged.filter(({ level }) => Number(level) >= 50)).toEqual([]);
});
