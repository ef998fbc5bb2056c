import { constants, crc32, deflateRawSync } from 'node:zlib';

/** A piece of a document that does not change from request to request, plain and, once asked for, compressed. */
export interface Part {
  readonly raw: Buffer;
  /** CRC-32 of `raw`, as a gzip trailer needs it. */
  readonly crc: number;
  /** Raw deflate blocks of `raw`, ended so that blocks of another part can follow. */
  getDeflated(): Buffer;
}

/** Makes a part of bytes or text; it is compressed at most once, when first asked for. */
export function buildPart(content: string | Buffer): Part {
  const raw = typeof content === 'string' ? Buffer.from(content) : content;
  return createPart(raw, () => deflateRawSync(raw, { level: 6, finishFlush: constants.Z_FULL_FLUSH }));
}

/** Joins parts into one that is compressed by joining their compressed forms, not by compressing again. */
export function joinParts(parts: readonly Part[]): Part {
  return createPart(Buffer.concat(parts.map((part) => part.raw)), () =>
    Buffer.concat(parts.map((part) => part.getDeflated())),
  );
}

function createPart(raw: Buffer, deflate: () => Buffer): Part {
  let deflated: Buffer | undefined;
  let crc: number | undefined;
  return {
    raw,
    get crc() {
      crc ??= crc32(raw);
      return crc;
    },
    getDeflated() {
      deflated ??= deflate();
      return deflated;
    },
  };
}
