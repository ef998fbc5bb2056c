import Sqlite from 'better-sqlite3';
import type { Shelf } from '../release/shelf.ts';

/** Makes every search of the published catalogue fail. */
export function breakReading(shelf: Shelf): void {
  runOnPublished(shelf, 'ALTER TABLE rendered RENAME TO lost; ALTER TABLE rendered_routes RENAME TO lost_routes');
}

/** Makes the published catalogue name a next revision whose listings cannot be read. */
export function breakListings(shelf: Shelf): void {
  runOnPublished(shelf, 'ALTER TABLE listings RENAME TO lost_listings; UPDATE catalogue SET revision = revision + 1');
}

/** Makes every write of a listing to the published catalogue fail. Returns what undoes that. */
export function breakPublished(shelf: Shelf): () => void {
  const failure = "SELECT RAISE(ABORT, 'the disk is broken')";
  runOnPublished(shelf, `CREATE TRIGGER broken BEFORE INSERT ON listings BEGIN ${failure}; END`);
  return () => runOnPublished(shelf, 'DROP TRIGGER broken');
}

function runOnPublished({ config }: Shelf, sql: string): void {
  const sqlite = new Sqlite(config.publishedFile);
  sqlite.exec(sql);
  sqlite.close();
}
