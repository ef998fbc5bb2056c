import type { Catalogue } from './database.ts';

/**
 * Runs `work` while this connection sees one state of the catalogue, whatever other processes write. The connection must
 * not be used for anything else until `work` is done.
 */
export async function holdState<Result>({ sqlite }: Catalogue, work: () => Promise<Result>): Promise<Result> {
  sqlite.exec('BEGIN');
  try {
    // SQLite takes the state at the first read, not at BEGIN.
    sqlite.prepare('SELECT revision FROM catalogue').get();
    return await work();
  } finally {
    sqlite.exec('ROLLBACK');
  }
}
