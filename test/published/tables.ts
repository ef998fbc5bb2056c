import Sqlite from 'better-sqlite3';

/** Gives everything that a published file holds, table by table. */
export function readAll(file: string): Record<string, unknown[]> {
  const sqlite = new Sqlite(file, { readonly: true });
  try {
    const tables = sqlite.prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all();
    return Object.fromEntries(
      tables.sort().map((name) => {
        const columns = (sqlite.pragma(`table_info(${name})`) as unknown[]).length;
        const order = Array.from({ length: columns }, (_, at) => at + 1).join(', ');
        return [name, sqlite.prepare(`SELECT * FROM "${name}" ORDER BY ${order}`).all()];
      }),
    );
  } finally {
    sqlite.close();
  }
}
