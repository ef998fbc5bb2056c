import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** The compressed forms of a page. Each is the ending of a file beside the page, so nothing is compressed on request. */
export const FORMS = ['br', 'gz'] as const;
export type Form = (typeof FORMS)[number];

/** Size in bytes below which a page is not compressed, since it fits into one packet anyway. */
export const SMALLEST_COMPRESSED = 1024;

/** Names of assets that do not get smaller. */
const PACKED = /\.(?:png|webp|woff2|ico)$/;

/** At level 6 Brotli takes twice as long as gzip, and is smaller by a fourteenth. */
const PAGE_LEVELS = { brotli: 6, gzip: 6 };

/** Brotli's best level takes many times as long. That is worth it for assets, which are compressed once and never change. */
const ASSET_LEVELS = { brotli: 11, gzip: constants.Z_BEST_COMPRESSION };

/** Compresses an asset into the forms that it has besides the original. */
export function compressAsset(content: Uint8Array, name: string): [form: Form, compressed: Uint8Array][] {
  return PACKED.test(name) ? [] : compress(content, ASSET_LEVELS);
}

/** Compresses a page into the forms that it has besides the original. */
export function compressPage(body: Uint8Array): [form: Form, compressed: Uint8Array][] {
  return compress(body, PAGE_LEVELS);
}

function compress(body: Uint8Array, { brotli, gzip }: typeof PAGE_LEVELS): [form: Form, compressed: Uint8Array][] {
  if (body.length < SMALLEST_COMPRESSED) return [];
  // The window is as large as the body: setting up the usual one of 4 MB takes longer than compressing a page.
  const window = Math.min(constants.BROTLI_DEFAULT_WINDOW, Math.max(14, Math.ceil(Math.log2(body.length))));
  const params = { [constants.BROTLI_PARAM_QUALITY]: brotli, [constants.BROTLI_PARAM_LGWIN]: window };
  return [
    ['br', brotliCompressSync(body, { params })],
    ['gz', gzipSync(body, { level: gzip })],
  ];
}
