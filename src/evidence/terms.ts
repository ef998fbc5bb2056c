import type { RecordedTerms } from '../model/terms.ts';

/**
 * Gives the terms a buyer should expect now: what the live 402 was last seen to ask, and only where nothing was observed
 * what the provider declares.
 */
export function getCurrentTerms(history: readonly RecordedTerms[]): RecordedTerms[] {
  const current = history.filter((terms) => terms.current);
  const observed = current.filter(({ evidence }) => evidence === 'observed');
  return observed.length > 0 ? observed : current;
}

/** How many past offers of a route its published history keeps; the rules look at all of them. */
const PUBLISHED_HISTORY = 20;

/** Gives current terms with the latest of the past ones before them; those come first. */
export function cutHistory(history: readonly RecordedTerms[]): RecordedTerms[] {
  const past = history.filter(({ current }) => !current).length;
  return history.slice(Math.max(0, past - PUBLISHED_HISTORY));
}
