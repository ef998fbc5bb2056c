import Sqlite from 'better-sqlite3';
import { openPublished } from '../../src/published/file.ts';
import { type IndexedListing, iterateIndexed } from '../../src/published/indexing.ts';

/** Gives everything that a published file holds, table by table. */
export function readAll(file: string): Record<string, unknown[]> {
  const sqlite = new Sqlite(file, { readonly: true });
  try {
    const tables = sqlite.prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all();
    const found = Object.fromEntries(
      tables.sort().map((name) => {
        const columns = (sqlite.pragma(`table_info(${name})`) as unknown[]).length;
        const order = Array.from({ length: columns }, (_, at) => at + 1).join(', ');
        return [name, sqlite.prepare(`SELECT * FROM "${name}" ORDER BY ${order}`).all()];
      }),
    );
    if (!('search_words' in found)) return found;
    // Words have other numbers in every file.
    const { search_words: _words, ...rest } = found;
    return { ...rest, search_entries: listIndexed(file) };
  } finally {
    sqlite.close();
  }
}

function listIndexed(file: string): IndexedListing[] {
  const published = openPublished(file);
  try {
    return [...iterateIndexed(published)];
  } finally {
    published.close();
  }
}
