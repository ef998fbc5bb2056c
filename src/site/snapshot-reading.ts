import { findFileNumber } from '../catalogue/sqlite-file.ts';
import type { Config } from '../config.ts';
import { openPublished } from '../published/file.ts';
import { publishCatalogue } from '../published/follow.ts';
import { buildReading, type Reading } from '../published/reading.ts';
import type { Snapshot } from '../published/snapshot.ts';
import { getPublishedState } from '../published/state.ts';
import { getCodeVersion } from './page-code.ts';
import { getSite } from './settings.ts';

/** Readings of the published catalogue at one revision after the other; what did not change in between is not read again. */
export interface SnapshotReadings {
  /**
   * Brings the published catalogue up to date and returns it as it is then, until `unpin`: all that pages read is of
   * that revision, whatever is written meanwhile. The time is the revision's own, so that a page rendered again is the
   * same to the byte. Throws as `publishCatalogue` does.
   */
  pin(): Promise<Reading>;
  unpin(): void;
  close(): void;
}

/**
 * Size of SQLite's cache of the file, in kibibytes: with the few pages of its default, listings and their changes,
 * which lie in another order, push each other out.
 */
const PAGE_CACHE = 16_000;

/** Opens the readings of the published catalogue that the settings name; a file that replaced another is opened again. */
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
      // SQLite's cache of the file serves one rebuild: the next one reads little of it.
      opened.reading.published.sqlite.pragma('shrink_memory');
    },
  };
}

/** Opens the published catalogue at one revision, see `SnapshotReadings.pin`. Close it when done. */
export function openSnapshotReading(config: Config): Reading {
  return pinReading(openPageReading(config));
}

function openPageReading(config: Config): Reading {
  const published = openPublished(config.publishedFile);
  published.sqlite.pragma(`cache_size = -${PAGE_CACHE}`);
  return buildReading(published, getSite(config));
}

/**
 * A read transaction is held open, which stays at the state that is read first. The snapshot is of that state, and made
 * when it is first asked for.
 */
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
