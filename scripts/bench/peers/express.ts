import type { AddressInfo } from 'node:net';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import express, { type Express, type Request, type Response } from 'express';

/** Opens the records, which SQLite reads as memory that the system maps. */
export function openRecords(file: string): Database.Database {
  const database = new Database(file, { readonly: true });
  database.pragma('mmap_size = 2000000000');
  database.pragma('cache_size = -65536');
  database.pragma('temp_store = MEMORY');
  return database;
}

/** Reads the revision of the records and how many there are. */
export function readDirectory(database: Database.Database) {
  type Directory = Readonly<Record<'revision' | 'live' | 'verified' | 'resources', number>>;
  return database.prepare('SELECT * FROM directory').get() as Directory;
}

/** Creates an Express app whose answers have the revision of the records as their ETag, so that no body is hashed for it. */
export function createApp(revision: number): Express {
  const app = express().disable('x-powered-by').disable('etag').set('query parser', 'simple');
  app.use((_request, response, next) => {
    response.set({ ETag: `W/"${revision}"`, 'Cache-Control': 'public, max-age=5, must-revalidate' });
    next();
  });
  return app;
}

/** Sends a text, compressed as the client takes it: at once, since the streams of `compression` take longer. */
export function sendText(request: Request, response: Response, type: string, text: string | Buffer): void {
  response.type(type).vary('Accept-Encoding');
  const encoding = request.acceptsEncodings('br', 'gzip', 'identity');
  if (encoding === 'br' || encoding === 'gzip') {
    response.set('Content-Encoding', encoding);
    response.send(encoding === 'br' ? brotliCompressSync(text, BROTLI) : gzipSync(text, GZIP));
  } else response.send(text);
}

/** The level that our service has, too, so that both send about as many bytes. */
const GZIP = { level: 5 };
/** The quality and window that suit pages which are compressed for each request. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 15 } };

/** Listens on a free port of loopback, and sends it to the parent process. */
export function listen(app: Express): void {
  const server = app.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
  process.once('disconnect', () => process.exit(0));
}
