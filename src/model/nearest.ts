import { closest, distance } from 'fastest-levenshtein';

/** Finds the word that a misspelled one most likely means; undefined where none is near (a third of its letters or fewer). */
export function findNearest(word: string, candidates: readonly string[]): string | undefined {
  if (candidates.length === 0) return undefined;
  const nearest = closest(word.toLowerCase(), [...candidates]);
  return distance(word.toLowerCase(), nearest) <= Math.max(1, Math.floor(nearest.length / 3)) ? nearest : undefined;
}

/** Gives how many letters apart two texts are. */
export function getDistance(some: string, other: string): number {
  return distance(some, other);
}
