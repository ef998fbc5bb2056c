import { constants, crc32, deflateRawSync } from 'node:zlib';

/**
 * A part of a document, deflated by itself: it ends on a whole byte, so that parts stand behind each other in one gzip member (RFC
 * 1951 and 1952).
 */
export interface Piece {
  readonly deflated: Buffer;
  readonly crc: number;
  /** Bytes of the text. */
  readonly length: number;
  /** Matrices that move the checksum of the text before it over its bytes, so that the two checksums can be added. */
  readonly shift: readonly Uint32Array[];
}

const LEVEL = 6;

/** Deflates a part of a document. */
export function deflatePiece(text: string): Piece {
  const bytes = Buffer.from(text);
  const deflated = deflateRawSync(bytes, { level: LEVEL, finishFlush: constants.Z_FULL_FLUSH });
  // A copy: what zlib gives may be a small part of a large buffer, which would be kept as a whole.
  return {
    deflated: Buffer.from(deflated),
    crc: crc32(bytes),
    length: bytes.length,
    shift: listShifts(bytes.length),
  };
}

/** The head of a gzip member without a name and a time, and an empty last block of fixed codes. */
const HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
const END = Buffer.from([3, 0]);

/** Joins pieces to one gzip member, in parts: a document that many read is in memory once. */
export function joinPieces(pieces: readonly Piece[]): Buffer[] {
  let [crc, length] = [0, 0];
  for (const piece of pieces) {
    crc = (piece.shift.reduce((sum, matrix) => multiply(matrix, sum), crc) ^ piece.crc) >>> 0;
    length += piece.length;
  }
  const tail = Buffer.alloc(8);
  tail.writeUInt32LE(crc, 0);
  tail.writeUInt32LE(length >>> 0, 4);
  return [HEAD, ...pieces.map(({ deflated }) => deflated), END, tail];
}

/** The polynomial of CRC-32, bits reversed. */
const POLYNOMIAL = 0xedb88320;

/** Lists the matrices that turn the checksum of a text into its part of the checksum of that text and `bytes` more, applied in order. */
function listShifts(bytes: number): Uint32Array[] {
  const shifts: Uint32Array[] = [];
  for (let [left, power] = [bytes, 0]; left > 0; left = Math.floor(left / 2), power += 1) {
    if (left % 2 === 1) shifts.push(getShift(power));
  }
  return shifts;
}

const shiftsOf: Uint32Array[] = [];

/** Gives the matrix that moves a checksum over 2 to the given power bytes. */
function getShift(power: number): Uint32Array {
  const known = shiftsOf[power];
  if (known) return known;
  const bit = Uint32Array.from({ length: 32 }, (_, row) => (row === 0 ? POLYNOMIAL : 1 << (row - 1)));
  const made = power === 0 ? square(square(square(bit))) : square(getShift(power - 1));
  shiftsOf[power] = made;
  return made;
}

function multiply(matrix: Uint32Array, vector: number): number {
  let sum = 0;
  for (let bit = 0; bit < matrix.length; bit += 1) if ((vector >>> bit) & 1) sum ^= matrix[bit] as number;
  return sum >>> 0;
}

function square(matrix: Uint32Array): Uint32Array {
  return matrix.map((column) => multiply(matrix, column));
}
