import { setTimeout as sleep } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import { type Catalogue, openCatalogueForReading } from '../catalogue/database.ts';
import { getErrorMessage } from '../errors.ts';
import type { Site } from '../views/site.ts';
import { BUSY_TIMEOUT_MS, openPublishedForWriting, type Published } from './file.ts';
import { canBeServed, followAtOnce, followCatalogue } from './follow.ts';
import { openReading, type Reading } from './reading.ts';

/** The private catalogue, and the public file that follows it. */
export interface FollowedFiles {
  readonly catalogueFile: string;
  readonly publishedFile: string;
}

/** How often the catalogue is looked at, in milliseconds: one read of a counter in memory. */
const LOOK_MS = 15;

/** How long a process that does nothing else waits for another that writes, in milliseconds. */
const PATIENT_MS = 120_000;

/** How long it waits after a failure. */
const RETRY_MS = 1000;

/** Brings the published catalogue up to date once. Throws as `openCatalogueForReading` and `openPublishedForWriting` do. */
export function publishCatalogue(files: FollowedFiles, codeVersion: string): void {
  const { catalogue, published, close } = openBoth(files);
  published.sqlite.pragma(`busy_timeout = ${PATIENT_MS}`);
  try {
    followAtOnce(catalogue, published, codeVersion);
  } finally {
    close();
  }
}

/**
 * Opens a reading that follows by itself: before each read it brings the published catalogue up to date if the catalogue
 * changed. For a process that has no server of its own. Throws as `publishCatalogue` does.
 */
export function openFollowedReading(
  files: FollowedFiles,
  { site, codeVersion, now }: { site: Site; codeVersion: string; now?: (() => Date) | undefined },
): Reading & { close(): void } {
  const { catalogue, published: writer, close } = openBoth(files);
  const readVersion = prepareVersion(catalogue);
  let seen: number | undefined;
  const refresh = () => {
    const version = readVersion.get();
    if (version === seen) return;
    followAtOnce(catalogue, writer, seen === undefined ? codeVersion : undefined);
    seen = version;
  };
  try {
    refresh();
    const reading = openReading(files.publishedFile, site, { refresh, ...(now && { now }) });
    return {
      ...reading,
      close: () => {
        reading.published.close();
        close();
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}

/** A published catalogue that is kept up to date. */
export interface Following {
  /** Why it could not follow when it last tried; undefined while all is well. */
  findFailure(): string | undefined;
  /** Stops following, once what it is at is done or undone. */
  close(): Promise<void>;
}

/**
 * Keeps the published catalogue up to date: a change of a few listings is visible some milliseconds after its commit. Resolves
 * once the file can be served from; one that can be already is served while it catches up. Several processes may write to one
 * file: the one that holds its lock writes, and the others find nothing left to do. `onFailure` is called once for each
 * failure. Throws as `openCatalogueForReading` and `openPublishedForWriting` do.
 */
export async function startFollowing(
  files: FollowedFiles,
  codeVersion: string,
  onFailure: (error: unknown) => void,
): Promise<Following> {
  const { catalogue, published, close } = openBoth(files);
  // SQLite waits by holding up the whole process, requests included; `follow` lets them have their turn.
  published.sqlite.pragma('busy_timeout = 0');
  const readVersion = prepareVersion(catalogue);
  let seen: number | undefined;
  let failure: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const follow = async () => {
    const version = readVersion.get();
    if (version === seen) return;
    await waitWhileBusy(
      // Once only: an older or newer process beside this one renders by its own code when it starts.
      () => followCatalogue(catalogue, published, seen === undefined ? codeVersion : undefined),
      () => isClosed,
    );
    seen = version;
    failure = undefined;
  };
  const look = async () => {
    let pause = LOOK_MS;
    try {
      await follow();
    } catch (error) {
      const message = getErrorMessage(error);
      if (message !== failure) onFailure(error);
      failure = message;
      pause = RETRY_MS;
    }
    if (!isClosed) timer = setTimeout(() => (current = look()), pause).unref();
  };
  let current: Promise<void>;
  try {
    if (!canBeServed(catalogue, published)) await follow();
    current = look();
  } catch (error) {
    close();
    throw error;
  }
  return {
    findFailure: () => failure,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await current;
      close();
    },
  };
}

/** Prepares the reading of a number that is another after anybody wrote to the catalogue; it is read many times a second. */
function prepareVersion({ sqlite }: Catalogue) {
  return sqlite.prepare<[], number>('PRAGMA data_version').pluck();
}

/** Tries again while another process holds the lock. Throws once that took as long as SQLite would have waited, or on `isEnd`. */
async function waitWhileBusy(work: () => Promise<unknown>, isEnd: () => boolean): Promise<void> {
  const limit = performance.now() + BUSY_TIMEOUT_MS;
  for (;;) {
    try {
      await work();
      return;
    } catch (error) {
      if (!isBusy(error) || isEnd() || performance.now() > limit) throw error;
    }
    await sleep(LOOK_MS);
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY');
}

/** Opens both for the follower alone: it reads the catalogue within a transaction of its own. */
function openBoth({ catalogueFile, publishedFile }: FollowedFiles): {
  catalogue: Catalogue;
  published: Published;
  close: () => void;
} {
  const catalogue = openCatalogueForReading(catalogueFile);
  try {
    const published = openPublishedForWriting(publishedFile);
    return {
      catalogue,
      published,
      close: () => {
        published.close();
        catalogue.close();
      },
    };
  } catch (error) {
    catalogue.close();
    throw error;
  }
}
