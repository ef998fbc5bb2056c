/** Bits of a posting that hold the mask of fields; the rest is a number. */
export const MASK_BITS = 8;
export const MASK = (1 << MASK_BITS) - 1;

/** The words of one document: its number, and for each word, in the order of their numbers, a posting of the word. */
export interface DocumentTerms {
  readonly document: number;
  /** A word's number shifted by `MASK_BITS`, and the mask of the fields it is in. */
  readonly terms: Uint32Array;
}

/** Lists of documents by word, one after the other: that of word `n` runs from `starts[n]` to `starts[n + 1]`. */
export interface Packed {
  readonly starts: Uint32Array;
  /** A document's number shifted by `MASK_BITS`, and the mask of the fields that the word is in there. */
  readonly lists: Uint32Array;
}

/** Makes lists of nothing. */
export function createPacked(): Packed {
  return { starts: new Uint32Array(1), lists: new Uint32Array(0) };
}

/** Packs again what the lists say of all documents but those that are gone, and what further documents say. */
export function repack(
  { starts, lists }: Packed,
  isGone: (document: number) => boolean,
  documents: Iterable<DocumentTerms> & object,
): Packed {
  const counts = new Counts();
  const words = Math.max(0, starts.length - 1);
  for (let word = 0; word < words; word += 1) {
    let kept = 0;
    const end = starts[word + 1] as number;
    for (let at = starts[word] as number; at < end; at += 1) {
      if (!isGone((lists[at] as number) >>> MASK_BITS)) kept += 1;
    }
    if (kept > 0) counts.add(word, kept);
  }
  for (const { terms } of documents) for (const term of terms) counts.add(term >>> MASK_BITS, 1);
  const { packed, next } = counts.allot();
  for (let word = 0; word < words; word += 1) {
    const end = starts[word + 1] as number;
    for (let at = starts[word] as number; at < end; at += 1) {
      const posting = lists[at] as number;
      if (!isGone(posting >>> MASK_BITS)) put(packed, next, word, posting);
    }
  }
  for (const { document, terms } of documents) {
    for (const term of terms) put(packed, next, term >>> MASK_BITS, (document << MASK_BITS) | (term & MASK));
  }
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

function put({ lists }: Packed, next: Uint32Array, word: number, posting: number): void {
  const to = next[word] as number;
  lists[to] = posting;
  next[word] = to + 1;
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
export function growArray<A extends Int8Array | Uint8Array | Uint16Array | Uint32Array>(array: A, length: number): A {
  const longer = new (array.constructor as new (length: number) => A)(Math.max(length, 2 * array.length));
  longer.set(array);
  return longer;
}
