import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createFolder } from '../catalogue/folder.ts';
import { acquireLock } from '../catalogue/lock.ts';
import type { Config } from '../config.ts';
import { getErrorMessage } from '../errors.ts';
import { findDownload, isDownloadDue, makeDownload } from '../published/download.ts';
import { getHash } from '../published/hash.ts';
import { listEntryPages, listSitePages, type PageRef } from '../published/pages.ts';
import type { Reading } from '../published/reading.ts';
import { getPublishedState } from '../published/state.ts';
import { openPageCode } from './compiling.ts';
import type { OnRebuildEvent, RebuildResult } from './events.ts';
import { listNames, makeDurable } from './folders.ts';
import { compressAsset, FORMS } from './forms.ts';
import { KEPT_MS, type PageCode } from './page-code.ts';
import { ASSETS_FOLDER, getSitePaths } from './paths.ts';
import {
  getMadeFrom,
  isMadeFrom,
  isServable,
  openRecord,
  type RecordedPage,
  removePages,
  type SiteRecord,
} from './record.ts';
import { getUnfinishedFile, loadPageCode, type StalePage, type WrittenPage, writePages } from './rendering.ts';
import type { SnapshotReadings } from './snapshot-reading.ts';
import { openThreads } from './threads.ts';

/** Number of pages that a thread renders at a time. */
const RENDERED_AT_ONCE = 50;

/**
 * Number of pages that are put in place at a time, once they are on the disk. Each time begins another process (`sync`), for
 * which the system protects all memory of this one: its next write to each page of it costs a page fault.
 */
const PLACED_AT_ONCE = 2000;

/** Options of one rebuild. */
export interface WriteSiteOptions {
  readonly config: Config;
  readonly readings: SnapshotReadings;
  /** Compiles the pages again, and writes every one of them. */
  readonly force: boolean;
  readonly onEvent: OnRebuildEvent;
  readonly now: () => Date;
}

/**
 * Brings the site folder up to date with the catalogue: writes pages that are new or changed, and removes those that are gone.
 * Only one rebuild of a folder runs at a time. Each page is renamed into its place after its compressed forms, and recorded after
 * that. If the process is killed, every file is whole, and the next rebuild continues with the pages that are not recorded.
 * Throws the error that stopped it; pages that it did not reach are unchanged.
 */
export async function writeSite(options: WriteSiteOptions): Promise<RebuildResult> {
  const { config, readings, onEvent } = options;
  const paths = getSitePaths(config.siteDir);
  createFolder(paths.folder);
  const lock = await acquireLock(paths.lock, () => onEvent({ type: 'waiting' }));
  try {
    const code = await openPageCode({ onEvent, force: options.force });
    const record = openRecord(paths.record);
    try {
      const reading = await readings.pin();
      // Pages link to the copy for download, so it must exist before the first page.
      if (!findDownload(paths.download)) await renewDownload(reading, options);
      const result = await write({ reading, code, record, options });
      // Later copies are made outside the transaction that holds the reading at its revision.
      readings.unpin();
      await renewDownload(reading, options);
      return result;
    } finally {
      readings.unpin();
      record.close();
      rmSync(paths.unfinished, { recursive: true, force: true });
    }
  } finally {
    lock.release();
  }
}

/** The inputs of a rebuild. */
interface Job {
  readonly reading: Reading;
  readonly code: PageCode;
  readonly record: SiteRecord;
  readonly options: WriteSiteOptions;
}

async function write({ reading, code, record, options }: Job): Promise<RebuildResult> {
  const { config, force, onEvent, now } = options;
  const started = performance.now();
  const { folder, unfinished } = getSitePaths(config.siteDir);
  const state = getPublishedState(reading.published);
  const madeFrom = getMadeFrom(state, reading.site, code.version);
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  const begun = record.findBuild('begun');
  // Pages of another base URL, catalogue or history may have the same keys, so all of them are removed before this rebuild
  // begins.
  const isOther = begun && !isServable(begun, reading.published, madeFrom.settings_hash);
  if (isOther) removePages({ folder, record }, record.listPages());
  await publishAssets(code, { folder, record }, now());

  const plan = planPages(reading, { record, folder, version: code.version, force });
  const total = plan.entries.length + plan.ofSite.length;
  const done = record.findBuild('done');
  if (done && isMadeFrom(done, madeFrom) && total === 0 && plan.gone.length === 0) {
    record.writeBuild('begun', done);
    return { outcome: 'unchanged', site: done };
  }
  record.writeBuild('begun', { ...madeFrom, at: now().toISOString() });
  const threads = openThreads(plan.entries.length);
  try {
    const render = await loadPageCode(code);
    let rendered = 0;
    const onRendered = (pages: number) => {
      rendered += pages;
      onEvent({ type: 'rendering', done: rendered, total });
    };
    const writeHere = (pages: readonly StalePage[]) => writePages(pages, { render, reading, folder: unfinished });
    // Pages that a thread could not write are written here. If they fail again, the error names the page.
    const writeThere = async (pages: readonly StalePage[]) =>
      (await threads.run({ config, code, state, pages }).catch(() => undefined)) ?? (await writeHere(pages));
    const writers = [writeHere, ...Array.from({ length: 2 * threads.count }, () => writeThere)];
    // Lists link to the pages of listings, which are therefore written first.
    for (const pages of [plan.entries, plan.ofSite]) await writeAll(pages, { writers, folder, record, onRendered });
  } finally {
    await threads.close();
    // Pages of removed listings are removed even if another page failed.
    removePages({ folder, record }, plan.gone);
  }
  const site = { ...madeFrom, at: now().toISOString() };
  record.writeBuild('done', site);
  const figures = { written: total, removed: plan.gone.length, unchanged: plan.unchanged };
  return { outcome: 'written', site, ...figures, ms: Math.round(performance.now() - started) };
}

/** The pages that a rebuild writes, and those that it removes. */
interface Plan {
  /** Pages of one listing, provider or receipt. */
  readonly entries: readonly StalePage[];
  /** Pages that link to those: lists, the home page, `llms.txt`. */
  readonly ofSite: readonly StalePage[];
  readonly gone: readonly RecordedPage[];
  /** Number of pages that stay as they are. */
  readonly unchanged: number;
}

/** Compares the pages of the catalogue with the recorded ones. A page whose file is missing is written again. */
function planPages(
  { published, getSnapshot }: Reading,
  { record, folder, version, force }: { record: SiteRecord; folder: string; version: string; force: boolean },
): Plan {
  const snapshot = getSnapshot();
  const recorded = new Map(record.listPages().map((page) => [page.path, page]));
  let unchanged = 0;
  let number = 0;
  const choose = (refs: Iterable<PageRef>): StalePage[] => {
    const stale: StalePage[] = [];
    for (const ref of refs) {
      const { path, file } = ref;
      const key = `${version} ${ref.key}`;
      const isSame = !force && recorded.get(path)?.key === key && existsSync(join(folder, file));
      recorded.delete(path);
      if (isSame) unchanged += 1;
      else stale.push({ path, file, key, number: number++ });
    }
    return stale;
  };
  const entries = choose(listEntryPages(published, snapshot));
  const ofSite = choose(listSitePages(snapshot));
  return { entries, ofSite, gone: [...recorded.values()], unchanged };
}

/** Writes pages with several writers at once, each of which takes the next pages, and puts the pages in place. */
async function writeAll(
  pages: readonly StalePage[],
  {
    writers,
    onRendered,
    ...site
  }: {
    writers: readonly ((pages: readonly StalePage[]) => Promise<WrittenPage[]>)[];
    folder: string;
    record: SiteRecord;
    onRendered: (pages: number) => void;
  },
): Promise<void> {
  let next = 0;
  const waiting: WrittenPage[] = [];
  let placing = Promise.resolve();
  const place = () => {
    const placed = waiting.splice(0);
    placing = placing.then(() => placePages(placed, site));
    return placing;
  };
  const work = async (write: (pages: readonly StalePage[]) => Promise<WrittenPage[]>) => {
    while (next < pages.length) {
      const taken = pages.slice(next, next + RENDERED_AT_ONCE);
      next += taken.length;
      waiting.push(...(await write(taken)));
      onRendered(taken.length);
      if (waiting.length >= PLACED_AT_ONCE) await place();
      else await nextTurn();
    }
  };
  const failed = (error: unknown) => {
    next = pages.length;
    throw error;
  };
  // After a failure the other writers finish their current pages, so that nothing is being written when this rejects.
  const ends = await Promise.allSettled(writers.map((write) => work(write).catch(failed)));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  await place();
}

/**
 * Moves pages into place, durably: first the compressed forms, then the page, then its row in the record. Before that, the rows
 * lose their key and ETag. If this is interrupted, the next rebuild writes the pages again, and until then the server computes
 * their ETags from the files.
 */
async function placePages(
  pages: readonly WrittenPage[],
  { folder, record }: { folder: string; record: SiteRecord },
): Promise<void> {
  const { unfinished } = getSitePaths(folder);
  const listUnfinished = ({ number, forms }: WrittenPage) =>
    [undefined, ...forms].map((form) => getUnfinishedFile(unfinished, number, form));
  await makeDurable(folder, pages.flatMap(listUnfinished));
  record.writePages(pages.map(({ path, file }) => ({ path, file, key: '', etag: '' })));
  const folders = new Set<string>();
  for (const { file, number, forms } of pages) {
    const place = join(folder, file);
    mkdirSync(dirname(place), { recursive: true });
    folders.add(dirname(place));
    for (const form of FORMS) {
      if (forms.includes(form)) replaceFile(getUnfinishedFile(unfinished, number, form), `${place}.${form}`);
      else rmSync(`${place}.${form}`, { force: true });
    }
    replaceFile(getUnfinishedFile(unfinished, number), place);
  }
  await makeDurable(folder, [...folders]);
  record.writePages(pages);
}

/**
 * Renames a file into place with a later modification time, in whole seconds, than the file there: nginx makes its ETag from time
 * and size.
 */
function replaceFile(from: string, place: string): void {
  const replaced = statSync(place, { throwIfNoEntry: false });
  if (replaced) {
    const second = Math.floor(replaced.mtimeMs / 1000) + 1;
    // The new file was written some time before it is renamed.
    if (statSync(from).mtimeMs < second * 1000) utimesSync(from, second, second);
  }
  renameSync(from, place);
}

/** Makes the copy for download if it is due. A failure stops no pages, so it is reported as an event and not thrown. */
async function renewDownload({ published }: Reading, { config, onEvent, now }: WriteSiteOptions): Promise<void> {
  const { download } = getSitePaths(config.siteDir);
  try {
    if (isDownloadDue(published, download, now())) await makeDownload(published, download, now());
  } catch (error) {
    onEvent({ type: 'said', text: `The copy of the catalogue could not be made: ${getErrorMessage(error)}\n` });
  }
}

/**
 * Puts the hashed assets of the compiled pages into a site folder, with their compressed forms, and records this as their last
 * use. Assets that no code has used for a week are removed. A name has one content, so existing assets stay.
 */
export async function publishAssets(
  code: PageCode,
  { folder, record }: { folder: string; record: SiteRecord },
  now: Date,
): Promise<void> {
  const { unfinished } = getSitePaths(folder);
  mkdirSync(join(folder, ASSETS_FOLDER), { recursive: true });
  mkdirSync(unfinished, { recursive: true });
  const assets: RecordedPage[] = [];
  for (const name of listNames(join(code.clientDir, ASSETS_FOLDER))) {
    const content = readFileSync(join(code.clientDir, ASSETS_FOLDER, name));
    const file = join(ASSETS_FOLDER, name);
    // The compressed forms are put in place first, so that they exist whenever the asset does.
    if (!existsSync(join(folder, file)))
      for (const [ending, bytes] of [
        ...compressAsset(content, name).map(([form, packed]) => [`.${form}`, packed] as const),
        ['', content] as const,
      ]) {
        const written = join(unfinished, name + ending);
        writeFileSync(written, bytes);
        await makeDurable(folder, [written]);
        renameSync(written, join(folder, file + ending));
      }
    assets.push({ path: `/${ASSETS_FOLDER}/${name}`, file, key: now.toISOString(), etag: getHash(content) });
  }
  record.writePages(assets);
  const limit = new Date(now.getTime() - KEPT_MS).toISOString();
  removePages(
    { folder, record },
    record.listAssets().filter(({ key }) => key < limit),
  );
}
