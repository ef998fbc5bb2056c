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

/** A body while it comes in. */
export interface OpenBody {
  /** Bytes that came so far, dropped ones included. */
  readonly length: number;
  /** Copies the chunk behind what came before; false where that is more than the limit, which then is full. */
  add(chunk: Uint8Array): boolean;
  /** Returns what was kept, and keeps nothing. */
  take(): Uint8Array;
  /** Returns the memory back at once, rather than when it is next collected; what comes after is not kept. */
  drop(): void;
}

/** Bytes that a body is given room for at first. */
const FIRST_ROOM = 16 * 1024;

/**
 * Opens one buffer that takes up to `limit` bytes and keeps the first `wanted` of them, growing in place. Chunks are
 * copied, never kept, which no collector of npm or of Node does: each would be an object of its own, and a host that
 * sends single bytes would fill our memory with them.
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

/** Codings may be stacked (RFC 9110 section 8.4); nobody honest stacks more than this. */
const MAX_CODINGS = 2;

/** Window of at most 8 MB, as RFC 9659 asks: the library's own default would take 128 MB on a frame's word. */
const ZSTD_PARAMS = { [constants.ZSTD_d_windowLogMax]: 23 };

/** undici's own `decompress` is experimental, warns on standard error, and passes over codings that it does not know. */
const DECODERS = new Map<string, (body: Uint8Array) => Transform>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['br', () => createBrotliDecompress()],
  ['zstd', () => createZstdDecompress({ params: ZSTD_PARAMS })],
  // `deflate` means the zlib format, whose first byte ends in 8; some servers send the bare stream all the same.
  ['deflate', (body) => ((body[0] ?? 8) % 16 === 8 ? createInflate() : createInflateRaw())],
]);

export interface DecodingOptions {
  /** Most bytes that any step may give. */
  maxBytes: number;
  /** Bytes kept of what the last step gives. */
  wantedBytes: number;
  /** Where the last step gives more than the most, its beginning is the answer. */
  isCutAllowed: boolean;
  host: string;
}

/**
 * Undoes the content codings of a body, last applied first. Throws `too_large` when any step would pass `maxBytes`, and
 * `malformed` for an unknown coding, more than two of them, or a body that is not what its header says.
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
  // An answer without a body (HEAD, 204, 304) may still name the coding that its body would have.
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
    // Leaving the loop ends the decoder, so a small body cannot unfold without end.
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
  return buildFetchFailure('too_large', `The host ${host} sent a body that unfolds to more than ${maxBytes} bytes.`);
}
