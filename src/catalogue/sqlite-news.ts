import { existsSync } from 'node:fs';
import type Sqlite from 'better-sqlite3';
import { getErrorMessage, ServiceError } from '../errors.ts';
import { LATEST_MIGRATION } from './migrations/latest.ts';
import { buildOtherVersion, type NewsQuery, type NewsSource } from './news.ts';
import { openSqliteFile } from './sqlite-file.ts';

/** Opens a catalogue in a SQLite file to be followed. */
export function openSqliteNews(file: string): NewsSource & Required<Pick<NewsSource, 'holdAtOnce'>> {
  if (!existsSync(file)) {
    throw new ServiceError('not_found', `There is no catalogue at ${file}.`, {
      hint: 'Import something first, or set CATALOGUE to another file.',
      reason: 'no_catalogue',
    });
  }
  const sqlite = openSqliteFile(file, { readonly: true });
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
  return {
    getVersion: () => readVersion.get(),
    async hold(work) {
      sqlite.exec('BEGIN');
      try {
        return await work(async (query) => ask(query));
      } finally {
        sqlite.exec('ROLLBACK');
      }
    },
    holdAtOnce(work) {
      sqlite.exec('BEGIN');
      try {
        return work(ask);
      } finally {
        sqlite.exec('ROLLBACK');
      }
    },
    close: async () => void sqlite.close(),
  };
}

function refuseOtherVersion(sqlite: Sqlite.Database, file: string): void {
  const isReleased = sqlite.prepare("SELECT 1 FROM sqlite_master WHERE name = 'kysely_migration'").get() !== undefined;
  const latest = isReleased && sqlite.prepare('SELECT max(name) FROM kysely_migration').pluck().get();
  if (latest !== LATEST_MIGRATION) throw buildOtherVersion(file);
}
