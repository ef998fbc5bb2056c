import { setTimeout as sleep } from 'node:timers/promises';
import type { Lock } from '../catalogue/lock.ts';
import { type FollowedCatalogue, openFollowed } from '../catalogue/news.ts';
import { findFileNumber } from '../catalogue/sqlite-file.ts';
import type { CatalogueState } from '../catalogue/transaction.ts';
import { getErrorMessage, ServiceError } from '../errors.ts';
import { getFailure } from '../model/failure.ts';
import { asPublishedError, isPublishedDamage, openPublishedLater, type Published, putJournalAway } from './file.ts';
import {
  type FollowedFiles,
  type Found,
  findServableAge,
  findWriterLock,
  isOf,
  LOOK_MS,
  openFollower,
  type Progress,
  readFound,
  refuseOtherAddress,
} from './follow.ts';

/** Time between two tries to get the lock of the file, in milliseconds. */
const LOCK_MS = 1000;

/** After how long without a word from the catalogue readers are told, in milliseconds. */
const LATE_MS = 2000;

/** Wait after a failure, in milliseconds: twice as long each time that a file could not be made. */
const RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;

/** A file of no more listings than this is whole before a start is through. Of others requests are told how far it is. */
const AT_ONCE = 256;

/** After how many seconds those may ask again who asked before the file was whole. */
const MAKING_RETRY_SECONDS = 5;

/** Hears of each failure once. */
type OnFailure = (error: unknown) => void;

/** The published file as readers have it. */
interface Readable {
  /** The file. It is opened again whenever another takes its place. */
  readonly published: Published;
  /** Takes note of a failure to read the file. One that is damaged is made again. */
  noteFailure(error: unknown): void;
  /** Finds why nothing can be answered from the file: it is damaged, or not whole yet. Undefined where it can. */
  findObstacle(): 'published_damaged' | 'published_being_made' | undefined;
}

function openReadable({ publishedFile }: FollowedFiles, wasServable: boolean, onFailure: OnFailure) {
  const published = openPublishedLater(publishedFile);
  let number = findFileNumber(publishedFile);
  let isServable = wasServable;
  let damage: unknown;
  const readable: Readable = {
    published,
    noteFailure(error) {
      if (!isPublishedDamage(error)) return;
      if (damage === undefined) onFailure(asPublishedError(publishedFile, error));
      damage = error;
    },
    findObstacle() {
      if (damage !== undefined) return 'published_damaged';
      return isServable ? undefined : 'published_being_made';
    },
  };
  return {
    ...readable,
    /** Says whether the file may be read. */
    setServable(value: boolean): void {
      isServable = value;
    },
    /** Has readers read the file that is in place now, if it is another one. */
    reopen(): void {
      const found = findFileNumber(publishedFile);
      // If the file was removed, the open one is read until another is made.
      if (found === number || found === undefined) return;
      published.reopen();
      number = found;
      damage = undefined;
    },
  };
}

/** How well the catalogue is heard. */
interface Hearing {
  /** Why it could not follow when it last tried; undefined while all is well. */
  findFailure(): string | undefined;
  /** When the catalogue was last heard, by `performance.now`. */
  getHeardAt(): number;
  /**
   * For how long what was read may be out of date, in milliseconds; undefined while all is well. `heardAt` is when the catalogue
   * had last been heard before that was read.
   */
  findAge(heardAt?: number): number | undefined;
}

function openHearing(age: number, onFailure: OnFailure) {
  let heardAt = performance.now() - age;
  let failure: string | undefined;
  const hearing: Hearing = {
    findFailure: () => failure,
    getHeardAt: () => heardAt,
    findAge(since = heardAt) {
      const late = performance.now() - since;
      return failure === undefined && late < LATE_MS ? undefined : late;
    },
  };
  return {
    ...hearing,
    /** Takes note that the file has what the catalogue had at a time. */
    hear(at: number): void {
      [heardAt, failure] = [Math.max(heardAt, at), undefined];
    },
    fail(error: unknown): void {
      const message = getErrorMessage(error);
      if (message !== failure && !isPublishedDamage(error)) onFailure(error);
      failure = message;
    },
  };
}

/** A published catalogue that is kept up to date. */
export interface Following extends Readable, Hearing {
  /** Throws `unavailable` while nothing can be answered from the file. */
  refuseUnservable(): void;
  /** Finds how far the file is that is being made. */
  findProgress(): Progress | undefined;
  /** Finds the state that the catalogue had when it was last asked; undefined before that. */
  findCatalogue(): CatalogueState | undefined;
  /** Stops following, once what it is at is done or undone. */
  close(): Promise<void>;
}

/**
 * Keeps the published catalogue up to date: a change of a few listings is visible some milliseconds after its commit. One process
 * writes the file, that which has its lock; others read it, and the next of them writes once that one ends. A file of other
 * code is served while another is made; one of another catalogue, history or address is not. Resolves once the file is whole,
 * one of many listings is under way, or another process is seen to write it. `onFailure` is called once for each failure,
 * `onProgress` while a file is made, and with undefined once it is whole. Throws as `openFollowed` and `openPublished` do where
 * there is nothing to serve.
 */
export async function startFollowing(
  files: FollowedFiles,
  codeVersion: string,
  onFailure: OnFailure,
  onProgress?: (progress: Progress | undefined) => void,
): Promise<Following> {
  const { publishedFile } = files;
  const age = findServableAge(files);
  const readable = openReadable(files, age !== undefined, onFailure);
  const hearing = openHearing(age ?? 0, onFailure);
  const follower = openFollower(files, codeVersion);
  const closing = new AbortController();
  const { signal } = closing;
  const begun = Promise.withResolvers<void>();
  let catalogue: FollowedCatalogue | undefined;
  let lock: Lock | undefined;
  let lockTriedAt = Number.NEGATIVE_INFINITY;
  let progress: Progress | undefined;
  let failedCopies = 0;
  let state: CatalogueState | undefined;

  const watching = {
    onForeign: () => readable.setServable(false),
    onDamaged: readable.noteFailure,
    onProgress(made: Progress) {
      progress = made;
      if (made.listings_done > AT_ONCE) begun.resolve();
      onProgress?.(made);
    },
    onReplaced() {
      readable.reopen();
      onProgress?.(undefined);
    },
    signal,
  };
  const write = async (from: FollowedCatalogue, state: CatalogueState) => {
    if (readable.findObstacle() === 'published_damaged') follower.setAside();
    try {
      await follower.follow(from, state, watching);
      failedCopies = 0;
    } catch (error) {
      if (progress) failedCopies += 1;
      throw error;
    } finally {
      progress = undefined;
    }
  };
  const follow = async () => {
    readable.reopen();
    catalogue ??= await openFollowed(files.catalogueAddress);
    const askedAt = performance.now();
    state = await catalogue.readState();
    if (!lock && askedAt - lockTriedAt >= LOCK_MS) {
      lock = findWriterLock(files);
      lockTriedAt = askedAt;
    }
    if (lock) await write(catalogue, state);
    else if (!(await isWritten(catalogue, state, files, readable))) return;
    readable.setServable(true);
    hearing.hear(askedAt);
  };
  const keepFollowing = async (first: Promise<void>) => {
    for (let following = first; ; following = follow()) {
      let pause = LOOK_MS;
      try {
        await following;
      } catch (error) {
        if (signal.aborted) return;
        readable.noteFailure(error);
        hearing.fail(asPublishedError(publishedFile, error));
        // Each copy that does not fit fills the disk for a while.
        pause = Math.min(RETRY_MS * 2 ** failedCopies, LONGEST_RETRY_MS);
      }
      await sleep(pause, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return;
    }
  };
  let kept: Promise<void> | undefined;
  const close = async () => {
    closing.abort();
    await kept;
    readable.published.close();
    await follower.close();
    if (lock) putJournalAway(publishedFile);
    lock?.release();
    lock = undefined;
    await catalogue?.close();
  };
  const first = follow();
  try {
    await Promise.race([first, begun.promise]);
  } catch (error) {
    if (age === undefined) {
      await close();
      throw asPublishedError(publishedFile, error);
    }
  }
  kept = keepFollowing(first);
  return {
    ...{ ...readable, ...hearing, close },
    findProgress: () => progress,
    findCatalogue: () => state,
    refuseUnservable() {
      const reason = readable.findObstacle();
      if (reason) throw buildRefusal(reason, progress);
    },
  };
}

/** Returns whether another process, which has the lock of the file, has written what the catalogue has. */
async function isWritten(
  catalogue: FollowedCatalogue,
  state: CatalogueState,
  files: FollowedFiles,
  { published, setServable }: ReturnType<typeof openReadable>,
): Promise<boolean> {
  let found: Found;
  try {
    found = readFound(published);
    refuseOtherAddress(files, found);
  } catch (error) {
    setServable(false);
    // The file is missing, or was made by other code.
    if (getFailure(error).reason === 'not_published') return false;
    throw error;
  }
  if (await isOf(catalogue, state, found, files.baseUrl)) return found.revision >= state.revision;
  setServable(false);
  return false;
}

/** Builds the error for readers while nothing can be answered from the file. */
function buildRefusal(reason: string, progress: Progress | undefined): ServiceError {
  const isPublishedDamaged = reason === 'published_damaged';
  const how = progress ? `: ${progress.listings_done} of ${progress.listings_total} listings are done` : '';
  return new ServiceError(
    'unavailable',
    `The catalogue is being made ready${isPublishedDamaged ? ' again' : ''}${how}.`,
    {
      hint: 'Try again in a moment.',
      reason,
      details: { retry_after_seconds: isPublishedDamaged ? RETRY_MS / 1000 : MAKING_RETRY_SECONDS, ...progress },
    },
  );
}
