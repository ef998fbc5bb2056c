import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { buildCursor } from '../../src/published/cursor.ts';
import { openRebuilder } from '../../src/site/rebuild.ts';
import { PATHS } from '../../src/views/links.ts';
import {
  type Asked,
  ask,
  buildGet,
  buildRow,
  buildToolCall,
  compareServers,
  ENCODINGS,
  type Goal,
  getMedian,
  getPercentile,
  type Row,
} from './measuring.ts';
import { getPeer, startBareServer, startExpressDirectory, startExpressDiscovery, startNginx } from './peers.ts';
import { changeListings, openForChanges, waitForRevision } from './rebuilds.ts';
import { createRandom, pickWords } from './synthetic.ts';
import {
  listShuffledSlugs,
  openWorld,
  openWrittenWorld,
  type Run,
  readUsage,
  type Server,
  startService,
  type World,
} from './world.ts';

const EXPRESS = 'Express and SQLite';

/** A kind of request that is measured beside an Express peer, by default the directory. */
interface Kind {
  readonly build: () => Asked;
  readonly isOfDiscovery?: boolean;
  readonly goal?: Goal;
  /** The two answer in forms or orders of their own, which are not compared. */
  readonly differs?: boolean;
}

/** Measures each kind of request beside Express servers of the same records. */
export async function measureDirectory(run: Run, listings: number): Promise<Row[]> {
  const world = await openWrittenWorld(run, listings);
  const [directory, discovery] = [await startExpressDirectory(world), await startExpressDiscovery(world)];
  const ours = await startService(world);
  try {
    const rows: Row[] = [];
    for (const [what, { build, isOfDiscovery, goal, differs }] of Object.entries(await openKinds(world))) {
      const theirs = isOfDiscovery ? discovery : directory;
      if (!differs) await checkAlike(ours, theirs, build());
      const compared = await compareServers({ ours, theirs, rounds: run.rounds, requestsPerRound: 200, build });
      rows.push(buildRow({ ...compared, listings, what, beside: EXPRESS, goal }));
    }
    return rows;
  } finally {
    await Promise.all([ours, directory, discovery].map(({ stop }) => stop()));
  }
}

/** Opens the kinds of requests for the records of a world. */
async function openKinds(world: World): Promise<Readonly<Record<string, Kind>>> {
  const random = createRandom(11);
  const getSlug = await openSlugs(world);
  const getNumber = openNumbers();
  const pickRequest = (words: number) => ({ q: pickWords(random, words), limit: 20 });
  /** Asks for 50 listings of at most a price that is another one each time. */
  const list = (query: Query = {}): Kind => ({
    build: () => buildGet(buildListPath({ limit: 50, ...query, max_price_usdc: `0.${100_000 + getNumber()}` }), 'gzip'),
  });
  return {
    'one listing as JSON': { build: () => buildGet(PATHS.agentListing(getSlug())), goal: 'cpu_ratio ≥ 1.2' },
    'one listing as JSON, gzip': {
      build: () => buildGet(PATHS.agentListing(getSlug()), 'gzip'),
      goal: 'cpu_ratio ≥ 1.2',
    },
    'first view of a page, br': {
      build: () => buildGet(PATHS.listing(getSlug()), 'br'),
      goal: 'cpu_ratio ≥ 1.2',
      differs: true,
    },
    'list by name, gzip': list(),
    'list by price, gzip': list({ sort: 'price' }),
    'list by price of a category, gzip': list({ sort: 'price', category: 'Tools' }),
    'list by price, four filters, gzip': list({
      ...{ sort: 'price', category: 'Tools', network: 'solana', verified: 'false' },
    }),
    'list by name from a cursor, gzip': {
      build: () => {
        const query = { max_price_usdc: String((100_000 + getNumber()) / 1_000_000) };
        const cursor = buildCursor({ after: { key: 0, slug: getSlug() } }, query, 'name');
        return buildGet(buildListPath({ ...query, limit: 50, cursor }), 'gzip');
      },
    },
    'list with facets, gzip': list({ limit: 20, facets: 'true' }),
    '50 of /discovery/resources, gzip': {
      // A prime as the step, so that all offsets come before any comes again.
      build: () =>
        buildGet(`${PATHS.discoveryResources}?limit=50&offset=${(getNumber() * 7919) % (4 * world.listings)}`, 'gzip'),
      isOfDiscovery: true,
      goal: 'cpu_ratio ≥ 1',
    },
    '20 of /discovery/search, gzip': {
      build: () => {
        const { q: query, limit } = pickRequest(3);
        return buildGet(`${PATHS.discoverySearch}?${new URLSearchParams({ query, limit: String(limit) })}`, 'gzip');
      },
      isOfDiscovery: true,
      differs: true,
    },
    'search in two to five words, gzip': {
      build: () => buildGet(buildListPath(pickRequest(2 + Math.floor(random() * 4))), 'gzip'),
      goal: 'cpu_ratio ≥ 2',
      differs: true,
    },
  };
}

/** Checks that two servers say the same: what is listed and how many match, or all of a document. */
async function checkAlike(ours: Server, theirs: Server, { path }: Asked): Promise<void> {
  const [our, their] = await Promise.all(
    [ours, theirs].map(async (server) => {
      const {
        catalogue: _catalogue,
        filters: _filters,
        next_cursor: _cursor,
        ...said
      } = JSON.parse((await ask(server, buildGet(path))).body.toString());
      return { ...said, ...(said.facets && { facets: listFacets(said.facets) }) };
    }),
  );
  if (!isDeepStrictEqual(their, our)) throw new Error(`The two servers answer ${path} otherwise.`);
}

/** Lists the counts of all facets in one order, without those of nothing. */
function listFacets(facets: Readonly<Record<string, readonly { value: string; count: number }[]>>): string[] {
  return Object.entries(facets)
    .flatMap(([name, counts]) => counts.map(({ value, count }) => ({ count, text: `${name} ${value}: ${count}` })))
    .filter(({ count }) => count > 0)
    .map(({ text }) => text)
    .sort();
}

/** Opens a counter. */
function openNumbers(): () => number {
  let last = 0;
  return () => {
    last += 1;
    return last;
  };
}

/** Opens a source of slugs: those of a catalogue in a random order, over and over. */
async function openSlugs(world: World): Promise<() => string> {
  const slugs = await listShuffledSlugs(world);
  const getNumber = openNumbers();
  return () => slugs[getNumber() % slugs.length] ?? '';
}

type Query = Readonly<Record<string, string | number>>;

function buildListPath(query: Query): string {
  return `${PATHS.agentList}?${new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))}`;
}

/** Measures the pages of listings beside one nginx worker that sends the same files. */
export async function measurePages(run: Run, listings: number): Promise<Row[]> {
  const nginx = await getPeer('nginx', run.tell);
  if (!nginx) return [];
  const world = await openWrittenWorld(run, listings);
  const ours = await startService(world);
  const { siteDir, baseUrl } = world.config;
  const theirs = await startNginx(nginx, { folder: `${siteDir}-nginx`, siteDir, upstream: ours.url, baseUrl });
  try {
    const getSlug = await openSlugs(world);
    const rows: Row[] = [];
    for (const encoding of ENCODINGS) {
      const build = () => buildGet(PATHS.listing(getSlug()), encoding);
      const compared = await compareServers({ ours, theirs, rounds: run.rounds, requestsPerRound: 400, build });
      rows.push(
        buildRow({ ...compared, listings, what: `page of a listing, ${encoding}`, beside: 'nginx, one worker' }),
      );
    }
    return rows;
  } finally {
    await Promise.all([ours.stop(), theirs.stop()]);
  }
}

/** Number of searches of each kind that are measured, and of those before them while code is compiled. */
const SEARCHES = 300;
const WARM_UP = 50;

/** Measures the time of searches, one after the other, beside FTS5 on the same texts. */
export async function measureSearch(run: Run, listings: number): Promise<Row[]> {
  const world = await openWrittenWorld(run, listings);
  const server = await startService(world);
  const random = createRandom(7);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const list = (query: Query) => buildGet(buildListPath(query));
  const pickRequest = () => pickWords(random, pick([2, 3, 4, 5, 6]));
  /** Searches that FTS5 can answer, too. */
  const searches: Readonly<Record<string, () => Asked>> = {
    'list: one word': () => list({ q: pickWords(random, 1), limit: 20 }),
    'list: one word, misspelt': () => list({ q: misspell(pickWords(random, 1)), limit: 20 }),
    'list: 2 to 6 words': () => list({ q: pickRequest(), limit: 20 }),
    'list: common words': () => list({ q: `data ${pickWords(random, 1)} price api token market`, limit: 20 }),
  };
  const others: Readonly<Record<string, () => Asked>> = {
    'list: words, by price': () => list({ q: pickWords(random, 3), sort: 'price', category: 'Data' }),
    'list: no words, sorted': () =>
      list({
        sort: pick(['name', 'price', 'updated', 'reliability', 'latency', 'proof']),
        max_price_usdc: random().toFixed(6),
      }),
    'list: limit=1, since': () =>
      list({ limit: 1, updated_since: `2026-10-01T00:00:00.${Math.floor(random() * 1e6)}Z` }),
    'MCP: 2 to 6 words': () => buildToolCall('search_listings', { q: pickRequest() }),
  };
  const goal = listings >= 100_000 ? 'ours < 25' : listings >= 10_000 ? 'ours < 10' : undefined;
  const theirs = await startExpressDirectory(world);
  try {
    const rows: Row[] = [];
    for (const [kind, build] of Object.entries({ ...searches, ...others })) {
      const times: number[] = [];
      const theirTimes: number[] = [];
      for (let count = -WARM_UP; count < SEARCHES; count += 1) {
        const asked = build();
        const { ms, body } = await ask(server, asked);
        if (body.includes('"isError":true')) throw new Error(`${kind}: ${body}`);
        if (count >= 0) times.push(ms);
        if (!(kind in searches)) continue;
        const their = await ask(theirs, asked);
        if (count >= 0) theirTimes.push(their.ms);
      }
      const row = (share: number) => ({
        ...{ listings, unit: 'ms', ours: getPercentile(times, share) },
        ...(theirTimes.length > 0 && { beside: `${EXPRESS}'s FTS5`, theirs: getPercentile(theirTimes, share) }),
      });
      rows.push(buildRow({ ...row(0.5), what: `${kind}, 50 % within` }));
      rows.push(buildRow({ ...row(0.99), what: `${kind}, 99 % within`, goal }));
    }
    return rows;
  } finally {
    await Promise.all([server.stop(), theirs.stop()]);
  }
}

/** Returns a word with two of its letters swapped. */
function misspell(word: string): string {
  const at = word.length >> 1;
  return word.slice(0, at - 1) + word[at] + word[at - 1] + word.slice(at + 1);
}

/** Time between two requests for the OpenAPI document, in milliseconds. */
const PAUSE_MS = 20;
const REQUESTS_AT_REST = 100;
const CHANGES = 20;

/**
 * Measures the OpenAPI document in the two hardest cases: its first byte while all pages are rendered in the background, and
 * the whole document when it is asked for first after one listing changed.
 */
export async function measureLatency(run: Run, listings: number): Promise<Row[]> {
  const world = await openWrittenWorld(run, listings);
  const server = await startService(world);
  const catalogue = await openForChanges(world);
  try {
    const rows = await measureBesideRebuild(run, world, server);
    for (const encoding of ENCODINGS) {
      const times: number[] = [];
      for (let change = 0; change < CHANGES; change += 1) {
        await waitForRevision(server, await changeListings(catalogue, 1));
        times.push((await ask(server, buildGet(PATHS.openapi, encoding))).ms);
      }
      rows.push(
        buildRow({ listings, what: `document after one change, ${encoding}`, unit: 'ms', ours: getMedian(times) }),
      );
    }
    return rows;
  } finally {
    await catalogue.close();
    await server.stop();
  }
}

async function measureBesideRebuild(run: Run, { listings }: World, server: Server): Promise<Row[]> {
  const asked = buildGet(PATHS.openapi, 'gzip');
  const bare = await startBareServer(await ask(server, asked));
  const time = async (asking: Server) => {
    const { firstByteMs } = await ask(asking, asked);
    await sleep(PAUSE_MS);
    return firstByteMs;
  };
  const atRest: number[] = [];
  for (let count = 0; count < REQUESTS_AT_REST; count += 1) atRest.push(await time(server));
  const { config } = await openWorld(run, listings, 'site-beside');
  const rebuilder = openRebuilder({ background: true });
  let isOver = false;
  const rebuilt = rebuilder.rebuild({ config }).finally(() => {
    isOver = true;
  });
  const [ours, theirs]: [number[], number[]] = [[], []];
  while (!isOver) {
    ours.push(await time(server));
    theirs.push(await time(bare));
  }
  await rebuilt;
  await Promise.all([rebuilder.close(), bare.stop()]);
  const base = { listings, unit: 'ms' };
  return [
    buildRow({ ...base, what: 'first byte at rest, 50 % within', ours: getMedian(atRest) }),
    ...[0.5, 0.99].map((share) =>
      buildRow({
        ...base,
        what: `first byte beside a full rebuild, ${share * 100} % within`,
        ours: getPercentile(ours, share),
        beside: 'bare server',
        theirs: getPercentile(theirs, share),
      }),
    ),
  ];
}

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
        ...{ listings, what: `first answer: ${what}`, unit: time === 'ms' ? 'ms' : 'ms of processor' },
        ours: getMedian(starts.map((start) => start[time])),
        ...(beside && { beside: EXPRESS, theirs: getMedian(beside.map((start) => start[time])) }),
        ...(beside && time === 'cpuMs' && { goal: listings >= 100_000 ? 'ratio ≤ 1' : 'ratio ≤ 1.5' }),
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
