import type { TakenItem } from './item.ts';

/** Chooses the most frequent of some texts, empty ones left out; among equally frequent ones the first by code units. */
export function chooseMostCommon(texts: readonly string[]): string {
  const [first] = countTexts(texts);
  return first?.[0] ?? '';
}

/**
 * Chooses a listing's description among what its items say, all of it the provider's own words: what they say of the
 * service itself; else a text that most of them share; else the text of the route nearest to the root, which tends to
 * be the most general one. The choice does not depend on the items' order.
 */
export function chooseDescription(items: readonly TakenItem[]): string {
  const ofService = chooseMostCommon(items.map(({ service }) => service.description));
  if (ofService) return ofService;
  const described = items.filter(({ description }) => description !== '');
  const [mostCommon] = countTexts(described.map(({ description }) => description));
  if (mostCommon && mostCommon[1] * 2 > described.length) return mostCommon[0];
  const [nearest] = described.sort((a, b) => compareDepth(a.route.path, b.route.path) || compareTexts(a.key, b.key));
  return nearest?.description ?? '';
}

/** Counts distinct texts, the most frequent first. */
function countTexts(texts: readonly string[]): [text: string, count: number][] {
  const counts = new Map<string, number>();
  for (const text of texts) if (text) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].sort(([a, aCount], [b, bCount]) => bCount - aCount || compareTexts(a, b));
}

function compareDepth(a: string, b: string): number {
  return a.split('/').length - b.split('/').length || a.length - b.length;
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
