import { buildPart, type Part } from './part.ts';

/** How many entries a chunk is cut to, and how many it may grow to before it is cut. */
const CHUNK_SIZE = 64;
const CHUNK_LIMIT = 2 * CHUNK_SIZE;

/** Something kept in the order of its slug, with its text in a document. */
export interface Entry {
  readonly slug: string;
  /** Its JSON as an element of the OpenAPI document's `tags`. */
  readonly tag: string;
}

/** A run of neighbouring entries and their tags as one piece of the document. Never changed once made. */
export interface Chunk<E extends Entry> {
  readonly entries: readonly E[];
  readonly tags: Part;
}

/** Cuts entries, sorted by slug, into chunks. */
export function buildChunks<E extends Entry>(entries: readonly E[]): Chunk<E>[] {
  const chunks: Chunk<E>[] = [];
  for (let start = 0; start < entries.length; start += CHUNK_SIZE) {
    chunks.push(buildChunk(entries.slice(start, start + CHUNK_SIZE)));
  }
  return chunks;
}

/**
 * Gives the chunks with some entries put in, replaced or (null) taken out; only the chunks concerned are made anew, so
 * the cost of a change follows the number of changed entries.
 */
export function updateChunks<E extends Entry>(
  chunks: readonly Chunk<E>[],
  changes: ReadonlyMap<string, E | null>,
): Chunk<E>[] {
  if (chunks.length === 0) return buildChunks(sortEntries([...changes.values()].filter((entry) => entry !== null)));
  const byChunk = Map.groupBy(changes, ([slug]) => findChunkIndex(chunks, slug));
  return chunks.flatMap((chunk, index) => {
    const changed = byChunk.get(index);
    if (!changed) return chunk;
    const entries = new Map(chunk.entries.map((entry) => [entry.slug, entry]));
    for (const [slug, entry] of changed) {
      if (entry) entries.set(slug, entry);
      else entries.delete(slug);
    }
    const sorted = sortEntries([...entries.values()]);
    if (sorted.length > CHUNK_LIMIT) return buildChunks(sorted);
    return sorted.length > 0 ? buildChunk(sorted) : [];
  });
}

/** Finds the last chunk that starts at or before the slug; the first one for what precedes them all. */
export function findChunkIndex(chunks: readonly Chunk<Entry>[], slug: string): number {
  let [low, high] = [0, chunks.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((chunks[middle]?.entries[0]?.slug ?? '') <= slug) low = middle;
    else high = middle - 1;
  }
  return low;
}

function buildChunk<E extends Entry>(entries: readonly E[]): Chunk<E> {
  let tags: Part | undefined;
  return {
    entries,
    get tags() {
      tags ??= buildPart(entries.map(({ tag }) => tag).join(','));
      return tags;
    },
  };
}

function sortEntries<E extends Entry>(entries: E[]): E[] {
  return entries.sort((a, b) => (a.slug < b.slug ? -1 : 1));
}
