import { createHash } from 'node:crypto';
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import Sqlite from 'better-sqlite3';
import { isFileError } from '../errors.ts';
import { PAGE_BYTES, type Published } from './file.ts';
import { APPLICATION_ID, SCHEMA, SCHEMA_VERSION } from './schema.ts';
import { findRevisionTime, getPublishedState, type PublishedState } from './state.ts';

/** A copy of the published catalogue for download. */
export interface Download {
  readonly revision: number;
  /** Time of the latest change in it, ISO 8601 UTC. */
  readonly revised_at: string;
  /** SHA-256 of the database file, in hexadecimal. */
  readonly sha256: string;
  /** Size of the database file. */
  readonly bytes: number;
  readonly made_at: string;
  /** Name of the database file under gzip, in the same folder. */
  readonly file: string;
}

/**
 * Shortest time between two copies, in milliseconds: a copy of a large catalogue takes seconds. A removed listing does not wait
 * for it.
 */
const MADE_EVERY_MS = 15 * 60 * 1000;

/** Returns a row if a listing that was live has been removed since, or is held because it has no price. */
const REMOVED = `SELECT 1 FROM changes AS c WHERE revision > ? AND (kind = 'delisted' OR kind = 'held' AND EXISTS (
  SELECT 1 FROM changes WHERE listing_id = c.listing_id AND kind = 'listed' AND seq < c.seq)) LIMIT 1`;

const NAME = 'catalogue.json';

/** Page cache of each file while it is copied, in kibibytes: each row is read and written once. */
const PAGE_CACHE = 2000;

/** Bytes read and compressed at a time. With Node's default a fifth of the time is spent waiting. */
const CHUNK_BYTES = 256 * 1024;

/** Finds the copy in a folder; undefined if there is none, or if its description was cut short by a power failure. */
export function findDownload(folder: string): Download | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, NAME), 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    if (isFileError(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/**
 * Returns true if another copy is due: there is none, or the last one is old, was made from another catalogue, or holds a listing
 * that was removed since.
 */
export function isDownloadDue(published: Published, folder: string, now: Date): boolean {
  const last = findDownload(folder);
  if (!last || !existsSync(join(folder, last.file))) return true;
  const { revision, revised_at } = getPublishedState(published);
  // A copy made before the catalogue was restored from a backup can have the same revision number, but another time.
  if (revised_at !== last.revised_at && findRevisionTime(published, last.revision) !== last.revised_at) return true;
  if (last.revision === revision) return false;
  const removed = published.prepare(REMOVED);
  return now.getTime() - Date.parse(last.made_at) >= MADE_EVERY_MS || removed.get(last.revision) !== undefined;
}

/**
 * Makes a gzip copy of a published catalogue in a folder, which replaces the last copy. It is written row by row, so free pages
 * hold nothing that was removed. If the process is killed, the folder still holds a whole copy. Only one process may make a copy
 * at a time.
 */
export async function makeDownload(published: Published, folder: string, now: Date): Promise<Download> {
  mkdirSync(folder, { recursive: true });
  const partial = join(folder, '.copy');
  try {
    removeOthers(folder, [NAME, findDownload(folder)?.file]);
    const state = copyTables(published.file, partial);
    const sha256 = await compressFile(partial, `${partial}.gz`);
    const file = `catalogue-r${state.revision}-${sha256.slice(0, 8)}.sqlite.gz`;
    renameSync(`${partial}.gz`, join(folder, file));
    const { revision, revised_at } = state;
    const download: Download = {
      revision,
      revised_at,
      sha256,
      file,
      bytes: statSync(partial).size,
      made_at: now.toISOString(),
    };
    writeFileSync(join(folder, `.${NAME}`), JSON.stringify(download));
    renameSync(join(folder, `.${NAME}`), join(folder, NAME));
    removeOthers(folder, [NAME, file, basename(partial)]);
    return download;
  } finally {
    for (const ending of ['', '.gz']) rmSync(partial + ending, { force: true });
  }
}

/** Removes all files of a folder except `kept`: earlier copies, and files that a killed process left. */
function removeOthers(folder: string, kept: readonly (string | undefined)[]): void {
  for (const name of readdirSync(folder)) if (!kept.includes(name)) rmSync(join(folder, name), { force: true });
}

/** Copies the public tables into a new file, at one revision, and returns that revision. */
function copyTables(source: string, target: string): Pick<PublishedState, 'revision' | 'revised_at'> {
  writeFileSync(target, '');
  // An attached file is opened with the options of the first one, so with `fileMustExist` it is not created either.
  const sqlite = new Sqlite(target, { fileMustExist: true });
  try {
    // No journal is needed: a copy cut short by a power failure is made again.
    sqlite.pragma('journal_mode = OFF');
    sqlite.pragma('synchronous = OFF');
    sqlite.pragma(`page_size = ${PAGE_BYTES}`);
    sqlite.pragma(`cache_size = -${PAGE_CACHE}`);
    sqlite.pragma(`application_id = ${APPLICATION_ID}`);
    sqlite.pragma(`user_version = ${SCHEMA_VERSION}`);
    sqlite.prepare('ATTACH ? AS published').run(source);
    sqlite.pragma(`published.cache_size = -${PAGE_CACHE}`);
    sqlite.transaction(() => {
      sqlite.exec(SCHEMA);
      const tables = sqlite.prepare<[], string>("SELECT name FROM main.sqlite_master WHERE type = 'table'").pluck();
      for (const table of tables.all()) {
        // `table_info` does not list generated columns.
        const columns = (sqlite.pragma(`main.table_info(${table})`) as { name: string }[]).map(({ name }) => name);
        sqlite.exec(`INSERT INTO main.${table} (${columns}) SELECT ${columns} FROM published.${table}`);
      }
    })();
    const state = sqlite.prepare<[], { revision: number; revised_at: string }>(
      'SELECT revision, revised_at FROM main.catalogue',
    );
    return state.get() ?? { revision: 0, revised_at: '' };
  } finally {
    sqlite.close();
  }
}

/** Compresses a file by gzip into another file, and returns the SHA-256 of the uncompressed file in hexadecimal. */
async function compressFile(from: string, to: string): Promise<string> {
  const hash = createHash('sha256');
  const read = createReadStream(from, { highWaterMark: CHUNK_BYTES }).on('data', (chunk) => hash.update(chunk));
  await pipeline(read, createGzip({ chunkSize: CHUNK_BYTES }), createWriteStream(to));
  return hash.digest('hex');
}
