import { closest, distance } from 'fastest-levenshtein';

/**
 * Finds the word that a misspelled or shortened one most likely means: the nearest by letters (a third of them or fewer
 * apart), else the shortest of those that begin with it or that it begins with. Undefined where there is none.
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
