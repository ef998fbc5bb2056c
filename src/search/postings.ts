import { type Entry, findMask, growArray, MASK, MASK_BITS, packEntries, repack } from './packed.ts';

/**
 * Entries that changed since the lists were packed stand beside them, up to this share of all; then they are packed in.
 * Packing 100,000 listings takes about as long as ten searches.
 */
const LOOSE_SHARE = 1 / 100;
const LOOSE_MIN = 64;

/**
 * In which listings each word is. The lists are packed into typed arrays; what changed since stands beside them by listing,
 * and what the lists say of those is passed over: a change costs no more than the listing's own words.
 */
export interface Postings {
  /** Puts entries in place of what was there; one without words takes its listing out. */
  put(entries: readonly Entry[]): void;
  /** Counts the listings that a word is in; those that changed since the lists were packed may count twice. */
  count(word: number): number;
  /** Calls `visit` with each listing that a word is in, and the mask of its fields. */
  visit(word: number, visit: (listing: number, mask: number) => void): void;
  /** How many different words each listing has, as a class (`LENGTH_CLASSES`), by its number. */
  getLengthClasses(): Uint8Array;
  /** How many listings have words. */
  getSize(): number;
}

/** Builds the lists of a catalogue's entries. */
export function buildPostings(entries: readonly Entry[]): Postings {
  let packed = packEntries(entries);
  const loose = new Map<number, Uint32Array>();
  let classes: Uint8Array = new Uint8Array(1);
  let replaced: Uint8Array = new Uint8Array(1);
  let size = 0;

  const note = ({ listing, terms }: Entry) => {
    if (listing >= classes.length) {
      classes = growArray(classes, listing + 1);
      replaced = growArray(replaced, listing + 1);
    }
    size += Number(terms.length > 0) - Number(classes[listing] !== NO_WORDS);
    classes[listing] = getLengthClass(terms.length);
  };
  for (const entry of entries) note(entry);

  return {
    put(changed) {
      for (const entry of changed) {
        note(entry);
        replaced[entry.listing] = 1;
        if (entry.terms.length > 0) loose.set(entry.listing, entry.terms);
        else loose.delete(entry.listing);
      }
      if (loose.size <= Math.max(LOOSE_MIN, size * LOOSE_SHARE)) return;
      packed = repack(
        packed,
        replaced,
        [...loose].map(([listing, terms]) => ({ listing, terms })),
      );
      loose.clear();
      replaced.fill(0);
    },
    count(word) {
      const end = packed.starts[word + 1];
      let count = end === undefined ? 0 : end - (packed.starts[word] ?? 0);
      for (const terms of loose.values()) if (findMask(terms, word) !== 0) count += 1;
      return count;
    },
    visit(word, visit) {
      const { starts, lists } = packed;
      const end = starts[word + 1] ?? 0;
      for (let at = starts[word] ?? 0; at < end; at += 1) {
        const posting = lists[at] as number;
        const listing = posting >>> MASK_BITS;
        if (replaced[listing] === 0) visit(listing, posting & MASK);
      }
      for (const [listing, terms] of loose) {
        const mask = findMask(terms, word);
        if (mask !== 0) visit(listing, mask);
      }
    },
    getLengthClasses: () => classes,
    getSize: () => size,
  };
}

/** Classes of how many different words a listing has; each but the first two is for twice as many as the one before. */
export const LENGTH_CLASSES = 8;
export const NO_WORDS = 0;
const SHORT_WORDS = 24;

function getLengthClass(words: number): number {
  if (words === 0) return NO_WORDS;
  return Math.min(LENGTH_CLASSES - 1, Math.max(1, 2 + Math.floor(Math.log2(words / SHORT_WORDS))));
}
