import { findFileNumber } from '../catalogue/sqlite-file.ts';
import type { Config } from '../config.ts';
import { openPublished } from '../published/file.ts';
import { publishCatalogue } from '../published/follow.ts';
import { buildReading, type Reading } from '../published/reading.ts';
import type { Snapshot } from '../published/snapshot.ts';
import { getPublishedState } from '../published/state.ts';
import { getCodeVersion } from './page-code.ts';
import { getSite } from './settings.ts';

/** Readings of the published catalogue at successive revisions. What did not change in between is not read again. */
export interface SnapshotReadings {
  /**
   * Brings the published catalogue up to date and returns it as it is then, held at that revision until `unpin`. Its time is that
   * of the revision, so a page rendered again has the same bytes. Throws as `publishCatalogue` does.
   */
  pin(): Promise<Reading>;
  unpin(): void;
  close(): void;
}

/**
 * Size of SQLite's cache of the file, in kibibytes. With the small default, listings and their changes, which are in another
 * order, push each other out.
 */
const PAGE_CACHE = 16_000;

/** Opens the readings of the published catalogue that the settings name. If another file replaces it, that is opened. */
export function openSnapshotReadings(config: Config): SnapshotReadings {
  let opened: { reading: Reading; file: string | undefined } | undefined;
  const close = () => {
    opened?.reading.published.close();
    opened = undefined;
  };
  return {
    close,
    async pin() {
      await publishCatalogue(config, getCodeVersion());
      const file = findFileNumber(config.publishedFile);
      if (opened?.file !== file) close();
      opened ??= { reading: openPageReading(config), file };
      return pinReading(opened.reading);
    },
    unpin() {
      if (!opened?.reading.published.sqlite.inTransaction) return;
      opened.reading.published.sqlite.exec('COMMIT');
      // SQLite's cache is used only within one rebuild; the next one reads little of the same.
      opened.reading.published.sqlite.pragma('shrink_memory');
    },
  };
}

/** Opens the published catalogue at one revision, see `SnapshotReadings.pin`. Close it after use. */
export function openSnapshotReading(config: Config): Reading {
  return pinReading(openPageReading(config));
}

function openPageReading(config: Config): Reading {
  const published = openPublished(config.publishedFile);
  published.sqlite.pragma(`cache_size = -${PAGE_CACHE}`);
  return buildReading(published, getSite(config));
}

/** Holds a read transaction open, which stays at the state of the first read. The snapshot is made when first needed. */
function pinReading(reading: Reading): Reading {
  reading.published.sqlite.exec('BEGIN');
  const { revised_at } = getPublishedState(reading.published);
  let snapshot: Snapshot | undefined;
  const getSnapshot = () => {
    snapshot ??= reading.getSnapshot();
    return snapshot;
  };
  return { ...reading, getSnapshot, readAtOnce: (work) => work(getSnapshot()), now: () => new Date(revised_at) };
}
