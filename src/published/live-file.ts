import { setTimeout as sleep } from 'node:timers/promises';
import { type FollowedCatalogue, openFollowed } from '../catalogue/delta.ts';
import type { Lock } from '../catalogue/lock.ts';
import { findFileNumber } from '../catalogue/sqlite-file.ts';
import type { CatalogueState } from '../catalogue/transaction.ts';
import { getErrorMessage, ServiceError } from '../errors.ts';
import { getFailure } from '../model/failure.ts';
import { asPublishedError, isPublishedDamage, leaveWalMode, openPublishedLater, type Published } from './file.ts';
import {
  type FileState,
  type FollowedFiles,
  findServableAge,
  findWriterLock,
  isCopyOf,
  openFollower,
  type Progress,
  readFileState,
  refuseOtherAddress,
} from './follow.ts';

/** Time between two looks at the revision of the catalogue, in milliseconds. */
const LOOK_MS = 20;

/** Time between two tries to get the lock of the file, in milliseconds. */
const LOCK_MS = 1000;

/** Time since the last reading of the catalogue after which answers name their age, in milliseconds. */
const LATE_MS = 2000;

/** Wait after a failure, in milliseconds. It doubles each time that a file could not be made, up to the longest. */
const RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;

/**
 * Number of listings up to which a file is made before the start ends. While a larger file is made, requests are answered with
 * its progress.
 */
const AT_ONCE = 256;

/** `Retry-After` of requests that came before the file was whole, in seconds. */
const MAKING_RETRY_SECONDS = 5;

/** Called once for each new failure. */
type OnFailure = (error: unknown) => void;

/** The published file for readers. */
interface Readable {
  /** The file. It is opened again when another file replaces it. */
  readonly published: Published;
  /** Records a failure to read the file. A damaged file is made again. */
  noteFailure(error: unknown): void;
  /**
   * Returns the reason why nothing can be answered from the file: it is damaged, or not whole yet; undefined if it can be read.
   */
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
    /** Sets whether the file may be read. */
    setServable(value: boolean): void {
      isServable = value;
    },
    /** Opens the file that is at the path now, if it is another one. */
    reopen(): void {
      const found = findFileNumber(publishedFile);
      // If the file was removed, readers keep the open one until another is made.
      if (found === number || found === undefined) return;
      published.reopen();
      number = found;
      damage = undefined;
    },
  };
}

/** Record of how recently the catalogue could be read. */
interface Freshness {
  /** Returns the time at which the catalogue was last read, in milliseconds of `performance.now`. */
  getReadAt(): number;
  /**
   * Returns the age up to which an answer may be out of date, in milliseconds; undefined while the catalogue is followed.
   * `readAt` is the time of the last reading before the answer was made.
   */
  findAge(readAt?: number): number | undefined;
}

function openFreshness(age: number, onFailure: OnFailure) {
  let readAt = performance.now() - age;
  let failure: string | undefined;
  const freshness: Freshness = {
    getReadAt: () => readAt,
    findAge(since = readAt) {
      const late = performance.now() - since;
      return failure === undefined && late < LATE_MS ? undefined : late;
    },
  };
  return {
    ...freshness,
    /** Records that the file has the state of the catalogue at a time. */
    noteRead(at: number): void {
      [readAt, failure] = [Math.max(readAt, at), undefined];
    },
    /** Records a failure to follow. */
    noteFailedRead(error: unknown): void {
      const message = getErrorMessage(error);
      if (message !== failure && !isPublishedDamage(error)) onFailure(error);
      failure = message;
    },
  };
}

/** A published catalogue that is kept up to date with the private one. */
export interface Following extends Readable, Freshness {
  /** Throws `unavailable` while nothing can be answered from the file. */
  refuseUnservable(): void;
  /** Returns the progress of the file that is being made, if any. */
  findProgress(): Progress | undefined;
  /** Returns the latest state that was read of the catalogue; undefined before the first reading. */
  findCatalogue(): CatalogueState | undefined;
  /** Stops following, once the current work has ended or was undone. */
  close(): Promise<void>;
}

/**
 * Keeps the published catalogue up to date: a change of a few listings is visible some milliseconds after its commit. The process
 * with the file's lock writes it; other processes read it, and one of them takes over when the writer ends. A file made by other
 * code is served while a new one is made; a file of another catalogue, history or base URL is not served. Resolves once the file
 * is whole, or more than `AT_ONCE` listings of a new one are written, or another process is found to write it. `onFailure` is
 * called once for each failure, `onProgress` while a file is made, and with undefined once it is whole. If there is nothing to
 * serve, throws as `openFollowed` and `openPublished` do.
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
  const freshness = openFreshness(age ?? 0, onFailure);
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
    onOtherCatalogue: () => readable.setServable(false),
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
    freshness.noteRead(askedAt);
  };
  const keepFollowing = async (first: Promise<void>) => {
    for (let following = first; ; following = follow()) {
      let pause = LOOK_MS;
      try {
        await following;
      } catch (error) {
        if (signal.aborted) return;
        readable.noteFailure(error);
        freshness.noteFailedRead(asPublishedError(publishedFile, error));
        // A copy that does not fit fills the disk until it fails, so the wait doubles each time.
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
    if (lock) leaveWalMode(publishedFile);
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
    ...readable,
    ...freshness,
    close,
    findProgress: () => progress,
    findCatalogue: () => state,
    refuseUnservable() {
      const reason = readable.findObstacle();
      if (reason) throw buildRefusal(reason, progress);
    },
  };
}

/** Returns true if another process, which has the file's lock, has written the current state of the catalogue. */
async function isWritten(
  catalogue: FollowedCatalogue,
  state: CatalogueState,
  files: FollowedFiles,
  { published, setServable }: ReturnType<typeof openReadable>,
): Promise<boolean> {
  let found: FileState;
  try {
    found = readFileState(published);
    refuseOtherAddress(files, found);
  } catch (error) {
    setServable(false);
    // The file is missing, or was made by other code.
    if (getFailure(error).reason === 'not_published') return false;
    throw error;
  }
  if (await isCopyOf(catalogue, state, found, files.baseUrl)) return found.revision >= state.revision;
  setServable(false);
  return false;
}

/** Returns the error for readers while nothing can be answered from the file. */
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
