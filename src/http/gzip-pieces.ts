import { constants, crc32, deflateRawSync } from 'node:zlib';

/**
 * A separately deflated part of a document. It ends on a whole byte, so that parts can follow each other in one gzip member (RFC
 * 1951 and 1952).
 */
export interface Piece {
  readonly deflated: Buffer;
  readonly crc: number;
  /** Length of the text in bytes. */
  readonly length: number;
  /** Matrices that advance the checksum of the preceding text over these bytes, so that the two checksums can be combined. */
  readonly shift: readonly Uint32Array[];
}

const LEVEL = 6;

/** Deflates a part of a document. */
export function deflatePiece(text: string): Piece {
  const bytes = Buffer.from(text);
  const deflated = deflateRawSync(bytes, { level: LEVEL, finishFlush: constants.Z_FULL_FLUSH });
  // Copied, since the output of zlib may be a small part of a large buffer, which would be kept as a whole.
  return {
    deflated: Buffer.from(deflated),
    crc: crc32(bytes),
    length: bytes.length,
    shift: listShifts(bytes.length),
  };
}

/** The header of a gzip member without name and time, and an empty last block of fixed codes. */
const HEAD = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
const END = Buffer.from([3, 0]);

/** Joins pieces into one gzip member, as a list of buffers that share the memory of the pieces. */
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

/** The polynomial of CRC-32, with its bits reversed. */
const POLYNOMIAL = 0xedb88320;

/** Lists the matrices that advance a checksum over `bytes` more bytes, applied in order. */
function listShifts(bytes: number): Uint32Array[] {
  const shifts: Uint32Array[] = [];
  for (let [left, power] = [bytes, 0]; left > 0; left = Math.floor(left / 2), power += 1) {
    if (left % 2 === 1) shifts.push(getShift(power));
  }
  return shifts;
}

const shiftsOf: Uint32Array[] = [];

/** Returns the matrix that advances a checksum over 2 to the power of `power` bytes. */
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
