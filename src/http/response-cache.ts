import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  type BrotliOptions,
  brotliCompress,
  brotliCompressSync,
  createBrotliCompress,
  createGunzip,
  createGzip,
  gzip,
  gzipSync,
} from 'node:zlib';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import { LRUCache } from 'lru-cache';
import { HASH_LENGTH } from '../published/hash.ts';
import { getBrotliOptions, SMALLEST_COMPRESSED } from '../release/forms.ts';
import type { Document, Encoding, LargeDocument, SmallDocument } from './document.ts';
import type { Env } from './request.ts';

/** Makes a document, compressed as is wanted if it is at hand so. */
type Make = (wanted: Encoding) => Document | Promise<Document>;

/**
 * Answers a request with a document, made by `make` unless it is cached under `key`: what was asked, however it is spelt.
 * It is not cached without a key.
 */
export type Answer = (c: Context<Env>, key: string | undefined, make: Make) => Promise<Response>;

/** Bytes of all that is cached, and of the largest response that is. */
const LIMITS = { bytes: 24 * 1024 * 1024, entryBytes: 16 * 1024 * 1024 };

/** Size of an entry beside its body and its key: objects, and the texts of its headers. */
const ENTRY_BYTES = 1500;

/** Bodies up to here are compressed within a millisecond. */
const SHORT_BYTES = 32 * 1024;

/** Brotli's quality for what never changes; it takes many times as long as the usual. */
const IMMUTABLE_QUALITY = 11;
const GZIP = { level: 5 };

/** Bytes from which a body takes milliseconds to be copied to a connection. Many readers may wait for the same one. */
const LONG_BYTES = 256 * 1024;

/** Bytes of all long bodies that are being sent; beyond that, those who read the oldest are cut off. */
const SENT_BYTES = 128 * 1024 * 1024;

/** UTF-16 units of a large document that are compressed at once. The memory of many small buffers would not be given back. */
const CHUNK_LENGTH = 256 * 1024;

/** Time after which making a large document lets others be answered, in milliseconds. */
const TURN_MS = 2;

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/** A response in its `encoding`. */
interface Encoded extends SmallDocument {
  readonly encoding: Encoding;
}

/** A response as it is stored, with the version at which it was begun. */
interface Stored extends Encoded {
  readonly version: string | undefined;
}

/**
 * Creates the one cache of responses: LRU, bounded by bytes, keys counted. The key holds all that is asked: path, query and
 * what was negotiated. What is stored is given again for as long as published catalogue and release have the version that
 * it was begun at (`findVersion`); without a version nothing is cached. A response that is asked for twice at once is made
 * once, and one version at a time: a document takes seconds, and the catalogue may have many revisions meanwhile. Who asks
 * while an older version is being made waits for that, and then gets one that was begun after he asked.
 * Compression happens here, and not in `hono/compress`, so that it is done once for each response; that one has no brotli.
 */
export function createResponseCache(findVersion: () => string | undefined, limits = LIMITS): Answer {
  const cache = new LRUCache<string, Stored, () => Promise<Encoded>>({
    maxSize: limits.bytes,
    maxEntrySize: limits.entryBytes,
    sizeCalculation: ({ body }, key) => body.length + key.length + ENTRY_BYTES,
    // A response that is pushed out while it is made is still sent.
    ignoreFetchAbort: true,
    fetchMethod: async (_key, _stale, { context: make, options }) => {
      const version = findVersion();
      const made = await make();
      options.ttl = made.ttlMs ?? 0;
      return { ...made, version };
    },
  });
  const find = async (key: string, version: string, make: () => Promise<Encoded>): Promise<Stored> => {
    let isOwn = false;
    const look = (wanted: string | undefined) => {
      const kept = cache.get(key);
      if (kept && (wanted === undefined || kept.version !== wanted)) cache.delete(key);
      const context = () => {
        isOwn = true;
        return make();
      };
      return cache.forceFetch(key, { context });
    };
    // What another request began may be of an older version, or fail. What is under way by now was begun after this was asked.
    const stored = await look(version).catch((error: unknown) => {
      if (isOwn) throw error;
    });
    return stored?.version === version ? stored : look(findVersion());
  };
  const takeTurn = openSending();
  return async (c, key, make) => {
    const encoding = chooseEncoding(c);
    const makeEncoded = async () => compress(await make(encoding), encoding, limits.entryBytes);
    const version = key === undefined ? undefined : findVersion();
    const stored = version === undefined ? await makeEncoded() : await find(`${encoding} ${key}`, version, makeEncoded);
    if (stored.body.length > LONG_BYTES) await takeTurn(stored.body, c.env?.outgoing);
    return send(c, stored, encoding);
  };
}

/**
 * Lets long bodies be sent one after the other, with others answered in between. A document that names its time is another
 * one each second, so that slow readers who come one by one would hold as many of them.
 */
function openSending(): (body: Uint8Array, outgoing: HttpBindings['outgoing'] | undefined) => Promise<void> {
  /** The bodies that are being sent, the oldest first, and to whom. */
  const sent = new Map<Uint8Array, Set<HttpBindings['outgoing']>>();
  let lastTurn = Promise.resolve();
  return async (body, outgoing) => {
    lastTurn = lastTurn.then(() => nextTurn());
    await lastTurn;
    if (!outgoing || outgoing.destroyed) return;
    const readers = sent.get(body) ?? new Set();
    sent.set(body, readers.add(outgoing));
    outgoing.once('close', () => {
      readers.delete(outgoing);
      if (readers.size === 0) sent.delete(body);
    });
    let bytes = [...sent.keys()].reduce((sum, { length }) => sum + length, 0);
    for (const [oldest, slow] of sent) {
      if (bytes <= SENT_BYTES || oldest === body) break;
      bytes -= oldest.length;
      for (const reader of slow) reader.destroy();
    }
  };
}

/** Chooses the compression that a client takes most gladly, brotli where it takes both alike (RFC 9110, section 12.5.3). */
function chooseEncoding(c: Context<Env>): Encoding {
  return accepts(c, {
    header: 'Accept-Encoding',
    supports: ['br', 'gzip'],
    default: 'identity',
    match: (accepted, { supports }) => {
      const getWeight = (name: string) =>
        (accepted.find(({ type }) => type.toLowerCase() === name) ?? accepted.find(({ type }) => type === '*'))?.q ?? 0;
      const [best] = supports.filter((name) => getWeight(name) > 0).sort((a, b) => getWeight(b) - getWeight(a));
      return best ?? 'identity';
    },
  }) as Encoding;
}

/** Compresses a document. One of more than `plainBytes` in pieces is stored compressed, whatever was asked for. */
async function compress(document: Document, encoding: Encoding, plainBytes: number): Promise<Encoded> {
  const isCompressible = /^text\/|json|javascript|xml/.test(document.type);
  const vary = [document.headers?.Vary, isCompressible && 'Accept-Encoding'].filter(Boolean).join(', ');
  const headers = { ...document.headers, ...(vary && { Vary: vary }) };
  if ('pieces' in document) return { ...(await compressLarge(document, encoding, plainBytes)), headers };
  const { body } = document;
  if (document.encoding !== undefined) return { ...document, headers, encoding: document.encoding };
  if (encoding === 'identity' || !isCompressible || body.length < SMALLEST_COMPRESSED)
    return { ...document, headers, encoding: 'identity' };
  const compressed = await compressWhole(body, encoding, getBrotliOptions(body.length, chooseQuality(document)));
  return { ...document, headers, body: copyOut(compressed), encoding };
}

/** Compresses a short body at once: handing it to another thread takes half as long again. */
function compressWhole(body: Uint8Array, encoding: Encoding, options: BrotliOptions): Uint8Array | Promise<Uint8Array> {
  const isShort = body.length <= SHORT_BYTES;
  if (encoding === 'br') return isShort ? brotliCompressSync(body, options) : compressBrotli(body, options);
  return isShort ? gzipSync(body, GZIP) : compressGzip(body, GZIP);
}

/** Compresses pieces while they are made, and hashes what they say. */
async function compressLarge(
  { pieces, incidental, ...facts }: LargeDocument,
  wanted: Encoding,
  plainBytes: number,
): Promise<Encoded> {
  const encoding = wanted === 'br' ? 'br' : 'gzip';
  const compressing =
    encoding === 'br' ? createBrotliCompress(getBrotliOptions(undefined, chooseQuality(facts))) : createGzip(GZIP);
  const hash = createHash('sha256');
  const plain: Uint8Array[] = [];
  let length = 0;
  const hashChunk = (text: string) => {
    const bytes = Buffer.from(text);
    hash.update(length === 0 && incidental !== undefined ? text.replace(incidental, '') : bytes);
    length += bytes.length;
    if (wanted === 'identity' && length <= plainBytes) plain.push(bytes);
    return bytes;
  };
  const read = async function* () {
    let since = performance.now();
    let text = '';
    for (const piece of pieces) {
      text += piece;
      if (text.length >= CHUNK_LENGTH) {
        yield hashChunk(text);
        text = '';
      }
      if (performance.now() - since < TURN_MS) continue;
      await nextTurn();
      since = performance.now();
    }
    yield hashChunk(text);
  };
  const [compressed] = await Promise.all([buffer(compressing), pipeline(Readable.from(read()), compressing)]);
  const etag = hash.digest('base64url').slice(0, HASH_LENGTH);
  if (wanted === 'identity' && length <= plainBytes)
    return { ...facts, body: Buffer.concat(plain), etag, encoding: 'identity' };
  return { ...facts, body: copyOut(compressed), etag, encoding };
}

function chooseQuality({ cacheControl }: Pick<Document, 'cacheControl'>): number | undefined {
  return cacheControl.includes('immutable') ? IMMUTABLE_QUALITY : undefined;
}

/** Returns a copy: the output of zlib may be a small part of a large buffer, which would be kept as a whole. */
function copyOut(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes);
}

function send(c: Context<Env>, stored: Encoded, wanted: Encoding): Response {
  const { body, status = 200, type, etag, cacheControl, encoding } = stored;
  const headers = { ...stored.headers, 'Content-Type': type, 'Cache-Control': cacheControl, ETag: `W/"${etag}"` };
  if (encoding !== 'identity' && wanted === 'identity') {
    // Unpacked while it is read, what is too large for the cache is never in memory as a whole, however many read it.
    const plain = createGunzip();
    plain.end(body);
    return c.body(Readable.toWeb(plain) as ReadableStream, status, headers);
  }
  return c.body(body as Uint8Array<ArrayBuffer>, status, {
    ...headers,
    ...(encoding !== 'identity' && { 'Content-Encoding': encoding }),
    'Content-Length': String(body.length),
  });
}
