import type { Part } from '../snapshot/part.ts';

/** Keeps parts of answers, the latest asked for up to a number of bytes. */
export interface KeptParts {
  /** Finds the part of a key among those that are kept. */
  find(key: string): Part | undefined;
  /** Gives the part of a key, built if it is not kept. */
  get(key: string, build: () => Part): Part;
}

/** Creates a store of at most `limit` bytes, or of one part that is larger; compressed forms are not counted. */
export function createKeptParts(limit: number): KeptParts {
  const kept = new Map<string, Part>();
  let bytes = 0;
  return {
    find(key) {
      const part = kept.get(key);
      if (part) {
        kept.delete(key);
        kept.set(key, part);
      }
      return part;
    },
    get(key, build) {
      const known = kept.get(key);
      const part = known ?? build();
      if (known) kept.delete(key);
      else bytes += part.length;
      kept.set(key, part);
      for (const [oldest, { length }] of kept) {
        if (bytes <= limit || oldest === key) break;
        kept.delete(oldest);
        bytes -= length;
      }
      return part;
    },
  };
}
