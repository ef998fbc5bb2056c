import { setImmediate } from 'node:timers/promises';
import { constants, crc32, inflateRawSync } from 'node:zlib';
import type { Chunk } from './chunks.ts';
import type { ListingEntry } from './entry.ts';
import { deflate } from './part.ts';

/** How long packing may hold up other requests at a time, in milliseconds; one chunk more than that is finished. */
const MAX_HOLD_MS = 8;

/** A piece of a document that is kept compressed alone: large documents that are seldom asked for plain. */
export interface Packed {
  /** Bytes of the plain text. */
  readonly length: number;
  /** CRC-32 of the plain text. */
  readonly crc: number;
  /** Raw deflate blocks, ended so that those of another piece can follow. */
  readonly deflated: Buffer;
}

/** Packs text. */
export function buildPacked(text: string): Packed {
  const raw = Buffer.from(text);
  return { length: raw.length, crc: crc32(raw), deflated: deflate(raw) };
}

/** Gives the plain bytes of a piece, which ends with a flush and not with a last block. */
export function readPacked({ deflated, length }: Packed): Buffer {
  // With room for all of it at once nothing is copied together; zlib takes no less than 64.
  return inflateRawSync(deflated, { finishFlush: constants.Z_SYNC_FLUSH, chunkSize: Math.max(64, length + 1) });
}

/** Gives one piece for each chunk, in order. */
export type PackChunks = (chunks: readonly Chunk<ListingEntry>[]) => Promise<Packed[]>;

/**
 * Creates the packing of what a document says of the listings of each chunk. A chunk is packed when first asked for and kept as long
 * as the chunk is, so one changed listing costs one chunk. Other requests are answered in between, and whoever asks
 * meanwhile waits for what is under way.
 */
export function createPacking(buildText: (chunk: Chunk<ListingEntry>) => string): PackChunks {
  const packedOf = new WeakMap<Chunk<ListingEntry>, Packed>();
  let underway: Promise<unknown> = Promise.resolve();

  const pack = async (chunks: readonly Chunk<ListingEntry>[]): Promise<Packed[]> => {
    const all: Packed[] = [];
    let started = performance.now();
    for (const chunk of chunks) {
      let packed = packedOf.get(chunk);
      if (!packed) {
        if (performance.now() - started > MAX_HOLD_MS) {
          await setImmediate();
          started = performance.now();
        }
        packed = buildPacked(buildText(chunk));
        packedOf.set(chunk, packed);
      }
      all.push(packed);
    }
    return all;
  };

  return (chunks) => {
    const packing = underway.then(() => pack(chunks));
    // Who asked is told of a failure; who asks next starts afresh.
    underway = packing.catch(() => undefined);
    return packing;
  };
}
