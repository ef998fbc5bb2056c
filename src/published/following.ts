import { type Catalogue, openCatalogueForReading } from '../catalogue/database.ts';
import { getErrorMessage } from '../errors.ts';
import { openPublishedForWriting, type Published } from './file.ts';
import { canBeServed, followAtOnce, followCatalogue, type Rendering } from './follow.ts';
import { openReading, type Reading } from './reading.ts';

/** The private catalogue, and the public file that follows it. */
export interface FollowedFiles {
  readonly catalogueFile: string;
  readonly publishedFile: string;
}

/** How often the catalogue is looked at, in milliseconds: one read of a counter in memory. */
const LOOK_MS = 15;

/** How long it waits after a failure. */
const RETRY_MS = 1000;

/** Brings the published catalogue up to date once. Throws as `openCatalogueForReading` and `openPublishedForWriting` do. */
export function publishCatalogue(files: FollowedFiles, by: Rendering): void {
  const { catalogue, published, close } = openBoth(files);
  try {
    followAtOnce(catalogue, published, by);
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
  by: Rendering,
  now?: () => Date,
): Reading & { close(): void } {
  const { catalogue, published: writer, close } = openBoth(files);
  let seen: unknown;
  const refresh = () => {
    const version = catalogue.sqlite.pragma('data_version', { simple: true });
    if (version === seen) return;
    followAtOnce(catalogue, writer, by);
    seen = version;
  };
  try {
    refresh();
    const reading = openReading(files.publishedFile, by.site, { refresh, ...(now && { now }) });
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
  by: Rendering,
  onFailure: (error: unknown) => void,
): Promise<Following> {
  const { catalogue, published, close } = openBoth(files);
  let seen = -1;
  let failure: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const follow = async () => {
    const version = Number(catalogue.sqlite.pragma('data_version', { simple: true }));
    if (version === seen) return;
    await followCatalogue(catalogue, published, by);
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
    if (!canBeServed(catalogue, published, by)) await follow();
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

/** Opens both files for the follower, which reads the catalogue in transactions of its own. */
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
