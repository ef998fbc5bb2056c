import { type BrotliOptions, brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** The compressed forms of a page, each the ending of a file beside it, so that nothing is compressed when it is asked for. */
export const FORMS = ['br', 'gz'] as const;
export type Form = (typeof FORMS)[number];

/** Length below which a page fits one packet however it is sent, and is not compressed. */
export const SMALLEST_COMPRESSED = 1024;

/** Brotli at 6 takes twice as long as gzip, and is smaller by a fourteenth. */
const BROTLI_QUALITY = 6;
const GZIP_LEVEL = 6;

/** Brotli's best takes many times as long, which is worth it for what is compressed once and never changes. */
const ASSET_QUALITY = 11;

/** Names of assets that do not shrink. */
const PACKED = /\.(?:png|webp|woff2|ico)$/;

/** Compresses an asset to the forms that it has beside its own. */
export function compressAsset(content: Uint8Array, name: string): [form: Form, compressed: Uint8Array][] {
  if (content.length < SMALLEST_COMPRESSED || PACKED.test(name)) return [];
  return [
    ['br', brotliCompressSync(content, getBrotliOptions(content.length, ASSET_QUALITY))],
    ['gz', gzipSync(content, { level: constants.Z_BEST_COMPRESSION })],
  ];
}

/** Compresses a page to the forms that it has beside its own. */
export function compressPage(body: Uint8Array): [form: Form, compressed: Uint8Array][] {
  if (body.length < SMALLEST_COMPRESSED) return [];
  return [
    ['br', brotliCompressSync(body, getBrotliOptions(body.length))],
    ['gz', gzipSync(body, { level: GZIP_LEVEL })],
  ];
}

/**
 * Returns the options of brotli for a body of a size. The window is as large as the body: the usual one
 * of 4 MB takes longer to set up than a page to compress.
 */
function getBrotliOptions(bytes: number, quality = BROTLI_QUALITY): BrotliOptions {
  const window = Math.min(constants.BROTLI_DEFAULT_WINDOW, Math.max(14, Math.ceil(Math.log2(bytes))));
  return { params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_LGWIN]: window } };
}
