import type { Site } from '../views/site.ts';
import { openPublished, type Published } from './file.ts';
import { listRelated } from './related.ts';
import { selectListings } from './select.ts';
import { type GetSnapshot, openSnapshots, type Snapshot } from './snapshot.ts';

/** All that readers are answered from: what the service says of itself, the published catalogue, and the time. */
export interface Reading {
  readonly site: Site;
  readonly published: Published;
  /** Brings the file up to date where nothing else does. */
  readonly refresh: () => void;
  readonly getSnapshot: GetSnapshot;
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
  /** Called before anything is read. */
  readonly refresh?: () => void;
}

/** Opens the published catalogue in a file for readers. Throws as `openPublished` does. */
export function openReading(file: string, site: Site, options?: ReadingOptions): Reading {
  return buildReading(openPublished(file), site, options);
}

/** Builds the reading of an open published catalogue. */
export function buildReading(
  opened: Published,
  site: Site,
  { now = () => new Date(), refresh: bringUpToDate }: ReadingOptions = {},
): Reading {
  const published = { ...opened, baseUrl: site.baseUrl };
  const read = openSnapshots(published);
  const refresh = () => {
    if (!published.sqlite.inTransaction) bringUpToDate?.();
  };
  const getSnapshot = () => {
    refresh();
    return read();
  };
  const runAtOnce = published.sqlite.transaction((work: (snapshot: Snapshot) => unknown) => work(read()));
  const readAtOnce = <Result>(work: (snapshot: Snapshot) => Result) => {
    refresh();
    return runAtOnce(work) as Result;
  };
  return { site, published, refresh, getSnapshot, readAtOnce, now, listRelated, selectListings };
}

/** A published catalogue that stays at the revision of a snapshot until it is closed. */
export interface HeldReading {
  readonly published: Published;
  readonly snapshot: Snapshot;
}

/**
 * Opens the file once more and holds it at one revision, for a document that is made bit by bit. Close its file when done.
 */
export function openHeldReading({ published: { file, baseUrl }, getSnapshot }: Reading): HeldReading {
  const published = { ...openAgain(file), baseUrl };
  try {
    published.sqlite.exec('BEGIN');
    return { published, snapshot: openSnapshots(published, getSnapshot())() };
  } catch (error) {
    published.close();
    throw error;
  }
}

/** Throws nothing that is told to readers: it names the file, and hints at what its operator can do. */
function openAgain(file: string): Published {
  try {
    return openPublished(file);
  } catch (error) {
    throw new Error('the published catalogue cannot be opened once more', { cause: error });
  }
}
