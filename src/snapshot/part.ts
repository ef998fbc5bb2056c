import { constants, crc32, deflateRawSync } from 'node:zlib';
import { combineCrc32 } from './crc32.ts';

/** A piece of a document that does not change from request to request, plain and, once asked for, compressed. */
export interface Part {
  /** The plain bytes, one buffer after the other. */
  readonly pieces: readonly Buffer[];
  /** Length of all pieces. */
  readonly length: number;
  /** CRC-32 of the plain bytes, as a gzip trailer needs it. */
  readonly crc: number;
  /** Raw deflate blocks of the plain bytes, ended so that blocks of another part can follow. */
  getDeflated(): Buffer;
}

/** Makes a part of text; it is compressed at most once, when first asked for. */
export function buildPart(text: string): Part {
  const bytes = Buffer.from(text);
  return createPart({
    pieces: [bytes],
    length: bytes.length,
    sum: () => crc32(bytes),
    deflate: () => deflate(bytes),
  });
}

/** Joins parts into one; nothing plain is copied, read or compressed again. */
export function joinParts(parts: readonly Part[]): Part {
  return createPart({
    pieces: parts.flatMap(({ pieces }) => pieces),
    length: parts.reduce((sum, { length }) => sum + length, 0),
    sum: () => parts.reduce((sum, { crc, length }) => combineCrc32(sum, crc, length), crc32('')),
    deflate: () => Buffer.concat(parts.map((part) => part.getDeflated())),
  });
}

/** Gives raw deflate blocks of some bytes, ended so that others can follow. */
export function deflate(bytes: Buffer): Buffer {
  const deflated = deflateRawSync(bytes, { level: 6, finishFlush: constants.Z_FULL_FLUSH });
  // zlib gives a view of a larger buffer, which would be kept as a whole, and so would be a pool that is shared with others.
  const own = Buffer.allocUnsafeSlow(deflated.length);
  deflated.copy(own);
  return own;
}

interface Making extends Pick<Part, 'pieces' | 'length'> {
  readonly sum: () => number;
  readonly deflate: () => Buffer;
}

function createPart({ pieces, length, sum, deflate }: Making): Part {
  let deflated: Buffer | undefined;
  let crc: number | undefined;
  return {
    pieces,
    length,
    get crc() {
      crc ??= sum();
      return crc;
    },
    getDeflated() {
      deflated ??= deflate();
      return deflated;
    },
  };
}
