import type { Transform } from 'node:stream';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';
import type { ServiceError } from '../errors.ts';
import { buildFetchFailure } from './failure.ts';

/** A body that is being received. */
export interface OpenBody {
  /** Bytes received so far, including dropped ones. */
  readonly length: number;
  /**
   * Appends a copy of the chunk. Returns false if the body is longer than the limit; then it keeps the bytes up to the
   * limit.
   */
  add(chunk: Uint8Array): boolean;
  /** Returns the kept bytes and releases them. */
  take(): Uint8Array;
  /** Frees the memory at once instead of at the next garbage collection. Later chunks are not kept. */
  drop(): void;
}

/** Initial size of the buffer, in bytes. */
const FIRST_ROOM = 16 * 1024;

/**
 * Opens one growing buffer that takes up to `limit` bytes and keeps the first `wanted` of them. Chunks are copied and
 * never kept, unlike in the collectors of npm and Node: otherwise each chunk would be an object, and a host that sends
 * single bytes would fill our memory.
 */
export function openBody(limit: number, wanted = limit): OpenBody {
  const most = Math.min(limit, wanted);
  const buffer = new ArrayBuffer(0, { maxByteLength: most });
  const bytes = new Uint8Array(buffer);
  let length = 0;
  return {
    get length() {
      return length;
    },
    add(chunk) {
      const kept = chunk.byteLength > most - length ? chunk.subarray(0, Math.max(0, most - length)) : chunk;
      if (kept.byteLength > 0 && !buffer.detached) {
        const needed = length + kept.byteLength;
        if (needed > bytes.byteLength) {
          buffer.resize(Math.min(most, Math.max(needed, FIRST_ROOM, bytes.byteLength * 2)));
        }
        bytes.set(kept, length);
      }
      length += chunk.byteLength;
      return length <= limit;
    },
    take: () => new Uint8Array(buffer.transferToFixedLength(Math.min(length, most))),
    drop() {
      if (!buffer.detached) buffer.transferToFixedLength(0);
    },
  };
}

/** Most stacked codings (RFC 9110 section 8.4). Honest servers use no more. */
const MAX_CODINGS = 2;

/** A window of at most 8 MB, as RFC 9659 requires. By default the library would allocate 128 MB if a frame says so. */
const ZSTD_PARAMS = { [constants.ZSTD_d_windowLogMax]: 23 };

/** Decoders by coding. undici's own `decompress` is experimental, warns on standard error, and ignores unknown codings. */
const DECODERS = new Map<string, (body: Uint8Array) => Transform>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['br', () => createBrotliDecompress()],
  ['zstd', () => createZstdDecompress({ params: ZSTD_PARAMS })],
  // `deflate` means the zlib format, whose first byte ends in 8, but some servers send the bare stream.
  ['deflate', (body) => ((body[0] ?? 8) % 16 === 8 ? createInflate() : createInflateRaw())],
]);

export interface DecodingOptions {
  /** Most bytes that any step may produce. */
  maxBytes: number;
  /** Number of bytes of the last step that are kept. */
  wantedBytes: number;
  /** True to return the beginning if the last step produces more than `maxBytes`, and not to throw. */
  isCutAllowed: boolean;
  host: string;
}

/**
 * Undoes the content codings of a body, the last applied first. Throws `too_large` if any step exceeds `maxBytes`, and
 * `malformed` for an unknown coding, more than two codings, or a body that does not match its header.
 */
export async function decodeBody(
  body: Uint8Array,
  contentEncoding: string | null,
  options: DecodingOptions,
): Promise<{ body: Uint8Array; isCut: boolean }> {
  const { maxBytes, host } = options;
  const codings = (contentEncoding ?? '')
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length > MAX_CODINGS) {
    throw buildFetchFailure('malformed', `The host ${host} stacked ${codings.length} content codings.`);
  }
  let decoded = { body, isCut: false };
  // An answer without a body (HEAD, 204, 304) may still name a coding.
  for (const [index, coding] of body.byteLength === 0 ? [] : codings.reverse().entries()) {
    const isLast = index === codings.length - 1;
    decoded = await decodeOnce(
      decoded.body,
      coding,
      isLast ? options : { maxBytes, wantedBytes: maxBytes, isCutAllowed: false, host },
    );
  }
  if (decoded.body.byteLength > maxBytes) throw buildTooLarge(host, maxBytes);
  return decoded;
}

async function decodeOnce(
  body: Uint8Array,
  coding: string,
  { maxBytes, wantedBytes, isCutAllowed, host }: DecodingOptions,
): Promise<{ body: Uint8Array; isCut: boolean }> {
  const decoder = DECODERS.get(coding)?.(body);
  if (!decoder) throw buildFetchFailure('malformed', `The host ${host} sent an unknown content coding.`);
  const decoded = openBody(maxBytes, wantedBytes);
  try {
    decoder.end(body);
    // Leaving the loop ends the decoder, so a small body cannot expand without end.
    for await (const chunk of decoder) if (!decoded.add(chunk)) break;
  } catch (cause) {
    decoded.drop();
    throw buildFetchFailure('malformed', `The host ${host} sent a body that is not valid ${coding}.`, { cause });
  }
  if (decoded.length > maxBytes && !isCutAllowed) {
    decoded.drop();
    throw buildTooLarge(host, maxBytes);
  }
  return { isCut: decoded.length > Math.min(maxBytes, wantedBytes), body: decoded.take() };
}

function buildTooLarge(host: string, maxBytes: number): ServiceError {
  return buildFetchFailure('too_large', `The host ${host} sent a body that decodes to more than ${maxBytes} bytes.`);
}
