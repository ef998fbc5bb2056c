import { closest, distance } from 'fastest-levenshtein';

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Cuts text to at most `limit` UTF-16 units, between characters as a reader sees them, with an ellipsis where cut. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cutAt = graphemes.segment(text).containing(limit - 1)?.index ?? 0;
  return `${text.slice(0, cutAt).trimEnd()}…`;
}

/**
 * Finds the word that a misspelled or shortened one most likely means: the nearest by letters, if at most a third of them
 * differ, else the shortest of those that begin with it or that it begins with. Undefined if no word is near.
 */
export function findNearest(word: string, candidates: readonly string[]): string | undefined {
  const meant = word.toLowerCase();
  if (candidates.length === 0 || meant === '') return undefined;
  const nearest = closest(meant, [...candidates]);
  if (distance(meant, nearest) <= Math.max(1, Math.floor(nearest.length / 3))) return nearest;
  return candidates
    .filter((candidate) => candidate.toLowerCase().startsWith(meant) || meant.startsWith(candidate.toLowerCase()))
    .sort((a, b) => a.length - b.length)[0];
}

/** Gives how many letters apart two texts are. */
export function getDistance(some: string, other: string): number {
  return distance(some, other);
}
