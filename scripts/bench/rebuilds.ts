import { once } from 'node:events';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { type Catalogue, openCatalogue } from '../../src/catalogue/database.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { recordDeclarations } from '../../src/catalogue/write/declarations.ts';
import { compressPage } from '../../src/site/forms.ts';
import { getSitePaths } from '../../src/site/paths.ts';
import { openRebuilder } from '../../src/site/rebuild.ts';
import { findBuild, findRecord } from '../../src/site/record.ts';
import { countThreads } from '../../src/site/threads.ts';
import { PATHS } from '../../src/views/links.ts';
import { ask, buildGet, buildRow, type Goal, getMedian, type Row } from './measuring.ts';
import { buildWithHugo, getHugo, type HugoBuild } from './peers.ts';
import { buildSyntheticDeclaration } from './synthetic.ts';
import { listFamily, openWorld, type Run, readUsage, rebuild, type Server, startService, type World } from './world.ts';

/** Number of listings from which a full rebuild takes minutes and is made only once. */
const LARGE = 100_000;

/** Numbers of listings that one write changes. */
const CHANGES = [1, 10, 1000];

/** Time between two requests of a reader, in milliseconds. */
const PAUSE_MS = 5;

/** Measures full rebuilds beside Hugo, and how soon documents and pages show a change. */
export async function measureRebuilds(run: Run, listings: number): Promise<Row[]> {
  const world = await openWorld(run, listings, 'site-rebuilds');
  run.tell('Writing every page …');
  await rebuild(world);
  const catalogue = await openForChanges(world);
  try {
    return [
      await measureCommand(run, world, catalogue),
      await measureRebuilder(run, world, catalogue),
      ...(await measureFull(run, world)),
      // Last, because it removes many files, which slows down `measureFull`.
      ...(await measureFollowing(run, world, catalogue)),
    ];
  } finally {
    await catalogue.close();
  }
}

/** Opens the catalogue for `changeListings`. */
async function openForChanges({ config }: World): Promise<Catalogue> {
  const at = new Date().toISOString();
  // The catalogue was made at a time that is always the same.
  return await openCatalogue(config.catalogueAddress, { identity: '', at }, { checksClock: false });
}

/** Changes the taglines of a number of listings in one transaction. Returns the revision with the change. */
async function changeListings(catalogue: Catalogue, count: number): Promise<number> {
  return await writeCatalogue(catalogue, new Date().toISOString(), async (writing) => {
    for (let index = 0; index < count; index += 1) {
      const declaration = buildSyntheticDeclaration(index);
      const tagline = `Changed in revision ${writing.revision}: ${declaration.tagline}`;
      await recordDeclarations(writing, [{ ...declaration, tagline }]);
    }
    return writing.revision;
  });
}

/** Asks for listings, each time with another price, so that no answer is cached. */
async function askForListings(server: Server): Promise<{ revision: number; ms: number }> {
  const path = `${PATHS.agentList}?limit=20&max_price_usdc=${(0.1 + Math.random()).toFixed(6)}`;
  const { body, ms } = await ask(server, buildGet(path));
  return { revision: JSON.parse(body.toString()).revision, ms };
}

async function measureCommand(run: Run, world: World, catalogue: Catalogue): Promise<Row> {
  const seconds: number[] = [];
  for (let round = 0; round < Math.min(5, run.rounds); round += 1) {
    await changeListings(catalogue, 1);
    seconds.push((await rebuild(world)).seconds);
  }
  const { listings } = world;
  return buildRow({ listings, what: 'one change, npm run rebuild', unit: 's', ours: getMedian(seconds) });
}

/** Measures the process that `npm start` keeps for rebuilds: one change, from the write to its last page. */
async function measureRebuilder(run: Run, { listings, config }: World, catalogue: Catalogue): Promise<Row> {
  const rebuilder = openRebuilder({ background: true });
  const seconds: number[] = [];
  // The first rebuild is not counted: it reads what the process then has in memory.
  for (let round = 0; round <= run.rounds; round += 1) {
    const revision = await changeListings(catalogue, 1);
    const started = performance.now();
    const rebuilt = rebuilder.rebuild({ config });
    while (getWrittenRevision(config) < revision) await Promise.race([rebuilt, sleep(1)]);
    if (round > 0) seconds.push((performance.now() - started) / 1000);
    await rebuilt;
  }
  await rebuilder.close();
  const goal: Goal | undefined = listings === 10_000 ? 'ours < 1' : undefined;
  return buildRow({
    listings,
    what: 'one change, from the write to its last page',
    unit: 's',
    ours: getMedian(seconds),
    goal,
  });
}

function getWrittenRevision({ siteDir }: World['config']): number {
  return findBuild(getSitePaths(siteDir).record, 'done')?.revision ?? 0;
}

/**
 * Measures how soon the documents and pages of a running service show a change (pages wait for a pause in the writing), and
 * how long a reader who asks for listings all the time has to wait meanwhile.
 */
async function measureFollowing(run: Run, world: World, catalogue: Catalogue): Promise<Row[]> {
  const { listings } = world;
  const server = await startService(world);
  const rows: Row[] = [];
  try {
    for (const count of CHANGES.filter((count) => count <= listings)) {
      run.tell(`Changing ${count === 1 ? 'one listing' : `${count.toLocaleString('en')} listings`} …`);
      const rounds: Following[] = [];
      // The first is not counted: it starts the rebuilder.
      for (let round = 0; round <= Math.min(5, run.rounds); round += 1) {
        const following = await timeFollowing(world, server, await changeListings(catalogue, count));
        if (round > 0) rounds.push(following);
      }
      const row = (what: string, ours: number) =>
        buildRow({ listings, what: `${count.toLocaleString('en')} changed: ${what}`, unit: 'ms', ours });
      rows.push(
        row('until documents have it', getMedian(rounds.map(({ documentsMs }) => documentsMs))),
        row('until pages have it', getMedian(rounds.map(({ pagesMs }) => pagesMs))),
        row('longest wait of a reader', Math.max(...rounds.map(({ longestMs }) => longestMs))),
      );
    }
    const memory = listFamily(server.pid).reduce((sum, pid) => sum + (readUsage(pid).rss ?? 0), 0);
    rows.push(buildRow({ listings, what: 'memory of server and rebuilder', unit: 'MB', ours: memory / 1e6 }));
    // Memory is not known without `/proc`.
    return rows.filter(({ ours }) => ours > 0);
  } finally {
    await server.stop();
  }
}

/** Milliseconds from a commit until documents and pages show it, and the longest wait of a reader until then. */
interface Following {
  readonly documentsMs: number;
  readonly pagesMs: number;
  readonly longestMs: number;
}

async function timeFollowing({ config }: World, server: Server, revision: number): Promise<Following> {
  const committed = performance.now();
  let [documentsMs, longestMs] = [0, 0];
  while (documentsMs === 0 || getWrittenRevision(config) < revision) {
    const answer = await askForListings(server);
    longestMs = Math.max(longestMs, answer.ms);
    if (documentsMs === 0 && answer.revision >= revision) documentsMs = performance.now() - committed;
    await sleep(PAUSE_MS);
  }
  return { documentsMs, pagesMs: performance.now() - committed, longestMs };
}

/** Time and size of a full rebuild, in seconds and bytes. */
interface FullRebuild {
  /** Time from the start of the process to its end, the copy for download included. */
  readonly seconds: number;
  /** Part of `seconds` for the compressed forms of pages. */
  readonly compressing: number;
  /** Mean size of a listing's page. */
  readonly pageBytes: number;
  readonly peak: number;
}

/** Measures rebuilds of every page, each in a new folder, beside Hugo making the pages of the listings. */
async function measureFull(run: Run, world: World): Promise<Row[]> {
  const { listings } = world;
  const hugo = await getHugo(run.tell);
  const [ours, theirs]: [FullRebuild[], HugoBuild[]] = [[], []];
  for (let round = 0; round < (listings >= LARGE ? 1 : Math.min(3, run.rounds)); round += 1) {
    run.tell(`Rendering every page${hugo ? ', and Hugo' : ''} …`);
    // New folders, because ext4 makes files many times slower for minutes after others were removed.
    ours.push(await rebuildAll(await openWorld(run, listings, `site-full-${round}`)));
    if (hugo) theirs.push(await buildWithHugo(hugo, world, join(run.folder, `hugo-${listings}-${round}`)));
  }
  const beside = hugo && 'Hugo';
  const goal: Goal | undefined = listings === 10_000 ? 'ratio ≤ 0.7' : undefined;
  const getOurs = (pick: (full: FullRebuild) => number) => getMedian(ours.map(pick));
  const getTheirs = (pick: (build: HugoBuild) => number) => (hugo ? getMedian(theirs.map(pick)) : undefined);
  const every = { listings, unit: 's', ours: getOurs(({ seconds }) => seconds) };
  const whole = getTheirs(({ seconds }) => seconds);
  return [
    buildRow({ ...every, what: 'every page', beside, theirs: whole }),
    buildRow({
      ...every,
      what: 'every page, its compressed forms not counted',
      beside,
      theirs: whole,
      goal,
      ours: getOurs(({ seconds, compressing }) => seconds - compressing),
    }),
    buildRow({
      listings,
      what: 'page of a listing, mean size',
      unit: 'kB',
      beside,
      ours: getOurs(({ pageBytes }) => pageBytes / 1000),
      theirs: getTheirs(({ pageBytes }) => pageBytes / 1000),
    }),
    buildRow({
      listings,
      what: 'every page: most memory',
      unit: 'MB',
      beside,
      ours: getOurs(({ peak }) => peak / 1e6),
      theirs: getTheirs(({ peak }) => peak / 1e6),
    }),
    // Memory is not known without `/proc`.
  ].filter(({ ours }) => ours > 0);
}

/** Times a first rebuild, with the start of the process, and separately the compression of its pages. */
async function rebuildAll(world: World): Promise<FullRebuild> {
  const { seconds, peak } = await rebuild(world);
  const { record, folder } = getSitePaths(world.config.siteDir);
  const pages = findRecord(record)?.listPages() ?? [];
  const files = pages.map(({ file }) => join(folder, file));
  const sizes = pages
    .filter(({ file }) => file.startsWith('api/') && file.endsWith('.html'))
    .map(({ file }) => statSync(join(folder, file)).size);
  return {
    seconds,
    compressing: await timeCompressing(files, `${world.config.siteDir}-compressed`),
    pageBytes: sizes.reduce((sum, bytes) => sum + bytes, 0) / sizes.length,
    peak,
  };
}

/** Data of a thread that makes compressed forms. */
interface Compressing {
  readonly files: readonly string[];
  /** Folder for the forms. */
  readonly folder: string;
  /** Number of the thread, which no other has. */
  readonly thread: number;
}

/**
 * Returns the seconds that the compressed forms of pages take. They are made by as many threads as render pages, since each
 * thread has less of the processor than one alone would have.
 */
async function timeCompressing(files: readonly string[], folder: string): Promise<number> {
  mkdirSync(folder);
  const threads = countThreads(files.length);
  const times = await Promise.all(
    Array.from({ length: threads }, async (_, thread): Promise<number> => {
      const workerData: Compressing = { files: files.filter((_, at) => at % threads === thread), folder, thread };
      const [ms] = await once(new Worker(new URL(import.meta.url), { workerData }), 'message');
      return ms / 1000;
    }),
  );
  return times.reduce((sum, seconds) => sum + seconds, 0) / threads;
}

/** Makes the compressed forms of pages as a rebuild does. Returns the milliseconds that took. */
function compress({ files, folder, thread }: Compressing): number {
  let ms = 0;
  for (const [at, file] of files.entries()) {
    const page = readFileSync(file);
    const started = performance.now();
    for (const [form, compressed] of compressPage(page))
      writeFileSync(join(folder, `${thread}-${at}.${form}`), compressed);
    ms += performance.now() - started;
  }
  return ms;
}

// This file is also the program of the threads that `timeCompressing` starts.
if (!isMainThread) parentPort?.postMessage(compress(workerData));
