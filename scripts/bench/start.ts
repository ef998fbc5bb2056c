import { setTimeout as sleep } from 'node:timers/promises';
import { PATHS } from '../../src/views/links.ts';
import { ENCODINGS, listSlugs } from './requests.ts';
import { getMedian } from './rounds.ts';
import { buildRow, type Row } from './row.ts';
import { readAnswer, startServing } from './serving.ts';
import { readUsage } from './usage.ts';
import { openReleasedWorld, type Run } from './world.ts';

/** Each is asked of a process of its own, as its first request. */
const FIRST = [PATHS.home, PATHS.agentList, PATHS.openapi];

/** Documents that are asked once, compressed and not, before memory is looked at again. */
const EACH = [PATHS.openapi, PATHS.agentList, PATHS.guideFull, PATHS.sitemapIndex, PATHS.changesFeed, PATHS.home];

/** Memory is looked at after so long without a request, when the server has cleared away what is its own affair; milliseconds. */
const REST_MS = 1000;

/** Measures what starting takes with a release present, from the process's start to the end of its first answer, and its memory. */
export async function measureStart(run: Run, listings: number): Promise<Row[]> {
  const world = await openReleasedWorld(run, listings);
  const time = async (path: string) => {
    const started = performance.now();
    const server = await startServing(world);
    await readAnswer(server.url, { path, headers: {} });
    const ms = performance.now() - started;
    await server.stop();
    return ms;
  };
  const server = await startServing(world);
  const slugs = await listSlugs(server.url);
  await sleep(REST_MS);
  const loaded = readUsage(server.pid).rss;
  for (const path of EACH) {
    for (const headers of Object.values(ENCODINGS)) await readAnswer(server.url, { path, headers });
  }
  await sleep(REST_MS);
  const { rss, peak } = readUsage(server.pid);
  await server.stop();
  const rows: Row[] = [];
  for (const path of [...FIRST, ...slugs.slice(0, 1).map(PATHS.listing)]) {
    const times: number[] = [];
    for (let round = 0; round < run.rounds; round += 1) times.push(await time(path));
    rows.push(buildRow({ listings, what: `first answer: ${path}`, unit: 'ms', ours: getMedian(times) }));
  }
  const goal = listings === 10_000 ? '< 350' : undefined;
  const memory = { 'memory, loaded': loaded, 'memory, each document asked for once': rss, 'memory, most so far': peak };
  for (const [what, bytes] of Object.entries(memory)) {
    if (bytes !== undefined) rows.push(buildRow({ listings, what, unit: 'MB', ours: bytes / 1e6, goal }));
  }
  return rows;
}
