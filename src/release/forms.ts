import { type BrotliOptions, brotliCompressSync, constants, gzipSync } from 'node:zlib';

/** The compressed forms of a page, each the ending of a file beside it, so that nothing is compressed when it is asked for. */
export const FORMS = ['br', 'gz'] as const;
export type Form = (typeof FORMS)[number];

/** Smaller pages fit one packet however they are sent, and have no other form. */
const SMALLEST_COMPRESSED = 1024;

/** Brotli at 6 takes twice as long as gzip and is a tenth smaller; at 11 it takes fifty times as long for little more. */
const BROTLI_QUALITY = 6;
const GZIP_LEVEL = 6;

/** Compresses a page to the forms that it has beside its own. */
export function compressPage(body: Uint8Array): [form: Form, compressed: Uint8Array][] {
  if (body.length < SMALLEST_COMPRESSED) return [];
  return [
    ['br', brotliCompressSync(body, getBrotliOptions(body.length))],
    ['gz', gzipSync(body, { level: GZIP_LEVEL })],
  ];
}

/** The window is as large as the page: one of 4 MB, the usual, takes longer to set up than a page to compress. */
function getBrotliOptions(bytes: number): BrotliOptions {
  const window = Math.min(constants.BROTLI_DEFAULT_WINDOW, Math.max(14, Math.ceil(Math.log2(bytes))));
  return { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [constants.BROTLI_PARAM_LGWIN]: window } };
}
