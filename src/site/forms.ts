import { type BrotliOptions, brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** The compressed forms of a page. Each is the ending of a file beside the page, so nothing is compressed on request. */
export const FORMS = ['br', 'gz'] as const;
export type Form = (typeof FORMS)[number];

/** Size in bytes below which a page is not compressed, since it fits into one packet anyway. */
export const SMALLEST_COMPRESSED = 1024;

/** At level 6 Brotli takes twice as long as gzip, and is smaller by a fourteenth. */
const BROTLI_QUALITY = 6;
const GZIP_LEVEL = 6;

/** Brotli's best level takes many times as long. That is worth it for assets, which are compressed once and never change. */
const ASSET_QUALITY = 11;

/** Names of assets that do not get smaller. */
const PACKED = /\.(?:png|webp|woff2|ico)$/;

/** Compresses an asset into the forms that it has besides the original. */
export function compressAsset(content: Uint8Array, name: string): [form: Form, compressed: Uint8Array][] {
  if (content.length < SMALLEST_COMPRESSED || PACKED.test(name)) return [];
  return [
    ['br', brotliCompressSync(content, getBrotliOptions(content.length, ASSET_QUALITY))],
    ['gz', gzipSync(content, { level: constants.Z_BEST_COMPRESSION })],
  ];
}

/** Compresses a page into the forms that it has besides the original. */
export function compressPage(body: Uint8Array): [form: Form, compressed: Uint8Array][] {
  if (body.length < SMALLEST_COMPRESSED) return [];
  return [
    ['br', brotliCompressSync(body, getBrotliOptions(body.length))],
    ['gz', gzipSync(body, { level: GZIP_LEVEL })],
  ];
}

/**
 * Returns the options of Brotli for a body of a size in bytes. The window is as large as the body: setting up the usual one of 4
 * MB takes longer than compressing a page.
 */
function getBrotliOptions(bytes: number, quality = BROTLI_QUALITY): BrotliOptions {
  const window = Math.min(constants.BROTLI_DEFAULT_WINDOW, Math.max(14, Math.ceil(Math.log2(bytes))));
  return { params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_LGWIN]: window } };
}
