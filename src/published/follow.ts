import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { findLock, type Lock } from '../catalogue/lock.ts';
import { type FollowedCatalogue, openFollowed } from '../catalogue/news.ts';
import { findFileNumber } from '../catalogue/sqlite-file.ts';
import type { CatalogueState } from '../catalogue/transaction.ts';
import { ServiceError } from '../errors.ts';
import { getFailure } from '../model/failure.ts';
import { applyNews, createTables, getKnown } from './apply.ts';
import {
  asPublishedError,
  countJournalPages,
  createPublished,
  finishPublished,
  isPublishedDamage,
  openPublished,
  openPublishedForWriting,
  type Published,
  putInPlace,
  removePublished,
  setAside,
  takeJournalIn,
} from './file.ts';
import { getPublishedState, getRendering, type PublishedState, type Rendering } from './state.ts';

/** The private catalogue, the public file that follows it, and the address of the service that the file is for. */
export interface FollowedFiles {
  /** Where the private catalogue is. */
  readonly catalogueAddress: string;
  readonly publishedFile: string;
  readonly baseUrl: string;
}

/** How many listings have been written of those that are to be. */
export interface Progress {
  readonly listings_done: number;
  readonly listings_total: number;
}

/** Who hears how a file is made. */
interface Watching {
  /** Called where the file is of another catalogue, history or address: it may not be read meanwhile. */
  readonly onForeign?: () => void;
  /** Called where the file is damaged, with how that was seen. */
  readonly onDamaged?: (error: unknown) => void;
  readonly onProgress?: (progress: Progress) => void;
  /** Called once another file is in place. */
  readonly onReplaced?: () => void;
  /** Stops it. */
  readonly signal?: AbortSignal;
}

/** What brings a published file up to date. Only who has the lock of the file may use it. */
export interface Follower {
  /**
   * Brings the file to a state of the catalogue, or to a later one: by the news, or where it is of something else or damaged, by
   * another one in its place.
   */
  follow(catalogue: FollowedCatalogue, state: CatalogueState, watching?: Watching): Promise<void>;
  /** Sets the file aside, which is damaged, so that it is made again. */
  setAside(): void;
  /** Closes the file, once what is under way with its journal is done. */
  close(): Promise<void>;
}

/** From how many pages on the journal is taken into the file: four megabytes. */
const MOST_IN_JOURNAL = 500;

/** Opens the following of a catalogue into a file. */
export function openFollower({ publishedFile: file, baseUrl: base_url }: FollowedFiles, codeVersion: string): Follower {
  const rendering: Rendering = { code_version: codeVersion, base_url };
  let opened: { published: Published; number: string | undefined } | undefined;
  let taking: Promise<void> | undefined;
  const close = () => {
    opened?.published.close();
    opened = undefined;
  };
  /** Opens the file. Gives undefined if it is missing or was made by other code. Throws for a damaged one. */
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
  const takeIn = async () => {
    // If that fails, it is tried again later: nothing depends on it but the size of the journal.
    await takeJournalIn(file).catch(() => undefined);
    taking = undefined;
  };
  const setFileAside = () => {
    close();
    if (existsSync(file)) setAside(file);
  };
  const followOrCopy = async (catalogue: FollowedCatalogue, state: CatalogueState, watching: Watching) => {
    const published = open();
    const found = published && readFound(published);
    const isSame = found !== undefined && (await isOf(catalogue, state, found, base_url));
    if (published && isSame && found.code_version === codeVersion) {
      if (found.revision === state.revision) return;
      const known = getKnown(published);
      try {
        await catalogue.fetchNews(known, (news) =>
          applyNews(published, known, news, { base_url, signal: watching.signal }),
        );
      } finally {
        // Also where there was no room for the news: the journal may be what takes it.
        if (!taking && countJournalPages(published) > MOST_IN_JOURNAL) taking = takeIn();
      }
      return;
    }
    if (found && found.revision > 0 && state.revision === 0) throw buildEmptyRefusal(file);
    if (found && !isSame) watching.onForeign?.();
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
      await taking;
      try {
        opened?.published.sqlite.pragma('wal_checkpoint(PASSIVE)');
      } catch (error) {
        // A damaged file or a full disk keeps its journal. The file is closed, and its lock let go, all the same.
        if (!(error instanceof Sqlite.SqliteError)) throw error;
      }
      close();
    },
  };
}

/** What a published file is of. */
export type Found = PublishedState & Rendering;

/** Reads what a published file is of. */
export function readFound(published: Published): Found {
  return { ...getPublishedState(published), ...getRendering(published) };
}

/** Says whether what a published file holds is for an address, and of a catalogue in a state that it has been through. */
export async function isOf(
  catalogue: FollowedCatalogue,
  state: CatalogueState,
  { identity, revision, revised_at, base_url }: Found,
  baseUrl: string,
): Promise<boolean> {
  if (identity !== state.identity || base_url !== baseUrl) return false;
  if (revision === 0 || (revision === state.revision && revised_at === state.revised_at)) return true;
  // A catalogue that was restored from a backup went back, and on from there: its revision of this number is another.
  return await catalogue.hasRevision(revision, revised_at);
}

/** Makes a published catalogue of all that a catalogue holds. One that was begun before is begun again. */
export async function makeCopy(
  catalogue: FollowedCatalogue,
  file: string,
  rendering: Rendering,
  { onProgress, signal }: Watching = {},
): Promise<void> {
  const published = createPublished(file);
  try {
    createTables(published, rendering);
    await catalogue.fetchNews(undefined, async (news) => {
      const onListing = (done: number) => onProgress?.({ listings_done: done, listings_total: news.listings });
      onListing(0);
      await applyNews(published, getKnown(published), news, { base_url: rendering.base_url, onListing, signal });
    });
    await finishPublished(published);
  } catch (error) {
    published.close();
    removePublished(file);
    // What is wrong with it is not wrong with the one that is served.
    if (isPublishedDamage(error)) throw new Error(`${file} was damaged while it was made`, { cause: error });
    throw asPublishedError(file, error);
  }
}

/** Names the file that a published catalogue is made in before it takes its place. */
function getCopyFile(file: string): string {
  return `${file}.new`;
}

/** A new catalogue in the place of another is rarely meant: the disk is not mounted, or the database is the wrong one. */
export function buildEmptyRefusal(file: string): ServiceError {
  return new ServiceError('unavailable', `The catalogue is empty, and what was published in ${file} is not.`, {
    hint: 'Mount its disk, correct CATALOGUE, or restore a backup. To start with an empty catalogue, stop the service, and remove that file with its -wal and -shm.',
    reason: 'catalogue_empty',
  });
}

/** Takes the lock of a published file, which who writes it has; undefined while another process has it. */
export function findWriterLock({ publishedFile }: Pick<FollowedFiles, 'publishedFile'>): Lock | undefined {
  return findLock(`${publishedFile}.lock`);
}

/** Time between two looks at the revision of the catalogue, in milliseconds. */
export const LOOK_MS = 20;

/** How often a rebuild looks how far who writes the file is, and how long it waits for that, in milliseconds. */
const WAIT = { look: 100, longest: 120_000 };

/**
 * Brings the published catalogue up to date once. Where a server writes it, that is waited for. Throws as `openFollowed` does,
 * `conflict` where the server writes it for another address, and `unavailable` where it does not come to that.
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

/** Returns whether a file has what a catalogue had in a state, written by this code. Throws `conflict` for another address. */
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
  return isWritten && (await isOf(catalogue, state, found, files.baseUrl));
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

/** Throws `conflict` where a published file that another process writes is for another address. */
export function refuseOtherAddress({ publishedFile, baseUrl }: FollowedFiles, { base_url }: Rendering): void {
  // While another is made, it may be for this one.
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

/** Finds what a published file is of; undefined if the file is missing or cannot be read. */
function findPublished(file: string): Found | undefined {
  let published: Published | undefined;
  try {
    published = openPublished(file);
    return readFound(published);
  } catch {
    // Whatever it is, who writes the file says more.
    return undefined;
  } finally {
    published?.close();
  }
}

/** Says whether there is a published catalogue with anything in it, whatever address it is for. */
export function isAnythingPublished(file: string): boolean {
  return (findPublished(file)?.revision ?? 0) > 0;
}

/**
 * Finds how long ago, at most, a file from which readers can be served had all there was: since its latest revision; in
 * milliseconds. Undefined where they cannot be served from it.
 */
export function findServableAge({
  publishedFile,
  baseUrl,
}: Omit<FollowedFiles, 'catalogueAddress'>): number | undefined {
  const found = findPublished(publishedFile);
  if (!found || found.revision === 0 || found.base_url !== baseUrl) return undefined;
  return Math.max(0, Date.now() - Date.parse(found.revised_at));
}
