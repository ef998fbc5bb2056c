import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { Compilable, Kysely } from 'kysely';
import { getErrorMessage, ServiceError } from '../errors.ts';
import { createFolder } from './folder.ts';
import { MIGRATIONS } from './migrations/index.ts';
import type { Tables } from './tables.ts';

const SQLITE_MAGIC = 'SQLite format 3\0';
const BUSY_TIMEOUT_MS = 10_000;

/**
 * An open catalogue. Kysely builds the queries and checks their types. better-sqlite3 runs them synchronously, so that
 * nothing else runs within a transaction. Each statement is prepared once.
 */
export interface Catalogue {
  readonly file: string;
  readonly sqlite: Sqlite.Database;
  readonly query: Kysely<Tables>;
  readonly statements: Map<string, Sqlite.Statement>;
  close(): void;
}

/**
 * Opens the catalogue for writing, creates it if there is none, and runs the migrations that it lacks. `create` has the
 * identity (a UUID) and the time (ISO 8601 UTC) of a new one. Throws `bad_input` for a file that is not a catalogue or comes
 * from newer code.
 */
export function openCatalogue(file: string, create: { identity: string; at: string }): Catalogue {
  const sqlite = openFile(file, { readonly: false });
  try {
    refuseOtherDatabase(sqlite, file);
    sqlite.pragma('journal_mode = WAL');
    sqlite.pragma('synchronous = NORMAL');
    sqlite.pragma('foreign_keys = ON');
    migrate(sqlite, file, create);
  } catch (error) {
    sqlite.close();
    throw asFileError(file, error);
  }
  return buildCatalogue(file, sqlite);
}

/** Opens an existing catalogue read-only. Throws `not_found` without one, and `bad_input` for another file or schema version. */
export function openCatalogueForReading(file: string): Catalogue {
  if (!existsSync(file)) {
    throw new ServiceError('not_found', `There is no catalogue at ${file}.`, {
      hint: 'Import something first, or set CATALOGUE to another file.',
      reason: 'no_catalogue',
    });
  }
  const sqlite = openFile(file, { readonly: true });
  try {
    refuseOtherDatabase(sqlite, file);
    const version = sqlite.pragma('user_version', { simple: true });
    if (version !== MIGRATIONS.length) throw buildVersionError(file, Number(version));
  } catch (error) {
    sqlite.close();
    throw asFileError(file, error);
  }
  return buildCatalogue(file, sqlite);
}

/** Lists the rows of a query. */
export function listRows<Row>({ statements, sqlite }: Catalogue, query: Compilable<Row>): Row[] {
  const { sql, parameters } = query.compile();
  return prepare(statements, sqlite, sql).all(...parameters) as Row[];
}

/** Finds the first row of a query. */
export function findRow<Row>({ statements, sqlite }: Catalogue, query: Compilable<Row>): Row | undefined {
  const { sql, parameters } = query.compile();
  return prepare(statements, sqlite, sql).get(...parameters) as Row | undefined;
}

/** Runs a statement that writes. Returns the number of changed rows and the last row id. */
export function runStatement({ statements, sqlite }: Catalogue, query: Compilable<unknown>): Sqlite.RunResult {
  const { sql, parameters } = query.compile();
  return prepare(statements, sqlite, sql).run(...parameters);
}

/** Finds the first row of a plain SQL statement, for what runs often: it needs neither Kysely nor the building of a query. */
export function findRowBy<Row>(
  { statements, sqlite }: Catalogue,
  sql: string,
  ...parameters: unknown[]
): Row | undefined {
  return prepare(statements, sqlite, sql).get(...parameters) as Row | undefined;
}

/** Lists the rows of a plain SQL statement, for what runs often. */
export function listRowsBy<Row>({ statements, sqlite }: Catalogue, sql: string, ...parameters: unknown[]): Row[] {
  return prepare(statements, sqlite, sql).all(...parameters) as Row[];
}

function prepare(statements: Map<string, Sqlite.Statement>, sqlite: Sqlite.Database, sql: string): Sqlite.Statement {
  let statement = statements.get(sql);
  if (!statement) {
    statement = sqlite.prepare(sql);
    statements.set(sql, statement);
  }
  return statement;
}

function buildCatalogue(file: string, sqlite: Sqlite.Database): Catalogue {
  let query: Kysely<Tables> | undefined;
  return {
    file,
    sqlite,
    get query() {
      query ??= createQueries();
      return query;
    },
    statements: new Map(),
    close: () => sqlite.close(),
  };
}

/** Loads Kysely when the first query is built: its 250 modules would be half of what a server loads to start. */
function createQueries(): Kysely<Tables> {
  const kysely: typeof import('kysely') = createRequire(import.meta.url)('kysely');
  return new kysely.Kysely<Tables>({
    dialect: {
      createAdapter: () => new kysely.SqliteAdapter(),
      createDriver: () => new kysely.DummyDriver(),
      createIntrospector: (db) => new kysely.SqliteIntrospector(db),
      createQueryCompiler: () => new kysely.SqliteQueryCompiler(),
    },
  });
}

function openFile(file: string, options: { readonly: boolean }): Sqlite.Database {
  try {
    if (!options.readonly) createFolder(dirname(file));
    refuseOtherFile(file);
    return new Sqlite(file, { ...options, fileMustExist: options.readonly, timeout: BUSY_TIMEOUT_MS });
  } catch (error) {
    throw asFileError(file, error);
  }
}

/** Refuses a file that is no database before SQLite opens it, so that it stays as it is. */
function refuseOtherFile(file: string): void {
  if (!existsSync(file)) return;
  const head = Buffer.alloc(SQLITE_MAGIC.length);
  const handle = openSync(file, 'r');
  try {
    const length = readSync(handle, head);
    if (length > 0 && head.toString('latin1', 0, length) !== SQLITE_MAGIC) {
      throw new ServiceError('bad_input', `${file} is not a catalogue: it is no SQLite database.`, {
        hint: 'Set CATALOGUE to another file; this one was left as it is.',
        reason: 'not_a_catalogue',
      });
    }
  } finally {
    closeSync(handle);
  }
}

function migrate(sqlite: Sqlite.Database, file: string, create: { identity: string; at: string }): void {
  const getVersion = () => Number(sqlite.pragma('user_version', { simple: true }));
  if (getVersion() === MIGRATIONS.length) return;
  sqlite
    .transaction(() => {
      const version = getVersion();
      if (version > MIGRATIONS.length) throw buildVersionError(file, version);
      for (const migration of MIGRATIONS.slice(version)) sqlite.exec(migration);
      sqlite.pragma(`user_version = ${MIGRATIONS.length}`);
      sqlite
        .prepare(
          'INSERT INTO catalogue (id, identity, revision, revised_at) VALUES (1, ?, 0, ?) ON CONFLICT DO NOTHING',
        )
        .run(create.identity, create.at);
    })
    .immediate();
}

/** Refuses another program's database, and a catalogue of newer code, before anything is written to it. */
function refuseOtherDatabase(sqlite: Sqlite.Database, file: string): void {
  const tables = sqlite.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").pluck().all();
  const version = Number(sqlite.pragma('user_version', { simple: true }));
  if (tables.length === 0 || tables.includes('catalogue')) {
    if (version > MIGRATIONS.length) throw buildVersionError(file, version);
    return;
  }
  throw new ServiceError('bad_input', `${file} is a database of something else: it has the table ${tables[0]}.`, {
    hint: 'Set CATALOGUE to another file; this one was left as it is.',
    reason: 'not_a_catalogue',
  });
}

function buildVersionError(file: string, version: number): ServiceError {
  const newer = version > MIGRATIONS.length;
  return new ServiceError('bad_input', `${file} has schema version ${version}; this code knows ${MIGRATIONS.length}.`, {
    hint: newer ? 'Run the newer code that wrote it.' : 'Open it once with an operator command, which migrates it.',
    reason: 'schema_version',
  });
}

function asFileError(file: string, error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  return new ServiceError('bad_input', `${file} cannot be opened as a catalogue: ${getErrorMessage(error)}.`, {
    hint: 'Check the path and its rights, or restore a backup.',
    reason: 'not_a_catalogue',
    cause: error,
  });
}
