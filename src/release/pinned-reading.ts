import { statSync } from 'node:fs';
import { getCatalogueState } from '../catalogue/write.ts';
import type { Config } from '../config.ts';
import { openPageReading, type Reading } from '../snapshot/reading.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { getSite } from './release.ts';

/** A catalogue that is read at one revision after the other; what did not change in between is not read again. */
export interface PinnedReadings {
  /**
   * Gives the catalogue as it is now, until `unpin`: whatever is written meanwhile, all that pages read is of that revision.
   * The time is the revision's own, so that a page rendered again is the same to the byte. Throws as
   * `openCatalogueForReading` does.
   */
  pin(): Reading;
  unpin(): void;
  close(): void;
}

/** Opens the readings of the catalogue that the settings name; a file put in the place of another is opened anew. */
export function openPinnedReadings(config: Config): PinnedReadings {
  let opened: { reading: Reading; file: string } | undefined;
  const close = () => {
    opened?.reading.catalogue.close();
    opened = undefined;
  };
  return {
    close,
    pin() {
      const file = getFileNumber(config.catalogueFile);
      if (opened?.file !== file) close();
      opened ??= { reading: openPageReading(config.catalogueFile, getSite(config)), file };
      return pinReading(opened.reading);
    },
    unpin() {
      if (!opened?.reading.catalogue.sqlite.inTransaction) return;
      opened.reading.catalogue.sqlite.exec('COMMIT');
      // What is kept of the file is for one rebuild: the next one reads little of it.
      opened.reading.catalogue.sqlite.pragma('shrink_memory');
    },
  };
}

/** Opens the catalogue at one revision, see `PinnedReadings.pin`. Close its catalogue when done. */
export function openPinnedReading(config: Config): Reading {
  return pinReading(openPageReading(config.catalogueFile, getSite(config)));
}

/**
 * A read transaction is held open, which stands still at the state that is read first. The snapshot is of that, and made
 * when it is first asked for.
 */
function pinReading(reading: Reading): Reading {
  reading.catalogue.sqlite.exec('BEGIN');
  const { revised_at } = getCatalogueState(reading.catalogue);
  let snapshot: Snapshot | undefined;
  return {
    ...reading,
    getSnapshot: () => {
      snapshot ??= reading.getSnapshot();
      return snapshot;
    },
    now: () => new Date(revised_at),
  };
}

function getFileNumber(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return `${found?.dev} ${found?.ino}`;
}
