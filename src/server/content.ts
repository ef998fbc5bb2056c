import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { createLatest } from '../live/latest.ts';
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
  readonly forms: CompressedForms;
}

/** Compressed forms of one content, as far as they are kept. */
export interface CompressedForms {
  find(encoding: Encoding): Buffer | undefined;
  keep(encoding: Encoding, bytes: Buffer): void;
}

/** Creates forms that are kept as long as their content is. */
export function createForms(): CompressedForms {
  const kept = new Map<Encoding, Buffer>();
  return { find: (encoding) => kept.get(encoding), keep: (encoding, bytes) => kept.set(encoding, bytes) };
}

/** Says whether a media type gets smaller by compression; images other than SVG are compressed already. */
export function isCompressible(type: string, bytes: number): boolean {
  return bytes >= SMALLEST_COMPRESSED && /^text\/|json|javascript|xml/.test(type);
}

/** Compresses content, and keeps the result. */
export async function compressContent({ body, forms }: Content, encoding: Encoding): Promise<Buffer> {
  const bytes =
    encoding === 'br'
      ? await compressBrotli(body, {
          params: {
            [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
            [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
          },
        })
      : await compressGzip(body, { level: 9 });
  // What zlib gives may be a small part of a large buffer, which would be kept as a whole.
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  forms.keep(encoding, own);
  return own;
}

/** Keeps content by its hash up to a number of bytes, what was used of late. */
export interface ContentStore {
  find(hash: string): Content | undefined;
  /** Keeps content; one body under one hash, whoever brought it. */
  add(hash: string, body: Buffer): Content;
}

/**
 * Creates a store of at most so many bytes of bodies and of compressed forms. These are kept by themselves, and longer: a
 * body is soon read from its file again, but compressing it takes some ten milliseconds, and leaves a fraction of it.
 */
export function createContentStore(limits: { bodies: number; forms: number }): ContentStore {
  const contents = createLatest<Content>(limits.bodies, ({ body }) => body.length);
  const forms = createLatest<Buffer>(limits.forms, (bytes) => bytes.length);
  return {
    find: contents.find,
    add(hash, body) {
      const known = contents.find(hash);
      if (known) return known;
      const content: Content = {
        hash,
        body,
        forms: {
          find: (encoding) => forms.find(`${hash} ${encoding}`),
          keep: (encoding, bytes) => forms.add(`${hash} ${encoding}`, bytes),
        },
      };
      contents.add(hash, content);
      return content;
    },
  };
}
