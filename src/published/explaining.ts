import type { Planned } from '../search/plan.ts';
import type { Score } from '../search/ranking.ts';
import type { Why } from '../views/listing/item.ts';

/** A result by its number, the position of its route, and whether something grave speaks against that. */
interface Explained {
  readonly number: number;
  readonly position: number;
  readonly isDangerous: boolean;
}

/**
 * Gives why results stand where they do: each word of the request is scored by itself, by the scoring that ranked them, of
 * which what a result is worth is the sum.
 */
export function explainRanks(
  { plan, words, vector }: Planned,
  score: Score,
  results: readonly Explained[],
): readonly Why[] {
  const parts = plan.map((group, at) => {
    const getWorths = (terms: typeof group) => {
      const scores = score([terms], vector);
      return results.map(({ number, position }) => scores.getWordWorth(number, position));
    };
    const worths = getWorths(group);
    return { word: words[at] ?? '', worths, own: group.length === 1 ? worths : getWorths(group.slice(0, 1)) };
  });
  return results.map(({ isDangerous }, at) => {
    const found = parts.filter(({ worths }) => (worths[at] ?? 0) > 0);
    const missing = parts.filter(({ worths }) => worths[at] === 0).map(({ word }) => word);
    return {
      matched: found
        .sort((a, b) => (b.worths[at] ?? 0) - (a.worths[at] ?? 0))
        .map(({ word, own }) => (own[at] === 0 ? `${word}, by another word for it` : word)),
      missing: [...new Set(missing)],
      lowered: isDangerous ? ['Something grave speaks against the route, so it counts half.'] : [],
    };
  });
}
