/** A thread that takes the journal of a published catalogue into the file. Who reads or writes meanwhile is not held up. */
import { workerData } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';

try {
  const sqlite = new Sqlite(workerData, { fileMustExist: true, timeout: 0 });
  sqlite.pragma('wal_checkpoint(PASSIVE)');
  sqlite.close();
} catch (error) {
  // The file was replaced, is damaged, or its disk is full: who writes to it next says so.
  if (!(error instanceof Sqlite.SqliteError)) throw error;
}
