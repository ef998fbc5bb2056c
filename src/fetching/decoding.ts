import { promisify } from 'node:util';
import { brotliDecompress, constants, gunzip, inflate, inflateRaw, zstdDecompress } from 'node:zlib';
import type { ServiceError } from '../errors.ts';
import { buildFetchFailure } from './failure.ts';

/** Codings may be stacked (RFC 9110 section 8.4); nobody honest stacks more than this. */
const MAX_CODINGS = 2;

/** Window of at most 8 MB, as RFC 9659 asks: the library's own default would take 128 MB on a frame's word. */
const ZSTD_PARAMS = { [constants.ZSTD_d_windowLogMax]: 23 };

type Decoder = (body: Uint8Array, maxOutputLength: number) => Promise<Uint8Array>;

/** Each stops as soon as its output passes the maximum, so a small body cannot unfold without end. */
const DECODERS = new Map<string, Decoder>([
  ['gzip', (body, maxOutputLength) => promisify(gunzip)(body, { maxOutputLength })],
  ['x-gzip', (body, maxOutputLength) => promisify(gunzip)(body, { maxOutputLength })],
  ['br', (body, maxOutputLength) => promisify(brotliDecompress)(body, { maxOutputLength })],
  ['zstd', (body, maxOutputLength) => promisify(zstdDecompress)(body, { maxOutputLength, params: ZSTD_PARAMS })],
  // `deflate` means the zlib format, whose first byte ends in 8; some servers send the bare stream all the same.
  [
    'deflate',
    (body, maxOutputLength) => promisify((body[0] ?? 8) % 16 === 8 ? inflate : inflateRaw)(body, { maxOutputLength }),
  ],
]);

/**
 * Undoes the content codings of a body, last applied first. Throws `too_large` when any step would pass `maxBytes`, and
 * `malformed` for an unknown coding, more than two of them, or a body that is not what its header says.
 */
export async function decodeBody(
  body: Uint8Array,
  contentEncoding: string | null,
  options: { maxBytes: number; host: string },
): Promise<Uint8Array> {
  const { maxBytes, host } = options;
  const codings = (contentEncoding ?? '')
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (codings.length > MAX_CODINGS) {
    throw buildFetchFailure('malformed', `The host ${host} stacked ${codings.length} content codings.`);
  }
  let decoded = body;
  // An answer without a body (HEAD, 204, 304) may still name the coding that its body would have.
  for (const coding of body.byteLength === 0 ? [] : codings.reverse()) {
    const decode = DECODERS.get(coding);
    if (!decode) throw buildFetchFailure('malformed', `The host ${host} sent an unknown content coding.`);
    decoded = await decodeOnce(decode, decoded, coding, options);
  }
  if (decoded.byteLength > maxBytes) throw buildTooLarge(host, maxBytes);
  return decoded;
}

async function decodeOnce(
  decode: Decoder,
  body: Uint8Array,
  coding: string,
  { maxBytes, host }: { maxBytes: number; host: string },
): Promise<Uint8Array> {
  try {
    return await decode(body, maxBytes);
  } catch (cause) {
    if (cause instanceof RangeError && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE')
      throw buildTooLarge(host, maxBytes);
    throw buildFetchFailure('malformed', `The host ${host} sent a body that is not valid ${coding}.`, { cause });
  }
}

function buildTooLarge(host: string, maxBytes: number): ServiceError {
  return buildFetchFailure('too_large', `The host ${host} sent a body that unfolds to more than ${maxBytes} bytes.`);
}
