import { mkdirSync, realpathSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { acquireLock } from '../catalogue/lock.ts';
import type { Config } from '../config.ts';
import { getErrorMessage, ServiceError } from '../errors.ts';
import { isDownloadDue, makeDownload } from '../published/download.ts';
import { countListings } from '../published/listings.ts';
import { listPages, type PageRef } from '../published/pages.ts';
import type { Reading } from '../published/reading.ts';
import { getPublishedState } from '../published/state.ts';
import { checkRelease } from './check.ts';
import { openPageCode } from './compiling.ts';
import type { OnRebuildEvent, RebuildResult } from './events.ts';
import { makeDurable, syncPath, writeNew } from './folders.ts';
import { type Assets, type PageCode, publishAssets } from './page-code.ts';
import { getUnfinishedFolder, prunePageCode, pruneReleases, removeUnfinished } from './prune.ts';
import { buildReleaseHeader, findCurrentRelease, getReleaseId, getReleasePaths, getSettingsHash } from './release.ts';
import { isIntact, isWhole, linkPage, listFiles, type ReleasePages } from './release-pages.ts';
import { buildRenderJob, type EarlierPage, loadPageCode, type RenderedPages, type RenderJob } from './rendering.ts';
import { getPlace, getShardName, linkShard, listShard, type ReleasePage, type Shard, storeShard } from './shards.ts';
import type { SnapshotReadings } from './snapshot-reading.ts';
import { type Base, findBase, isMadeFrom, type MadeFrom } from './state.ts';
import { type RenderThreads, startRenderThreads } from './thread-pool.ts';

/** Options of one rebuild. */
export interface MakeReleaseOptions {
  readonly config: Config;
  readonly readings: SnapshotReadings;
  /** The pages of the last release made so, which are not read again; of no other use. */
  readonly last?: { pages?: ReleasePages };
  /** Compiles the pages and renders every one of them again, building upon nothing. */
  readonly force: boolean;
  readonly onEvent: OnRebuildEvent;
  readonly now: () => Date;
}

/**
 * Makes a release of the catalogue as it is and makes it the current one; one at a time for each RELEASES folder. It is
 * made under another name, gets its own when it is complete, checked and durable, and is never written to afterwards: so
 * wherever this is killed, `current` names a complete release, and the next rebuild has nothing to distrust. What was
 * damaged since is not built upon.
 * Throws what it was stopped by; the current release is then as it was.
 */
export async function makeRelease(options: MakeReleaseOptions): Promise<RebuildResult> {
  const { config, readings, onEvent } = options;
  const lock = await acquireLock(getReleasePaths(config.releasesDir).lock, () => onEvent({ type: 'waiting' }));
  try {
    const code = await openPageCode({ onEvent, force: options.force });
    try {
      const reading = await readings.pin();
      removeUnfinished(config.releasesDir);
      const result = await makeFrom(reading, code, options);
      if (result.outcome === 'released') prune(options, code);
      // The copy is made outside the transaction that holds the reading still.
      readings.unpin();
      await renewDownload(reading, options);
      return result;
    } finally {
      readings.unpin();
    }
  } finally {
    lock.release();
  }
}

async function makeFrom(reading: Reading, code: PageCode, options: MakeReleaseOptions): Promise<RebuildResult> {
  const { force, onEvent, config } = options;
  const { identity, revision, revised_at } = getPublishedState(reading.published);
  const settings_hash = getSettingsHash(reading.site);
  const madeFrom = { identity, revision, revised_at, code_version: code.version, settings_hash };
  const { assets, published } = publishAssets(code, getReleasePaths(config.releasesDir).assets, options.now());
  const job = { reading, code, madeFrom, assets, options };
  if (force) return buildRelease(job, undefined);
  const current = findCurrentRelease(config.releasesDir);
  if (current && isMadeFrom(current.header, madeFrom)) {
    if (published.length > 0) onEvent({ type: 'mending', damage: `Lost or damaged: ${published.join(', ')}.` });
    if (isWhole(current)) return { outcome: 'unchanged', release: current.header };
    onEvent({ type: 'mending', damage: `Release ${current.header.id} has lost pages, or has damaged ones.` });
  }
  const base = findBase(config.releasesDir, madeFrom, reading.published, options.last?.pages);
  try {
    return await buildRelease(job, base);
  } catch (error) {
    if (!base || !(error instanceof ServiceError) || error.reason !== 'check_failed') throw error;
    // The base is damaged: nothing of it is used again.
    onEvent({ type: 'mending', damage: error.message });
    return buildRelease(job, undefined);
  }
}

/** The input of a release. */
interface Job {
  readonly reading: Reading;
  readonly code: PageCode;
  readonly madeFrom: MadeFrom;
  readonly assets: Assets;
  readonly options: MakeReleaseOptions;
}

async function buildRelease(
  { reading, code, madeFrom, assets, options: { config, last, onEvent, now } }: Job,
  base: Base | undefined,
): Promise<RebuildResult> {
  const started = performance.now();
  const { releasesDir } = config;
  const { identity, revision, revised_at } = madeFrom;
  const state = { identity, revision, revised_at };
  const made_at = now().toISOString();
  const folder = getUnfinishedFolder(releasesDir, getReleaseId(made_at, revision));
  let threads: RenderThreads | undefined;
  try {
    mkdirSync(folder, { recursive: true });
    const start = (job: RenderJob, pages: number) => startRenderThreads({ config, code, state, job }, pages);
    // The other threads begin before anything is read here if every page is to be rendered.
    if (!base) threads = start(buildRenderJob(folder), countListings(reading.published));
    const refs = [...listPages(reading.published, reading.getSnapshot())];
    const plan = planRelease(refs, folder, base);
    threads ??= start(buildRenderJob(folder, plan), plan.pages.length);
    const rendered = await threads.render({ render: await loadPageCode(code), reading, onEvent });
    const shards = await storeShards(plan, rendered, { folder, shardsDir: getReleasePaths(releasesDir).shards });
    const facts = { page_count: refs.length, shards, assets };
    const header = buildReleaseHeader({ ...madeFrom, made_at, ...facts });
    const file = join(folder, 'release.json');
    writeNew(file, JSON.stringify(header, null, 2));
    const pages = checkRelease({ header, folder, releasesDir, reading, known: base?.pages });
    await makeDurable(folder, [file, folder]);
    await swapCurrent(releasesDir, folder, header.id);
    if (last) last.pages = pages;
    const ms = Math.round(performance.now() - started);
    const linked = refs.length - rendered.length;
    return { outcome: 'released', release: header, rendered: rendered.length, linked, ms };
  } finally {
    await threads?.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The work left for a release: shards that stay, pages that were put into new ones, and those to be rendered. */
interface ReleasePlan {
  /** Shards of the base that stay as they are, by name. */
  readonly kept: ReadonlyMap<string, Shard>;
  /** Names of the new shards; their folders exist. */
  readonly made: readonly string[];
  /** Pages of the base that are in the new shards already. */
  readonly linked: readonly (readonly [path: string, page: ReleasePage])[];
  readonly pages: readonly PageRef[];
  /** The versions that the base has of pages to be rendered, by path. */
  readonly earlier: ReadonlyMap<string, EarlierPage>;
}

/**
 * Keeps every shard of the base whose pages all have the same keys. The others are made again in `folder`, with links to
 * those pages that stay. A file that the base turns out to lack, or that is not what was rendered, is rendered
 * like a new one.
 */
function planRelease(refs: readonly PageRef[], folder: string, base: Base | undefined): ReleasePlan {
  const kept = new Map<string, Shard>();
  const made: string[] = [];
  const linked: [string, ReleasePage][] = [];
  const pages: PageRef[] = [];
  const earlier = new Map<string, EarlierPage>();
  for (const [name, members] of Map.groupBy(refs, ({ path }) => getShardName(path))) {
    const shard = base?.pages.shards.get(name);
    if (base && shard && isSame(members, shard, join(base.folder, name))) {
      kept.set(name, shard);
      continue;
    }
    made.push(name);
    mkdirSync(join(folder, name), { recursive: true });
    for (const page of members) {
      const { path } = page;
      const before = shard?.pages.get(path);
      const from = base && before && { page: before, path: join(base.folder, before.file) };
      if (from && from.page.key === page.key) {
        const file = getPlace(path, page.file);
        const stays = linkPage(from.path, join(folder, file), from.page);
        if (stays) {
          linked.push([path, { ...stays, file }]);
          continue;
        }
      }
      pages.push(page);
      if (from) earlier.set(path, from);
    }
  }
  return { kept, made, linked, pages, earlier };
}

/** Returns true if a shard has just these pages under these keys, and their files are what was rendered. */
function isSame(members: readonly PageRef[], { pages }: Shard, place: string): boolean {
  if (members.length !== pages.size) return false;
  // Each file is looked at, which takes a quarter longer by way of the link to the shard.
  const folder = realpathSync(place);
  return members.every(({ path, key }) => {
    const page = pages.get(path);
    return page?.key === key && isIntact(join(folder, basename(page.file)), page);
  });
}

/** Stores the new shards of a release, durably, and links to those that it keeps. Returns the hashes of all by name. */
async function storeShards(
  { kept, made, linked }: ReleasePlan,
  rendered: RenderedPages,
  { folder, shardsDir }: { folder: string; shardsDir: string },
): Promise<Record<string, string>> {
  const shards = new Map([...kept].map(([name, { hash }]) => [name, hash]));
  for (const [name, hash] of shards) linkShard(join(folder, name), hash);
  const pages = Map.groupBy([...linked, ...rendered], ([path]) => getShardName(path));
  const written = rendered.flatMap(([, page]) => listFiles(page).map((file) => join(folder, file)));
  for (const name of made) {
    const sorted = (pages.get(name) ?? []).toSorted(([a], [b]) => (a < b ? -1 : 1));
    const { shard, list } = listShard(join(folder, name), new Map(sorted));
    shards.set(name, shard.hash);
    written.push(list, join(folder, name));
  }
  await makeDurable(folder, written);
  for (const name of made) storeShard(shardsDir, join(folder, name), shards.get(name) ?? '');
  if (made.length > 0) await syncPath(shardsDir);
  return Object.fromEntries([...shards].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Gives a finished release its own name and lets `current` name it, each in one step that either happened or did not,
 * and makes both durable in this order.
 */
async function swapCurrent(releasesDir: string, folder: string, id: string): Promise<void> {
  const { releases, current } = getReleasePaths(releasesDir);
  renameSync(folder, join(releases, id));
  await syncPath(releases);
  const link = join(releasesDir, `.current.${id}.unfinished`);
  symlinkSync(join('releases', id), link);
  renameSync(link, current);
  await syncPath(releasesDir);
}

/** Makes the copy for download if it is due. The release is current already, so a failure here is an event, not thrown. */
async function renewDownload({ published }: Reading, { config, onEvent, now }: MakeReleaseOptions): Promise<void> {
  const folder = getReleasePaths(config.releasesDir).download;
  try {
    if (isDownloadDue(published, folder, now())) await makeDownload(published, folder, now());
  } catch (error) {
    onEvent({ type: 'said', text: `The copy of the catalogue could not be made: ${getErrorMessage(error)}\n` });
  }
}

/** Removes what is old. The release is current already, so a failure here is an event, not thrown. */
function prune({ config, onEvent, now }: MakeReleaseOptions, code: PageCode): void {
  try {
    pruneReleases(config.releasesDir);
    prunePageCode(code, now());
  } catch (error) {
    onEvent({ type: 'said', text: `Old releases could not be cleared away: ${getErrorMessage(error)}\n` });
  }
}
