import { AsyncLocalStorage } from 'node:async_hooks';
import { existsSync } from 'node:fs';
import { type Insertable, Kysely, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { getErrorMessage, ServiceError } from '../errors.ts';
import { RULES_VERSION } from '../evidence/listing.ts';
import { buildAwayError, formatAddress, isAway, isPostgresAddress } from '../model/catalogue-address.ts';
import { type Engine, openPostgres, openSqlite } from './engines.ts';
import { buildMigrations } from './migrations/index.ts';
import { UNOPENED_HINT } from './sqlite-file.ts';
import type { Tables } from './tables.ts';

/** An open catalogue. */
export interface Catalogue {
  /** The path of its file, or the address of its PostgreSQL database (`postgres://…`), with the password. */
  readonly address: string;
  /** The address without the password, for messages. */
  readonly name: string;
  /**
   * Builds and runs queries. Within a transaction only the transaction's own catalogue may be queried: this one would wait for
   * the end of the transaction forever, so it throws.
   */
  readonly query: Kysely<Tables>;
  readonly engine: Engine;
  /** True if writes with a time that cannot be right are refused. */
  readonly checksClock: boolean;
  close(): Promise<void>;
}

/** The identity (a UUID) and the time (ISO 8601 UTC) of a new catalogue. */
export interface NewCatalogue {
  readonly identity: string;
  readonly at: string;
}

/**
 * Opens the catalogue for writing, and runs missing migrations. Creates a catalogue if there is none, or throws `not_found` if
 * `mayCreate` is false. Writes with a time that cannot be right are refused, unless `checksClock` is false. Throws `bad_input`
 * for a file that is not a catalogue or was written by newer code.
 */
export async function openCatalogue(
  address: string,
  create: NewCatalogue,
  { mayCreate = true, checksClock = true }: { mayCreate?: boolean; checksClock?: boolean } = {},
): Promise<Catalogue> {
  if (!mayCreate) refuseAbsentFile(address);
  return open(address, { readonly: false, checksClock }, async (catalogue) => {
    const version = await findVersion(catalogue);
    if (version === 'newer' || version === 'unreleased') throw buildVersionError(address, version);
    if (version === 'none' && !mayCreate && catalogue.engine.name === 'postgres') throw buildAbsence(address);
    catalogue.engine.prepareToWrite();
    if (version !== 'current') await migrate(catalogue);
    await identify(catalogue, create);
  });
}

/**
 * Opens an existing catalogue read-only. Throws `not_found` if there is none, and `bad_input` for another file or schema version;
 * with `mayBeOlder`, missing migrations are accepted. `deadlineMs` is the longest time for connecting to PostgreSQL, and for one
 * statement there, in milliseconds.
 */
export async function openCatalogueForReading(
  address: string,
  { mayBeOlder = false, deadlineMs }: { mayBeOlder?: boolean; deadlineMs?: number } = {},
): Promise<Catalogue> {
  refuseAbsentFile(address);
  return open(address, { readonly: true, checksClock: true, deadlineMs }, async (catalogue) => {
    const version = await findVersion(catalogue);
    // Another process may be creating it right now.
    if (version === 'none') throw buildAbsence(address);
    if (version !== 'current' && !(mayBeOlder && version === 'older')) throw buildVersionError(address, version);
  });
}

function refuseAbsentFile(address: string): void {
  if (!isPostgresAddress(address) && !existsSync(address)) throw buildAbsence(address);
}

function buildAbsence(address: string): ServiceError {
  return new ServiceError('not_found', `There is no catalogue at ${formatAddress(address)}.`, {
    hint: 'Import something first, or set CATALOGUE to another place.',
    reason: 'no_catalogue',
  });
}

async function open(
  address: string,
  { readonly, checksClock, deadlineMs }: { readonly: boolean; checksClock: boolean; deadlineMs?: number | undefined },
  check: (catalogue: Catalogue) => Promise<void>,
): Promise<Catalogue> {
  const engine = isPostgresAddress(address)
    ? await openPostgres(address, deadlineMs)
    : openSqlite(address, { readonly });
  const query = new Kysely<Tables>({ dialect: engine.dialect });
  const catalogue: Catalogue = {
    address,
    name: formatAddress(address),
    engine,
    checksClock,
    get query() {
      refuseWithin(catalogue);
      return query;
    },
    close: () => query.destroy(),
  };
  try {
    await check(catalogue);
    return catalogue;
  } catch (error) {
    await catalogue.close();
    throw asOpenError(address, error);
  }
}

/** Returns an open catalogue. Throws within a transaction of it, whose queries must use the transaction's own catalogue. */
export function refuseWithin(catalogue: Catalogue): Catalogue {
  if (openTransaction.getStore()?.of === catalogue) {
    throw new Error('within a transaction of the catalogue, ask the catalogue that the transaction gives');
  }
  return catalogue;
}

/** The transaction in which the code runs, and its open catalogue. */
const openTransaction = new AsyncLocalStorage<{ of: Catalogue | undefined }>();

/**
 * Runs `work` in a transaction, and undoes everything if `work` throws. `work` gets the transaction's catalogue for its queries,
 * and must wait for all of them. Only `writeCatalogue` writes what readers see.
 */
export async function runTransaction<Result>(
  catalogue: Catalogue,
  work: (inside: Catalogue) => Promise<Result>,
): Promise<Result> {
  return await catalogue.query.transaction().execute(async (query) => {
    const store: { of: Catalogue | undefined } = { of: catalogue };
    try {
      return await openTransaction.run(store, () => work({ ...copyOuter(catalogue), query }));
    } finally {
      // A timer set by `work` may run later.
      store.of = undefined;
    }
  });
}

/** Runs `work` while its reads stay at one state, whatever others write meanwhile. `work` must not write. */
export async function holdState<Result>(
  catalogue: Catalogue,
  work: (inside: Catalogue) => Promise<Result>,
): Promise<Result> {
  const held = catalogue.query.transaction().setIsolationLevel('repeatable read');
  return await held.execute(async (query) => {
    // A state is fixed at the first read, not at BEGIN.
    await query.selectFrom('catalogue').select('revision').execute();
    await catalogue.engine.holdLong(query);
    return await work({ ...copyOuter(catalogue), query });
  });
}

function copyOuter({ address, name, engine, checksClock, close }: Omit<Catalogue, 'query'>) {
  return { address, name, engine, checksClock, close };
}

/** Most values in one statement: SQLite allows 32,766, and fewer are as fast. */
const VALUES_AT_ONCE = 10_000;

/** Splits rows into lists that are short enough for one statement each. */
export function cutRows<Row extends object>(rows: readonly Row[]): Row[][] {
  const [first] = rows;
  if (!first) return [];
  const count = Math.max(1, Math.floor(VALUES_AT_ONCE / Object.keys(first).length));
  return Array.from({ length: Math.ceil(rows.length / count) }, (_, at) => rows.slice(at * count, (at + 1) * count));
}

/** Inserts rows, many with each statement. */
export async function insertRows<Name extends keyof Tables>(
  { query }: Catalogue,
  table: Name,
  rows: readonly Insertable<Tables[Name]>[],
): Promise<void> {
  for (const some of cutRows(rows)) await query.insertInto(table).values(some).execute();
}

/**
 * Schema version of a file. `older`: migrations are missing. `newer`: newer code wrote it. `unreleased`: it is from before the
 * first release.
 */
type Version = 'none' | 'older' | 'current' | 'newer' | 'unreleased';

async function findVersion({ query, engine }: Pick<Catalogue, 'query' | 'engine'>): Promise<Version> {
  const tables = await query.introspection.getTables({ withInternalKyselyTables: true });
  const names = tables.map(({ name }) => name);
  if (!names.includes('catalogue')) return 'none';
  if (!names.includes('kysely_migration')) return 'unreleased';
  const done = await sql<{ name: string }>`SELECT name FROM kysely_migration`.execute(query);
  const known = Object.keys(buildMigrations(engine));
  if (done.rows.some(({ name }) => !known.includes(name))) return 'newer';
  return done.rows.length === known.length ? 'current' : 'older';
}

async function migrate({ query, engine }: Catalogue): Promise<void> {
  const migrator = new Migrator({ db: query, provider: { getMigrations: async () => buildMigrations(engine) } });
  const { error } = await migrator.migrateToLatest();
  if (error) throw error;
}

/**
 * Writes the row with the identity if it is missing, since a process may have been killed between creating the catalogue and
 * writing that row.
 */
async function identify({ query }: Catalogue, { identity, at }: NewCatalogue): Promise<void> {
  if (await query.selectFrom('catalogue').select('id').executeTakeFirst()) return;
  await query
    .insertInto('catalogue')
    .values({ id: 1, identity, revision: 0, revised_at: at, rules: RULES_VERSION })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

const VERSION_HINTS: Readonly<Record<Exclude<Version, 'current' | 'none'>, string>> = {
  older: 'Run npm run catalogue -- check --repair, or npm start: both migrate it.',
  newer: 'Run the newer code that wrote it.',
  unreleased: 'Make a new one by importing again; receipts come back from the journals of the wallets.',
};

function buildVersionError(address: string, version: keyof typeof VERSION_HINTS): ServiceError {
  const kind = version === 'unreleased' ? 'an unreleased' : `a ${version === 'newer' ? 'newer' : 'former'}`;
  return new ServiceError('bad_input', `${formatAddress(address)} is a catalogue of ${kind} version.`, {
    hint: VERSION_HINTS[version],
    reason: 'schema_version',
  });
}

function asOpenError(address: string, error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  if (isPostgresAddress(address) && isAway(error)) return buildAwayError(address, error);
  return new ServiceError(
    'bad_input',
    `${formatAddress(address)} cannot be opened as a catalogue: ${getErrorMessage(error)}.`,
    { hint: UNOPENED_HINT, reason: 'not_a_catalogue', cause: error },
  );
}
