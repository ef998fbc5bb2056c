import { existsSync } from 'node:fs';
import type Sqlite from 'better-sqlite3';
import { ServiceError } from '../errors.ts';
import { isPostgresAddress } from './address.ts';
import { LATEST_MIGRATION } from './migrations/latest.ts';
import type { NewsQuery } from './news.ts';
import { openSqliteFile } from './sqlite-file.ts';

/** Answers a query about the state that is held. */
export type Ask = <Row>(query: NewsQuery<Row>) => Promise<Row[]>;

/** A catalogue as it is followed: read only, and without Kysely. */
export interface NewsSource {
  /** Returns something that is another after anybody wrote to the catalogue; it is asked for many times a second. */
  getVersion(): unknown;
  /** Runs `work` while what it asks about stays at one state. */
  hold<Result>(work: (ask: Ask) => Promise<Result>): Promise<Result>;
  /** Does the same at once, where the engine can: for processes that do nothing else. */
  holdAtOnce?<Result>(work: (ask: <Row>(query: NewsQuery<Row>) => Row[]) => Result): Result;
  close(): Promise<void>;
}

/**
 * Opens a catalogue to be followed. Throws `not_found` without one, and `bad_input` for
 * another file or schema version; of a catalogue in PostgreSQL each `hold` throws that, and `unavailable` while it cannot be
 * reached.
 */
export async function openNewsSource(address: string): Promise<NewsSource> {
  if (!isPostgresAddress(address)) return openSqliteNews(address);
  // Catalogues in files do without it.
  const { openPostgresNews } = await import('./postgres-news.ts');
  return openPostgresNews(address);
}

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
    const statement = statements.get(sql) ?? sqlite.prepare(sql);
    statements.set(sql, statement);
    return statement.all(...parameters) as Row[];
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

/** Builds the error for a catalogue of another schema version. */
export function buildOtherVersion(file: string): ServiceError {
  return new ServiceError('bad_input', `${file} is a catalogue of another version of this code.`, {
    hint: 'The command catalogue status says what to do.',
    reason: 'schema_version',
  });
}
