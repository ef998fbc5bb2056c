import Sqlite from 'better-sqlite3';
import type { SiteFixture } from '../site/site-fixture.ts';

/** Makes every search of the published catalogue fail. */
export function breakReading(fixture: SiteFixture): void {
  runOnPublished(fixture, 'ALTER TABLE answers RENAME TO lost; ALTER TABLE items RENAME TO lost_items');
}

/** Makes every write of a listing to the published catalogue fail. Returns what undoes that. */
export function breakPublished(fixture: SiteFixture): () => void {
  const failure = "SELECT RAISE(ABORT, 'the disk is broken')";
  runOnPublished(fixture, `CREATE TRIGGER broken BEFORE INSERT ON listings BEGIN ${failure}; END`);
  return () => runOnPublished(fixture, 'DROP TRIGGER broken');
}

/** Makes the published catalogue one of the tables of earlier code. */
export function dateSchema(fixture: SiteFixture): void {
  runOnPublished(fixture, 'PRAGMA user_version = 1');
}

function runOnPublished({ config }: SiteFixture, sql: string): void {
  const sqlite = new Sqlite(config.publishedFile);
  sqlite.exec(sql);
  sqlite.close();
}
