/** How many entries a chunk is cut to, and how many it may grow to before it is cut. */
export const CHUNK_SIZE = 64;
const CHUNK_LIMIT = 2 * CHUNK_SIZE;

/** Something kept in the order of its slug. */
export interface Entry {
  readonly slug: string;
}

/** An entry with its JSON as an element of the OpenAPI document's `tags`. */
export interface Tagged<E extends Entry> {
  readonly entry: E;
  readonly tag: string;
}

/** A run of neighbouring entries and their tags as one piece of the document. Never changed once made. */
export interface Chunk<E extends Entry> {
  readonly entries: readonly E[];
  /** The tags of the entries in their order, comma-separated, as UTF-8. */
  readonly tags: Buffer;
  /** Where each tag ends among them, in bytes. */
  readonly tagEnds: Uint32Array;
}

/** Cuts entries, sorted by slug, into chunks. */
export function buildChunks<E extends Entry>(tagged: readonly Tagged<E>[]): Chunk<E>[] {
  const chunks: Chunk<E>[] = [];
  for (let start = 0; start < tagged.length; start += CHUNK_SIZE) {
    chunks.push(buildChunk(tagged.slice(start, start + CHUNK_SIZE)));
  }
  return chunks;
}

/**
 * Gives the chunks with some entries put in, replaced or (null) taken out; only the chunks concerned are made anew, so
 * the cost of a change follows the number of changed entries.
 */
export function updateChunks<E extends Entry>(
  chunks: readonly Chunk<E>[],
  changes: ReadonlyMap<string, Tagged<E> | null>,
): Chunk<E>[] {
  if (chunks.length === 0) return buildChunks(sortTagged([...changes.values()].filter((tagged) => tagged !== null)));
  const byChunk = Map.groupBy(changes, ([slug]) => findChunkIndex(chunks, slug));
  return chunks.flatMap((chunk, index) => {
    const changed = byChunk.get(index);
    if (!changed) return chunk;
    const members = new Map(listTagged(chunk).map((tagged) => [tagged.entry.slug, tagged]));
    for (const [slug, tagged] of changed) {
      if (tagged) members.set(slug, tagged);
      else members.delete(slug);
    }
    const sorted = sortTagged([...members.values()]);
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

/** Finds the entry of a slug. */
export function findMember<E extends Entry>(chunks: readonly Chunk<E>[], slug: string): E | undefined {
  const entries = chunks[findChunkIndex(chunks, slug)]?.entries ?? [];
  let [low, high] = [0, entries.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const entry = entries[middle] as E;
    if (entry.slug === slug) return entry;
    if (entry.slug < slug) low = middle + 1;
    else high = middle - 1;
  }
  return undefined;
}

/** Lists the entries of a chunk with their tags, which are kept as bytes of the document only. */
export function listTagged<E extends Entry>({ entries, tags, tagEnds }: Chunk<E>): Tagged<E>[] {
  return entries.map((entry, at) => {
    const start = at === 0 ? 0 : (tagEnds[at - 1] as number) + 1;
    return { entry, tag: tags.toString('utf8', start, tagEnds[at]) };
  });
}

function buildChunk<E extends Entry>(tagged: readonly Tagged<E>[]): Chunk<E> {
  const tags = Buffer.from(tagged.map(({ tag }) => tag).join(','));
  let end = -1;
  const tagEnds = Uint32Array.from(tagged, ({ tag }) => {
    end += 1 + Buffer.byteLength(tag);
    return end;
  });
  return { entries: tagged.map(({ entry }) => entry), tags, tagEnds };
}

function sortTagged<E extends Entry>(tagged: Tagged<E>[]): Tagged<E>[] {
  return tagged.sort((a, b) => (a.entry.slug < b.entry.slug ? -1 : 1));
}
