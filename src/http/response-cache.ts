import { setImmediate as nextTurn } from 'node:timers/promises';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { LRUCache } from 'lru-cache';
import type { Compression, Document } from './document.ts';
import type { Env } from './request.ts';
import { chooseEncoding, compress, type Encoded, send } from './sending.ts';

/** Makes a document, compressed as is wanted if it is at hand so. */
type Make = (wanted: Compression) => Document | Promise<Document>;

/**
 * Answers a request with a page or a document of the whole catalogue, made by `make` unless it is cached under `key`: what was
 * asked, however it is spelt. It is compressed by one of `supports`, gzip where left out.
 */
export type Answer = (c: Context<Env>, key: string, make: Make, supports?: readonly Compression[]) => Promise<Response>;

/** Bytes of all that is cached, and of the largest response that is. */
const LIMITS = { bytes: 24 * 1024 * 1024, entryBytes: 16 * 1024 * 1024 };

/** Size of an entry beside its body and its key: objects, and the texts of its headers. */
const ENTRY_BYTES = 1500;

/** Bytes from which a body takes milliseconds to be copied to a connection. Many readers may wait for the same one. */
const LONG_BYTES = 256 * 1024;

/** Bytes of all long bodies that are being sent; beyond that, those who read the oldest are cut off. */
const SENT_BYTES = 128 * 1024 * 1024;

/** A response as it is stored, with the version at which it was begun. */
interface Stored extends Encoded {
  readonly version: string | undefined;
}

/**
 * Creates the cache of pages and of documents of the whole catalogue: LRU, bounded by bytes, keys counted. The key holds all that
 * is asked: path, query and what was negotiated. What is stored is given again for as long as published catalogue and release have the version that
 * it was begun at (`findVersion`); without a version nothing is cached. A response that is asked for twice at once is made
 * once, and one version at a time: a document takes seconds, and the catalogue may have many revisions meanwhile. Who asks
 * while an older version is being made waits for that, and then gets one that was begun after he asked.
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
  return async (c, key, make, supports = ['gzip']) => {
    const wanted = chooseEncoding(c, supports);
    // Who takes nothing compressed gets it unpacked.
    const compression = wanted === 'identity' ? 'gzip' : wanted;
    const makeEncoded = async () => compress(await make(compression), compression);
    const version = findVersion();
    const stored =
      version === undefined ? await makeEncoded() : await find(`${compression} ${key}`, version, makeEncoded);
    if (stored.body.length > LONG_BYTES) await takeTurn(stored.body, c.env?.outgoing);
    return send(c, stored, wanted);
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
