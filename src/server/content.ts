import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Encoding } from './accepting.ts';

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/** Smaller bodies fit one packet however they are sent. */
const SMALLEST_COMPRESSED = 1024;

/** Compressed once, off the main thread, and then kept; 10 of 11 costs a page some ten milliseconds, as 9 does, and 11 twice that. */
const BROTLI_QUALITY = 10;

/** Bytes to send, by their hash, with their compressed forms once they were asked for. */
export interface Content {
  readonly hash: string;
  readonly body: Buffer;
  readonly compressed: Partial<Record<Encoding, Buffer>>;
}

/** Says whether a media type gets smaller by compression; images other than SVG are compressed already. */
export function isCompressible(type: string, bytes: number): boolean {
  return bytes >= SMALLEST_COMPRESSED && /^text\/|json|javascript|xml/.test(type);
}

/** Compresses content, and keeps the result with it. */
export async function compressContent(content: Content, encoding: Encoding): Promise<Buffer> {
  const { body, compressed } = content;
  const bytes =
    encoding === 'br'
      ? await compressBrotli(body, {
          params: {
            [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
            [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
          },
        })
      : await compressGzip(body, { level: 9 });
  compressed[encoding] ??= bytes;
  return compressed[encoding];
}

/** Keeps content by its hash, the latest used up to a number of bytes. */
export interface ContentStore {
  find(hash: string): Content | undefined;
  /** Keeps content; one body under one hash, whoever brought it. */
  add(hash: string, body: Buffer): Content;
}

/** Creates a store of at most `limit` bytes; compressed forms, a fraction of their bodies, are not counted. */
export function createContentStore(limit: number): ContentStore {
  const kept = new Map<string, Content>();
  let bytes = 0;
  const find = (hash: string) => {
    const content = kept.get(hash);
    if (!content) return undefined;
    kept.delete(hash);
    kept.set(hash, content);
    return content;
  };
  return {
    find,
    add(hash, body) {
      const known = find(hash);
      if (known) return known;
      const content: Content = { hash, body, compressed: {} };
      kept.set(hash, content);
      bytes += body.length;
      for (const [oldest, { body: old }] of kept) {
        if (bytes <= limit || oldest === hash) break;
        kept.delete(oldest);
        bytes -= old.length;
      }
      return content;
    },
  };
}
