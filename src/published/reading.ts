import type { Site } from '../views/site.ts';
import { asPublishedError, openPublished, type Published } from './file.ts';
import { listRelated } from './related.ts';
import { selectListings } from './select.ts';
import { type GetSnapshot, openSnapshots, type Snapshot } from './snapshot.ts';

/** The sources of all answers: the service's own settings, the published catalogue, and the clock. */
export interface Reading {
  readonly site: Site;
  readonly published: Published;
  /** Throws while nothing may be read. */
  readonly refresh: () => void;
  readonly getSnapshot: GetSnapshot;
  /** Runs `work`, a single query, which needs no transaction. */
  readonly readOne: <Result>(work: () => Result) => Result;
  /** Runs `work`, which must not wait, in a read transaction, so that the file stays at the revision of the snapshot. */
  readonly readAtOnce: <Result>(work: (snapshot: Snapshot) => Result) => Result;
  readonly now: () => Date;
  /** See `listRelated`. Compiled pages have a copy of this module; calling it here keeps one index for them and the server. */
  readonly listRelated: typeof listRelated;
  /** See `selectListings`. Calling it here keeps the search index in memory once. */
  readonly selectListings: typeof selectListings;
}

/** A reading while the file stays at the revision of a snapshot. */
export interface AtRevision {
  readonly reading: Reading;
  readonly snapshot: Snapshot;
}

interface ReadingOptions {
  readonly now?: () => Date;
  /** Called before each read; throws while nothing may be read. */
  readonly refresh?: () => void;
  /** Called with each failure to read the file. */
  readonly onFailure?: (error: unknown) => void;
}

/** Opens the published catalogue in a file for reading. Throws as `openPublished` does. */
export function openReading(file: string, site: Site, options?: ReadingOptions): Reading {
  return buildReading(openPublished(file), site, options);
}

/**
 * Builds a `Reading` of an open published catalogue. With `onFailure`, a failure is reported to it and `refresh` may throw the
 * error for readers.
 */
export function buildReading(
  published: Published,
  site: Site,
  { now = () => new Date(), refresh = () => undefined, onFailure }: ReadingOptions = {},
): Reading {
  const read = openSnapshots(published);
  const attempt = <Result>(work: () => Result): Result => {
    try {
      return work();
    } catch (error) {
      // Commands name the file in the error. A server's readers get the error of `refresh`, which says what they can do.
      if (!onFailure) throw asPublishedError(published.file, error);
      onFailure(error);
      refresh();
      throw error;
    }
  };
  const getSnapshot = () => {
    refresh();
    return attempt(read);
  };
  const readOne = <Result>(work: () => Result) => {
    refresh();
    return attempt(work);
  };
  const readAtOnce = <Result>(work: (snapshot: Snapshot) => Result) => {
    refresh();
    return attempt(() => published.sqlite.transaction(() => work(read()))());
  };
  return { site, published, refresh, getSnapshot, readOne, readAtOnce, now, listRelated, selectListings };
}
