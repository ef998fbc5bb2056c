/** Copies the journal of a published catalogue into the file. It runs in a thread, so it blocks no reader or writer. */
import { workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';

try {
  const sqlite = new Sqlite(workerData, { fileMustExist: true, timeout: 0 });
  sqlite.pragma('wal_checkpoint(PASSIVE)');
  sqlite.close();
} catch (error) {
  // The file was replaced, is damaged, or its disk is full. The next write to the file reports that.
  if (!(error instanceof Sqlite.SqliteError)) throw error;
}
