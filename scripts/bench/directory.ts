import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { PATHS } from '../../src/views/links.ts';
import { startChild, stopChild } from './children.ts';
import { buildSearches } from './requests.ts';
import { getMedian } from './rounds.ts';
import { buildRow, type Row } from './row.ts';
import { type Serving, startServing } from './serving.ts';
import { createRandom } from './synthetic.ts';
import { readUsage } from './usage.ts';
import { openReleasedWorld, type Run, type World } from './world.ts';

/** Requests of one kind in a round, no two alike in a whole run. */
const REQUESTS = 200;

const CONNECTIONS = 8;

/** One kind of request: what no other request of the run asks, by number, and how it is asked. */
interface Kind {
  readonly what: string;
  readonly getPath: (number: number) => string;
  readonly encoding?: string;
}

/**
 * Measures what nobody asked before: every request is another, on both sides, so that nothing comes from a cache. Beside us
 * a plain Express and SQLite directory of the same records. Rounds alternate, the first is not counted, since both compile
 * their code in it; the ratio is the median.
 */
export async function measureDirectory(run: Run, listings: number): Promise<Row[]> {
  const world = await openReleasedWorld(run, listings);
  const [ours, theirs] = [await startServing(world), await startDirectory(world)];
  try {
    const rows: Row[] = [];
    for (const { what, getPath, encoding } of await listKinds(ours.url, listings, run.rounds)) {
      const headers = encoding === undefined ? {} : { 'accept-encoding': encoding };
      const rounds: { ours: Round; theirs: Round }[] = [];
      for (let round = 0; round <= run.rounds; round += 1) {
        const paths = Array.from({ length: REQUESTS }, (_, at) => getPath(round * REQUESTS + at));
        const asked = { theirs: await ask(theirs, paths, headers), ours: await ask(ours, paths, headers) };
        if (round > 0) rounds.push(asked);
      }
      rows.push(
        buildRow({
          ...{ listings, what, unit: 'requests/s', beside: 'Express and SQLite', goal: '> 1' },
          ours: getMedian(rounds.map((round) => round.ours.perSecond)),
          theirs: getMedian(rounds.map((round) => round.theirs.perSecond)),
          ratio: getMedian(rounds.map((round) => round.ours.perSecond / round.theirs.perSecond)),
          cpu_ratio: getMedian(rounds.map((round) => round.theirs.cpuMs / round.ours.cpuMs)),
        }),
      );
    }
    return rows;
  } finally {
    await Promise.all([ours.stop(), theirs.stop()]);
  }
}

async function listKinds(url: string, listings: number, rounds: number): Promise<Kind[]> {
  const slugs: string[] = [];
  let next = '';
  do {
    const answer = await fetch(`${url}${PATHS.agentList}?limit=1000${next}`);
    const page: { listings: { slug: string }[]; next_cursor?: string } = await answer.json();
    slugs.push(...page.listings.map(({ slug }) => slug));
    next = page.next_cursor ? `&cursor=${page.next_cursor}` : '';
  } while (next && slugs.length < listings);
  // In no order of either database.
  const random = createRandom(7);
  const shuffled = slugs.map((slug) => ({ slug, at: random() })).sort((a, b) => a.at - b.at);
  const searches = buildSearches(REQUESTS * (rounds + 1));
  const getSlug = (number: number) => shuffled[number % shuffled.length]?.slug ?? '';
  // The pages that one kind asked for are none that another asks for.
  const getOther = (number: number) => shuffled[shuffled.length - 1 - (number % shuffled.length)]?.slug ?? '';
  return [
    { what: 'one listing as JSON', getPath: (number) => PATHS.agentListing(getSlug(number)) },
    { what: 'one listing as JSON, gzip', getPath: (number) => PATHS.agentListing(getOther(number)), encoding: 'gzip' },
    {
      what: 'a page of 50 of the list, gzip',
      getPath: (number) => `${PATHS.agentList}?limit=50&max_price_usdc=0.${String(1000 + number)}`,
      encoding: 'gzip',
    },
    {
      what: `50 of ${PATHS.discoveryResources}, gzip`,
      getPath: (number) => `${PATHS.discoveryResources}?limit=50&offset=${number}`,
      encoding: 'gzip',
    },
    { what: 'first view of a page, br', getPath: (number) => PATHS.listing(getSlug(number)), encoding: 'br' },
    {
      what: 'search in three words, gzip',
      getPath: (number) => `${PATHS.agentList}?${new URLSearchParams({ q: searches[number] ?? '', limit: '20' })}`,
      encoding: 'gzip',
    },
  ];
}

interface Round {
  readonly perSecond: number;
  readonly cpuMs: number;
}

/** Asks for all paths once, a few at a time. Throws for any answer but 200. */
async function ask({ url, pid }: Serving, paths: readonly string[], headers: Record<string, string>): Promise<Round> {
  const pool = new Pool(url, { connections: CONNECTIONS });
  const waiting = paths.values();
  const before = readUsage(pid).cpuMs ?? 0;
  const started = performance.now();
  const go = async () => {
    for (const path of waiting) {
      const { statusCode, body } = await pool.request({ path, method: 'GET', headers });
      await body.dump({ limit: Number.MAX_SAFE_INTEGER });
      if (statusCode !== 200) throw new Error(`${url}${path} was answered ${statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, go));
  const seconds = (performance.now() - started) / 1000;
  await pool.close();
  return { perSecond: paths.length / seconds, cpuMs: Math.max(1, (readUsage(pid).cpuMs ?? 0) - before) };
}

async function startDirectory({ env }: World): Promise<Serving> {
  const file = fileURLToPath(new URL('./express-directory.ts', import.meta.url));
  const child = startChild(process.execPath, [file], { env, ipc: true });
  const [port] = (await once(child, 'message')) as [number];
  return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, stop: () => stopChild(child) };
}
