import type { Context } from 'hono';
import { LRUCache } from 'lru-cache';
import type { Compression, Document } from './document.ts';
import type { Env } from './request.ts';
import { chooseEncoding, compress, type Encoded, send } from './sending.ts';

/** Makes a document, compressed as is wanted if it is at hand so. */
type Make = (wanted: Compression) => Document | Promise<Document>;

/**
 * Answers a request with a page, made by `make` unless it is cached under `key`: what was asked, however it is spelt.
 * It is compressed by one of `supports`, gzip where left out.
 */
export type Answer = (c: Context<Env>, key: string, make: Make, supports?: readonly Compression[]) => Promise<Response>;

/** Bytes of all that is cached, and of the largest response that is. */
const LIMITS = { bytes: 24 * 1024 * 1024, entryBytes: 16 * 1024 * 1024 };

/** Size of an entry beside its body and its key: objects, and the texts of its headers. */
const ENTRY_BYTES = 1500;

/** A response as it is stored, with the version at which it was begun. */
interface Stored extends Encoded {
  readonly version: string | undefined;
}

/**
 * Creates the cache of pages: LRU, bounded by bytes, keys counted. The key holds all that is asked: path, query and
 * what was negotiated. What is stored is given again for as long as published catalogue and release have the version that it was
 * begun at (`findVersion`); without a version nothing is cached. A response that is asked for twice at once is made
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
    fetchMethod: async (_key, _stale, { context: make }) => {
      const version = findVersion();
      const made = await make();
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
  return async (c, key, make, supports = ['gzip']) => {
    const wanted = chooseEncoding(c, supports);
    // Who takes nothing compressed gets it unpacked.
    const compression = wanted === 'identity' ? 'gzip' : wanted;
    const makeEncoded = async () => compress(await make(compression), compression);
    const version = findVersion();
    const stored =
      version === undefined ? await makeEncoded() : await find(`${compression} ${key}`, version, makeEncoded);
    return send(c, stored, wanted);
  };
}
