import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { PATHS } from '../../src/views/links.ts';
import { ask, buildGet, buildListPath, buildRow, ENCODINGS, type Goal, getMedian, type Row } from './measuring.ts';
import { EXPRESS, startExpressDirectory } from './peers.ts';
import {
  listShuffledSlugs,
  openWrittenWorld,
  type Run,
  readUsage,
  type Server,
  startService,
  type World,
} from './world.ts';

/** Time without a request after which the server has collected its garbage, in milliseconds. */
const REST_MS = 1000;

/** Measures the start of the process to the end of its first answer, and the server's memory. */
export async function measureStart(run: Run, listings: number): Promise<Row[]> {
  const world = await openWrittenWorld(run, listings);
  const [slug = ''] = await listShuffledSlugs(world);
  const paths = [buildListPath({ q: 'weather forecast' }), PATHS.listing(slug), PATHS.openapi];
  const startOurs = () => startService(world);
  const startTheirs = () => startExpressDirectory(world);
  const rounds = Math.min(5, run.rounds);
  const [ours, theirs]: [Start[], Start[]] = [[], []];
  for (let round = 0; round <= rounds; round += 1) {
    const pair = {
      theirs: await timeStart(startTheirs, PATHS.agentList),
      ours: await timeStart(startOurs, PATHS.agentList),
    };
    // Not counted, because the first start of the directory copies the records and Node compiles the code of both.
    if (round === 0) continue;
    ours.push(pair.ours);
    theirs.push(pair.theirs);
  }
  const row = (what: string, starts: readonly Start[], beside?: readonly Start[]) =>
    (['ms', 'cpuMs'] as const).map((time) =>
      buildRow({
        listings,
        what: `first answer: ${what}`,
        unit: time === 'ms' ? 'ms' : 'ms of processor',
        ours: getMedian(starts.map((start) => start[time])),
        ...(beside && { beside: EXPRESS, theirs: getMedian(beside.map((start) => start[time])) }),
        ...(beside && time === 'cpuMs' && { goal: 'ratio ≤ 1.5' }),
      }),
    );
  const rows = row(PATHS.agentList, ours, theirs);
  for (const path of [PATHS.home, ...paths]) {
    const starts: Start[] = [];
    for (let round = 0; round < rounds; round += 1) starts.push(await timeStart(startOurs, path));
    rows.push(...row(path.replace(slug, '{slug}'), starts));
  }
  const memory = await measureMemory(world, [...paths, PATHS.agentListing(slug)], PATHS.picture(slug));
  const file = statSync(world.config.publishedFile).size;
  return [...rows, ...memory, buildRow({ listings, what: 'file that is served', unit: 'MB', ours: file / 1e6 })];
}

/** Time from the start of a process to the end of its first answer, and its processor time until then, in milliseconds. */
interface Start {
  readonly ms: number;
  readonly cpuMs: number;
}

async function timeStart(start: () => Promise<Server>, path: string): Promise<Start> {
  const started = performance.now();
  const server = await start();
  await ask(server, buildGet(path));
  const ms = performance.now() - started;
  const { cpuMs = 0 } = readUsage(server.pid);
  await server.stop();
  return { ms, cpuMs };
}

async function measureMemory({ env, listings }: World, paths: readonly string[], picture: string): Promise<Row[]> {
  const server = await startService({ env });
  for (const path of paths) {
    for (const encoding of ENCODINGS) await ask(server, buildGet(path, encoding));
  }
  await sleep(REST_MS);
  const { rss, peak } = readUsage(server.pid);
  await ask(server, buildGet(picture));
  await sleep(REST_MS);
  const painted = readUsage(server.pid).rss;
  await server.stop();
  if (rss === undefined || peak === undefined || painted === undefined) return [];
  const goal: Goal | undefined = listings === 10_000 ? 'ours < 350' : undefined;
  const row = (what: string, bytes: number) => buildRow({ listings, what, unit: 'MB', ours: bytes / 1e6 });
  return [
    { ...row('memory, everything loaded', rss), goal },
    { ...row('memory, the most until then', peak), goal },
    row('memory, after the picture of a link, too', painted),
  ];
}
