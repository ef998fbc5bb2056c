/** What one listing's words are: its number, and for each word, in the order of their numbers, a posting of the word. */
export interface Entry {
  readonly listing: number;
  /** A word's number shifted by `MASK_BITS`, and the mask of the fields it is in. Empty for a listing that is not to be found. */
  readonly terms: Uint32Array;
}

/** Bits of a posting that hold the mask of fields; the rest is a number. */
export const MASK_BITS = 8;
export const MASK = (1 << MASK_BITS) - 1;

/** Lists of listings by word, one after the other: that of word `n` runs from `starts[n]` to `starts[n + 1]`. */
export interface Packed {
  readonly starts: Uint32Array;
  /** A listing's number shifted by `MASK_BITS`, and the mask of the fields that the word is in there. */
  readonly lists: Uint32Array;
}

/** Packs what entries say into lists. */
export function packEntries(entries: Iterable<Entry> & object): Packed {
  const counts = new Counts();
  for (const { terms } of entries) for (const term of terms) counts.add(term >>> MASK_BITS, 1);
  const { packed, next } = counts.allot();
  for (const { listing, terms } of entries) addEntry(packed, next, { listing, terms });
  return packed;
}

/** Packs anew: what the lists say of all listings but those `replaced`, and what the entries say. */
export function repack({ starts, lists }: Packed, replaced: Uint8Array, entries: Iterable<Entry> & object): Packed {
  const counts = new Counts();
  const words = Math.max(0, starts.length - 1);
  for (let word = 0; word < words; word += 1) {
    let kept = 0;
    const end = starts[word + 1] as number;
    for (let at = starts[word] as number; at < end; at += 1) {
      if (replaced[(lists[at] as number) >>> MASK_BITS] === 0) kept += 1;
    }
    counts.add(word, kept);
  }
  for (const { terms } of entries) for (const term of terms) counts.add(term >>> MASK_BITS, 1);
  const { packed, next } = counts.allot();
  for (let word = 0; word < words; word += 1) {
    const end = starts[word + 1] as number;
    let to = next[word] as number;
    for (let at = starts[word] as number; at < end; at += 1) {
      const posting = lists[at] as number;
      if (replaced[posting >>> MASK_BITS] !== 0) continue;
      packed.lists[to] = posting;
      to += 1;
    }
    next[word] = to;
  }
  for (const { listing, terms } of entries) addEntry(packed, next, { listing, terms });
  return packed;
}

/** Gives the mask of fields that a word is in; 0 where it is not. */
export function findMask(terms: Uint32Array, word: number): number {
  let [low, high] = [0, terms.length - 1];
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const found = (terms[middle] as number) >>> MASK_BITS;
    if (found === word) return (terms[middle] as number) & MASK;
    if (found < word) low = middle + 1;
    else high = middle - 1;
  }
  return 0;
}

function addEntry({ lists }: Packed, next: Uint32Array, { listing, terms }: Entry): void {
  for (const term of terms) {
    const word = term >>> MASK_BITS;
    const to = next[word] as number;
    lists[to] = (listing << MASK_BITS) | (term & MASK);
    next[word] = to + 1;
  }
}

/** Counts by word, from which the lists get their places. */
class Counts {
  #counts = new Uint32Array(1024);
  #words = 0;

  add(word: number, count: number): void {
    if (word >= this.#counts.length) this.#counts = growArray(this.#counts, word + 1);
    this.#counts[word] = (this.#counts[word] as number) + count;
    this.#words = Math.max(this.#words, word + 1);
  }

  allot(): { packed: Packed; next: Uint32Array } {
    const starts = new Uint32Array(this.#words + 1);
    for (let word = 0; word < this.#words; word += 1) {
      starts[word + 1] = (starts[word] as number) + (this.#counts[word] as number);
    }
    const lists = new Uint32Array(starts[this.#words] as number);
    return { packed: { starts, lists }, next: starts.slice() };
  }
}

/** Gives a longer copy of an array of numbers, at least twice as long, so that growing stays cheap. */
export function growArray<A extends Uint8Array | Uint32Array>(array: A, length: number): A {
  const longer = new (array.constructor as new (length: number) => A)(Math.max(length, 2 * array.length));
  longer.set(array);
  return longer;
}
