import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { type FollowedCatalogue, openFollowed } from '../catalogue/delta.ts';
import { findLock, type Lock } from '../catalogue/lock.ts';
import { findFileNumber, removeSqliteFiles } from '../catalogue/sqlite-file.ts';
import type { CatalogueState } from '../catalogue/transaction.ts';
import { ServiceError } from '../errors.ts';
import { getFailure } from '../model/failure.ts';
import { applyDelta, createTables, getCopiedState } from './apply.ts';
import {
  asPublishedError,
  checkpointWal,
  countWalPages,
  createPublished,
  finishPublished,
  isPublishedDamage,
  openPublished,
  openPublishedForWriting,
  type Published,
  putInPlace,
  setAside,
} from './file.ts';
import { getPublishedState, getRendering, type PublishedState, type Rendering } from './state.ts';

/** The private catalogue, the published file, and the base URL that the file is written for. */
export interface FollowedFiles {
  /** Address of the private catalogue. */
  readonly catalogueAddress: string;
  readonly publishedFile: string;
  readonly baseUrl: string;
}

/** Number of listings written so far, and in all. */
export interface Progress {
  readonly listings_done: number;
  readonly listings_total: number;
}

/** Callbacks about how a file is made. */
interface FollowOptions {
  /** Called if the file is of another catalogue, history or base URL; it must not be read until it is replaced. */
  readonly onOtherCatalogue?: () => void;
  /** Called if the file is damaged, with the error that showed it. */
  readonly onDamaged?: (error: unknown) => void;
  readonly onProgress?: (progress: Progress) => void;
  /** Called once another file has replaced it. */
  readonly onReplaced?: () => void;
  /** Stops the work. */
  readonly signal?: AbortSignal;
}

/** Brings a published file up to date. Only the process with the file's lock may use it. */
export interface Follower {
  /**
   * Brings the file to a state of the catalogue, or to a later one: by the changes since, or by a new file if it is of something
   * else or damaged.
   */
  follow(catalogue: FollowedCatalogue, state: CatalogueState, watching?: FollowOptions): Promise<void>;
  /** Renames the damaged file, so that it is made again. */
  setAside(): void;
  /** Closes the file, once the copying of its journal has ended. */
  close(): Promise<void>;
}

/** Number of pages from which the journal is copied into the file: four megabytes. */
const CHECKPOINT_PAGES = 500;

/** Opens the follower that brings a published file up to date with a catalogue. */
export function openFollower({ publishedFile: file, baseUrl: base_url }: FollowedFiles, codeVersion: string): Follower {
  const rendering: Rendering = { code_version: codeVersion, base_url };
  let opened: { published: Published; number: string | undefined } | undefined;
  let checkpointing: Promise<void> | undefined;
  const close = () => {
    opened?.published.close();
    opened = undefined;
  };
  /** Opens the file. Returns undefined if it is missing or was made by other code. Throws if it is damaged. */
  const open = (): Published | undefined => {
    const number = findFileNumber(file);
    if (opened?.number !== number) close();
    if (number === undefined) return undefined;
    try {
      opened ??= { published: openPublishedForWriting(file), number };
      return opened.published;
    } catch (error) {
      if (getFailure(error).reason !== 'not_published') throw error;
      return undefined;
    }
  };
  const checkpoint = async () => {
    // A failure is harmless, and tried again later: only the size of the journal depends on it.
    await checkpointWal(file).catch(() => undefined);
    checkpointing = undefined;
  };
  const setFileAside = () => {
    close();
    if (existsSync(file)) setAside(file);
  };
  const followOrCopy = async (catalogue: FollowedCatalogue, state: CatalogueState, watching: FollowOptions) => {
    const published = open();
    const found = published && readFileState(published);
    const isSame = found !== undefined && (await isCopyOf(catalogue, state, found, base_url));
    if (published && isSame && found.code_version === codeVersion) {
      if (found.revision === state.revision) return;
      const known = getCopiedState(published);
      try {
        await catalogue.fetchDelta(known, (delta) =>
          applyDelta(published, known, delta, { base_url, signal: watching.signal }),
        );
      } finally {
        // Also after a failed write: the journal may be what fills the disk.
        if (!checkpointing && countWalPages(published) > CHECKPOINT_PAGES) checkpointing = checkpoint();
      }
      return;
    }
    if (found && found.revision > 0 && state.revision === 0) throw buildEmptyRefusal(file);
    if (found && !isSame) watching.onOtherCatalogue?.();
    await makeCopy(catalogue, getCopyFile(file), rendering, watching);
    close();
    putInPlace(getCopyFile(file), file);
    watching.onReplaced?.();
  };
  return {
    setAside: setFileAside,
    async follow(catalogue, state, watching = {}) {
      try {
        await followOrCopy(catalogue, state, watching);
      } catch (error) {
        if (!isPublishedDamage(error)) throw error;
        watching.onDamaged?.(error);
        setFileAside();
        await followOrCopy(catalogue, state, watching);
      }
    },
    async close() {
      await checkpointing;
      try {
        opened?.published.sqlite.pragma('wal_checkpoint(PASSIVE)');
      } catch (error) {
        // A damaged file or a full disk keeps its journal. The file is still closed, and its lock released.
        if (!(error instanceof Sqlite.SqliteError)) throw error;
      }
      close();
    },
  };
}

/** The catalogue, revision, code and base URL of a published file. */
export type FileState = PublishedState & Rendering;

/** Reads the catalogue, revision, code and base URL of a published file. */
export function readFileState(published: Published): FileState {
  return { ...getPublishedState(published), ...getRendering(published) };
}

/** Returns true if a published file is for a base URL, and of a catalogue in a state that the catalogue has been in. */
export async function isCopyOf(
  catalogue: FollowedCatalogue,
  state: CatalogueState,
  { identity, revision, revised_at, base_url }: FileState,
  baseUrl: string,
): Promise<boolean> {
  if (identity !== state.identity || base_url !== baseUrl) return false;
  if (revision === 0 || (revision === state.revision && revised_at === state.revised_at)) return true;
  // After a restore from a backup, the catalogue's revision of this number may be another one, with another time.
  return await catalogue.hasRevision(revision, revised_at);
}

/** Makes a published catalogue in a file from the whole catalogue. A file that was begun before is started again. */
export async function makeCopy(
  catalogue: FollowedCatalogue,
  file: string,
  rendering: Rendering,
  { onProgress, signal }: FollowOptions = {},
): Promise<void> {
  const published = createPublished(file);
  try {
    createTables(published, rendering);
    await catalogue.fetchDelta(undefined, async (delta) => {
      const onListing = (done: number) => onProgress?.({ listings_done: done, listings_total: delta.listings });
      onListing(0);
      await applyDelta(published, getCopiedState(published), delta, {
        base_url: rendering.base_url,
        onListing,
        signal,
      });
    });
    await finishPublished(published);
  } catch (error) {
    published.close();
    removeSqliteFiles(file);
    // What is wrong with it is not wrong with the one that is served.
    if (isPublishedDamage(error)) throw new Error(`${file} was damaged while it was made`, { cause: error });
    throw asPublishedError(file, error);
  }
}

/** Returns the path of the file in which a published catalogue is made before it replaces the current one. */
function getCopyFile(file: string): string {
  return `${file}.new`;
}

/**
 * Builds the refusal to replace a catalogue by an empty one. That is rarely meant: a disk is not mounted, or the database is the
 * wrong one.
 */
export function buildEmptyRefusal(file: string): ServiceError {
  return new ServiceError('unavailable', `The catalogue is empty, and what was published in ${file} is not.`, {
    hint: 'Mount its disk, correct CATALOGUE, or restore a backup. To start with an empty catalogue, stop the service, and remove that file with its -wal and -shm.',
    reason: 'catalogue_empty',
  });
}

/** Takes the lock of a published file, which its writer holds; undefined if another process has it. */
export function findWriterLock({ publishedFile }: Pick<FollowedFiles, 'publishedFile'>): Lock | undefined {
  return findLock(`${publishedFile}.lock`);
}

/** Time between two looks at the file while another process writes it, and longest wait for it, in milliseconds. */
const WAIT = { look: 100, longest: 120_000 };

/**
 * Brings the published catalogue up to date once. If a server writes it, waits for the server. Throws as `openFollowed` does,
 * `conflict` if the server writes it for another base URL, and `unavailable` if the server does not get there in time.
 */
export async function publishCatalogue(files: FollowedFiles, codeVersion: string): Promise<void> {
  const { publishedFile: file } = files;
  const catalogue = await openFollowed(files.catalogueAddress);
  try {
    const state = await catalogue.readState();
    for (let until = performance.now() + WAIT.longest; ; ) {
      const lock = findWriterLock(files);
      if (lock) return await followAlone(catalogue, files, { codeVersion, lock });
      if (existsSync(getCopyFile(file))) until = performance.now() + WAIT.longest;
      else if (await isPublished(catalogue, state, files, codeVersion)) return;
      if (performance.now() > until) throw buildBehind(file, state.revision);
      await sleep(WAIT.look);
    }
  } finally {
    await catalogue.close();
  }
}

/** Returns true if a file has the given state of the catalogue, written by this code. Throws `conflict` for another base URL. */
async function isPublished(
  catalogue: FollowedCatalogue,
  state: CatalogueState,
  files: FollowedFiles,
  codeVersion: string,
): Promise<boolean> {
  const found = findPublished(files.publishedFile);
  if (!found) return false;
  refuseOtherAddress(files, found);
  const isWritten = found.code_version === codeVersion && found.revision >= state.revision;
  return isWritten && (await isCopyOf(catalogue, state, found, files.baseUrl));
}

async function followAlone(
  catalogue: FollowedCatalogue,
  files: FollowedFiles,
  { codeVersion, lock }: { codeVersion: string; lock: Lock },
): Promise<void> {
  const follower = openFollower(files, codeVersion);
  try {
    await follower.follow(catalogue, await catalogue.readState());
  } catch (error) {
    throw asPublishedError(files.publishedFile, error);
  } finally {
    await follower.close();
    lock.release();
  }
}

/** Throws `conflict` if a published file that another process writes is for another base URL. */
export function refuseOtherAddress({ publishedFile, baseUrl }: FollowedFiles, { base_url }: Rendering): void {
  // A file that is being made may be for this base URL.
  if (base_url === baseUrl || existsSync(getCopyFile(publishedFile))) return;
  throw new ServiceError(
    'conflict',
    `${publishedFile} is written by a service at ${base_url}, and BASE_URL is ${baseUrl}.`,
    { hint: 'Give each its own PUBLISHED, or the same BASE_URL.', reason: 'published_shared' },
  );
}

function buildBehind(file: string, revision: number): ServiceError {
  return new ServiceError(
    'unavailable',
    `The service that writes ${file} has not come to revision ${revision} by this code.`,
    {
      hint: 'If it runs other code, restart it. Otherwise its log and /readyz say why. Once it is stopped, a rebuild writes the file itself.',
      reason: 'published_behind',
    },
  );
}

/** Reads the catalogue, revision, code and base URL of a published file; undefined if it is missing or cannot be read. */
function findPublished(file: string): FileState | undefined {
  let published: Published | undefined;
  try {
    published = openPublished(file);
    return readFileState(published);
  } catch {
    // The process that writes the file reports the reason.
    return undefined;
  } finally {
    published?.close();
  }
}

/** Returns true if there is a published catalogue with at least one revision, for whatever base URL. */
export function isAnythingPublished(file: string): boolean {
  return (findPublished(file)?.revision ?? 0) > 0;
}

/**
 * Returns the time since the latest revision of a file that can be served, in milliseconds: the most by which it can be out of
 * date. Undefined if the file cannot be served.
 */
export function findServableAge({
  publishedFile,
  baseUrl,
}: Omit<FollowedFiles, 'catalogueAddress'>): number | undefined {
  const found = findPublished(publishedFile);
  if (!found || found.revision === 0 || found.base_url !== baseUrl) return undefined;
  return Math.max(0, Date.now() - Date.parse(found.revised_at));
}
