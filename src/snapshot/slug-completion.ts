import { type Chunk, type Entry, findChunkIndex } from './chunks.ts';

type SlugChunk = Chunk<Entry>;

/** The slugs of a chunk as one text, each between hyphens, to be looked through at once. */
const slugTexts = new WeakMap<SlugChunk, string>();

/**
 * Completes what somebody types of a slug: first the live listings whose slugs start so, then those in whose slugs every
 * word typed starts a word, each in the order of slugs. At most `limit`, and whether there are more. Quick at any size:
 * the first by binary search, the others through one text a chunk, which snapshots share as long as it does not change.
 */
export function completeSlug(
  { chunks }: { readonly chunks: readonly SlugChunk[] },
  typed: string,
  limit: number,
): { slugs: string[]; hasMore: boolean } {
  const start = normalise(typed);
  const words = start.split('-').filter(Boolean);
  const found: string[] = [];
  if (words.length > 0 || typed.trim() === '') {
    for (const slug of listStarting(chunks, start)) if (found.push(slug) > limit) break;
  }
  if (words.length > 0 && found.length <= limit) {
    for (const slug of listContaining(chunks, words)) {
      if (!slug.startsWith(start) && found.push(slug) > limit) break;
    }
  }
  return { slugs: found.slice(0, limit), hasMore: found.length > limit };
}

/** Writes what was typed with the characters of a slug; unlike a slug it may end in a hyphen, which ends a word. */
function normalise(typed: string): string {
  const plain = typed.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return plain.replace(/[^a-z0-9]+/g, '-').replace(/^-/, '');
}

function* listStarting(chunks: readonly SlugChunk[], start: string): Generator<string> {
  for (let at = findChunkIndex(chunks, start); at < chunks.length; at += 1) {
    for (const { slug } of chunks[at]?.entries ?? []) {
      if (slug.startsWith(start)) yield slug;
      else if (slug > start) return;
    }
  }
}

function* listContaining(chunks: readonly SlugChunk[], words: readonly string[]): Generator<string> {
  const starts = words.map((word) => `-${word}`);
  for (const chunk of chunks) {
    const text = getSlugText(chunk);
    if (!starts.every((start) => text.includes(start))) continue;
    for (const { slug } of chunk.entries) if (starts.every((start) => `-${slug}`.includes(start))) yield slug;
  }
}

function getSlugText(chunk: SlugChunk): string {
  const text = slugTexts.get(chunk) ?? chunk.entries.map(({ slug }) => `-${slug}`).join('\n');
  slugTexts.set(chunk, text);
  return text;
}
