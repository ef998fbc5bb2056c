import type { Site } from '../views/site.ts';
import { asPublishedError, openPublished, type Published } from './file.ts';
import { listRelated } from './related.ts';
import { selectListings } from './select.ts';
import { type GetSnapshot, openSnapshots, type Snapshot } from './snapshot.ts';

/** All that readers are answered from: what the service says of itself, the published catalogue, and the time. */
export interface Reading {
  readonly site: Site;
  readonly published: Published;
  /** Throws while nothing may be read. */
  readonly refresh: () => void;
  readonly getSnapshot: GetSnapshot;
  /** Runs `work`, which is one query: that needs no transaction. */
  readonly readOne: <Result>(work: () => Result) => Result;
  /** Runs `work`, which may not wait, in a read transaction: the file stays at the revision of the snapshot. */
  readonly readAtOnce: <Result>(work: (snapshot: Snapshot) => Result) => Result;
  readonly now: () => Date;
  /** See `listRelated`. Pages are compiled by themselves: asked for here, what is related is found once for them and us. */
  readonly listRelated: typeof listRelated;
  /** See `selectListings`. Asked for here, the words of all listings are in memory once. */
  readonly selectListings: typeof selectListings;
}

interface ReadingOptions {
  readonly now?: () => Date;
  /** Called before anything is read; throws while nothing may be. */
  readonly refresh?: () => void;
  /** Called with each failure to read the file. */
  readonly onFailure?: (error: unknown) => void;
}

/** Opens the published catalogue in a file for readers. Throws as `openPublished` does. */
export function openReading(file: string, site: Site, options?: ReadingOptions): Reading {
  return buildReading(openPublished(file), site, options);
}

/** Builds the reading of an open published catalogue. */
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
      // An operator's command names the file. Readers of a server are told what they can do.
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
