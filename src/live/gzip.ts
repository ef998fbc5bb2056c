import { crc32 } from 'node:zlib';
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
  const { first, last } = buildGzipEnds(head, { crc: part.crc, length: part.raw.length });
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

/** The polynomial of CRC-32, bits reversed. */
const POLYNOMIAL = 0xedb88320;

/**
 * Gives the CRC-32 of two byte strings joined, from the check sum of each and the length of the second: the first sum is
 * carried over that many zero bytes by multiplying with x^(8·length) modulo the polynomial, which takes log(length) steps.
 */
export function combineCrc32(first: number, second: number, secondLength: number): number {
  return (multiplyModulo(getPowerOfX(secondLength * 8), first) ^ second) >>> 0;
}

/** x^n modulo the polynomial, by squaring. */
function getPowerOfX(n: number): number {
  let power = 0x80000000;
  let square = 0x40000000;
  for (let rest = n; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) power = multiplyModulo(square, power);
    square = multiplyModulo(square, square);
  }
  return power;
}

/** Product of two polynomials over GF(2) modulo the CRC polynomial, in reversed bit order. */
function multiplyModulo(a: number, b: number): number {
  let product = 0;
  let shifted = b;
  for (let bit = 0x80000000; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= shifted;
    shifted = (shifted & 1) !== 0 ? (shifted >>> 1) ^ POLYNOMIAL : shifted >>> 1;
  }
  return product >>> 0;
}
