import { findNextPlace } from './columns.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * Completes what somebody types of a slug: first the live listings whose slugs start so, then those in whose slugs every
 * word typed starts a word, each in the order of slugs. At most `limit`, and whether there are more.  */
export function completeSlug(
  { columns: { slugs } }: { readonly columns: Pick<Snapshot['columns'], 'slugs'> },
  typed: string,
  limit: number,
): { slugs: string[]; hasMore: boolean } {
  const start = normalise(typed);
  const words = start.split('-').filter(Boolean);
  const found: string[] = [];
  if (words.length > 0 || typed.trim() === '') {
    for (const slug of listStarting(slugs, start)) if (found.push(slug) > limit) break;
  }
  if (words.length > 0 && found.length <= limit) {
    for (const slug of listContaining(slugs, words)) {
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

function* listStarting(slugs: readonly string[], start: string): Generator<string> {
  for (let place = findNextPlace({ slugs }, start); slugs[place]?.startsWith(start); place += 1) {
    yield slugs[place] as string;
  }
}

function* listContaining(slugs: readonly string[], words: readonly string[]): Generator<string> {
  for (const slug of slugs) {
    if (words.every((word) => slug.includes(word) && (slug.startsWith(word) || slug.includes(`-${word}`)))) yield slug;
  }
}
