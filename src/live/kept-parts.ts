import type { Part } from '../snapshot/part.ts';
import { createLatest } from './latest.ts';

/** Keeps parts of answers up to a number of bytes, those asked for of late. */
export interface KeptParts {
  /** Finds the part of a key among those that are kept. */
  find(key: string): Part | undefined;
  /** Gives the part of a key, built if it is not kept. */
  get(key: string, build: () => Part): Part;
}

/** Creates a store of at most `limit` bytes, or of one part that is larger; compressed forms are not counted. */
export function createKeptParts(limit: number): KeptParts {
  const parts = createLatest<Part>(limit, ({ length }) => length);
  return {
    find: parts.find,
    get(key, build) {
      const known = parts.find(key);
      if (known) return known;
      const part = build();
      parts.add(key, part);
      return part;
    },
  };
}
