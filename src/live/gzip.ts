import { crc32 } from 'node:zlib';
import { combineCrc32 } from '../snapshot/crc32.ts';
import type { Part } from '../snapshot/part.ts';

const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** An empty last deflate block: it ends the stream. */
const LAST_BLOCK = Buffer.from([0x01, 0x00, 0x00, 0xff, 0xff]);
const STORED_MAX = 0xffff;

/**
 * Builds one gzip member of a small head that is made per request, and a part that was compressed before: the head goes in
 * as stored blocks, the part's deflate blocks follow as they are, and the two check sums are combined, so the part is
 * neither compressed nor read again. Gives the buffers to send one after the other (RFC 1951, RFC 1952).
 */
export function buildGzip(head: Buffer, part: Part): Buffer[] {
  const { first, last } = buildGzipEnds(head, part);
  return [first, part.getDeflated(), last];
}

/** Builds what stands before and after the deflate blocks of `rest` in a gzip member that starts with `head`. */
export function buildGzipEnds(head: Buffer, rest: { crc: number; length: number }): { first: Buffer; last: Buffer } {
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(combineCrc32(crc32(head), rest.crc, rest.length), 0);
  trailer.writeUInt32LE((head.length + rest.length) >>> 0, 4);
  return { first: Buffer.concat([GZIP_HEADER, storeBlocks(head)]), last: Buffer.concat([LAST_BLOCK, trailer]) };
}

function storeBlocks(bytes: Buffer): Buffer {
  const blocks: Buffer[] = [];
  for (let start = 0; start < bytes.length; start += STORED_MAX) {
    const block = bytes.subarray(start, start + STORED_MAX);
    const header = Buffer.alloc(5);
    header.writeUInt16LE(block.length, 1);
    header.writeUInt16LE(block.length ^ 0xffff, 3);
    blocks.push(header, block);
  }
  return Buffer.concat(blocks);
}
