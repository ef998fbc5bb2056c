import type { Published } from './file.ts';

/**
 * Completes the start of a slug: lists live listings whose slugs begin with the text, then those in whose slugs every typed word
 * begins a word; both in the order of slugs. Returns at most `limit`, and whether there are more.
 */
export function completeSlug(
  published: Published,
  typed: string,
  limit: number,
): { values: string[]; hasMore: boolean } {
  const start = normalise(typed);
  const words = start.split('-').filter(Boolean);
  if (words.length === 0 && typed.trim() !== '') return { values: [], hasMore: false };
  const read = (sql: string, left: number) =>
    published
      .prepare<{ slug: string }>(sql)
      .all({ start, words: JSON.stringify(words), left })
      .map(({ slug }) => slug);
  const found = read(STARTING, limit + 1);
  if (words.length > 0 && found.length <= limit) found.push(...read(CONTAINING, limit + 1 - found.length));
  return { values: found.slice(0, limit), hasMore: found.length > limit };
}

/** The tilde sorts after every character of a slug. */
const STARTING = `SELECT slug FROM listings WHERE state = 'live' AND slug >= @start AND slug < @start || '~' ORDER BY slug LIMIT +@left`;

const CONTAINING = `SELECT slug FROM listings WHERE state = 'live' AND substr(slug, 1, length(@start)) <> @start
  AND NOT EXISTS (SELECT 1 FROM json_each(@words) WHERE instr('-' || slug, '-' || value) = 0) ORDER BY slug LIMIT +@left`;

/** Reduces typed text to the characters of a slug. It may end in a hyphen, which ends a word. */
function normalise(typed: string): string {
  const plain = typed.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return plain.replace(/[^a-z0-9]+/g, '-').replace(/^-/, '');
}
