import { existsSync } from 'node:fs';
import type Sqlite from 'better-sqlite3';
import { getErrorMessage, ServiceError } from '../errors.ts';
import { LATEST_MIGRATION } from './migrations/latest.ts';
import { buildOtherVersion, type NewsQuery, type NewsSource } from './news.ts';
import { findFileNumber, openSqliteFile } from './sqlite-file.ts';

/**
 * Opens a catalogue in a SQLite file to be followed. Throws `not_found` without one, and `bad_input` for another schema version;
 * each `hold` throws `unavailable` while it cannot be read, or while another file, or none, is in its place. That file is not
 * followed instead: SQLite would take the journal of the old one (`-wal`) for its own.
 */
export function openSqliteNews(file: string): NewsSource & Required<Pick<NewsSource, 'holdAtOnce'>> {
  if (!existsSync(file)) {
    throw new ServiceError('not_found', `There is no catalogue at ${file}.`, {
      hint: 'Import something first, or set CATALOGUE to another file.',
      reason: 'no_catalogue',
    });
  }
  const sqlite = openSqliteFile(file, { readonly: true });
  const opened = findFileNumber(file);
  try {
    refuseOtherVersion(sqlite, file);
  } catch (error) {
    sqlite.close();
    throw error;
  }
  const readVersion = sqlite.prepare<[], number>('PRAGMA data_version').pluck();
  const statements = new Map<string, Sqlite.Statement>();
  const ask = <Row>({ sql, parameters }: NewsQuery<Row>): Row[] => {
    try {
      const statement = statements.get(sql) ?? sqlite.prepare(sql);
      statements.set(sql, statement);
      return statement.all(...parameters) as Row[];
    } catch (error) {
      throw new ServiceError('unavailable', `The catalogue ${file} cannot be read: ${getErrorMessage(error)}.`, {
        hint: 'catalogue check says what is wrong with it, and what to do.',
        reason: 'catalogue_unreadable',
        cause: error,
      });
    }
  };
  const begin = () => {
    if (findFileNumber(file) !== opened) throw buildReplaced(file);
    sqlite.exec('BEGIN');
  };
  return {
    getVersion: () => readVersion.get(),
    async hold(work) {
      begin();
      try {
        return await work(async (query) => ask(query));
      } finally {
        sqlite.exec('ROLLBACK');
      }
    },
    holdAtOnce(work) {
      begin();
      try {
        return work(ask);
      } finally {
        sqlite.exec('ROLLBACK');
      }
    },
    close: async () => void sqlite.close(),
  };
}

function buildReplaced(file: string): ServiceError {
  return new ServiceError('unavailable', `Another file, or none, is in the place of the catalogue ${file}.`, {
    hint: 'Move the same file back. Where the other one is to be served, stop all that uses the catalogue, and start it again.',
    reason: 'catalogue_replaced',
  });
}

function refuseOtherVersion(sqlite: Sqlite.Database, file: string): void {
  const isReleased = sqlite.prepare("SELECT 1 FROM sqlite_master WHERE name = 'kysely_migration'").get() !== undefined;
  const latest = isReleased && sqlite.prepare('SELECT max(name) FROM kysely_migration').pluck().get();
  if (latest !== LATEST_MIGRATION) throw buildOtherVersion(file);
}
