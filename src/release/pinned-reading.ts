import type { Config } from '../config.ts';
import { openReading, type Reading } from '../snapshot/reading.ts';
import { getSite } from './release.ts';

/**
 * Opens the catalogue at one revision: a read transaction is held open, so whatever is written meanwhile, all that pages
 * read is of that revision. The time is the revision's own, so that a page rendered again is the same to the byte.
 * Close its catalogue when done. Throws as `openCatalogueForReading` does.
 */
export function openPinnedReading(config: Config): Reading {
  const reading = openReading(config.catalogueFile, getSite(config));
  reading.catalogue.sqlite.exec('BEGIN');
  const snapshot = reading.getSnapshot();
  return { ...reading, getSnapshot: () => snapshot, now: () => new Date(snapshot.revised_at) };
}
