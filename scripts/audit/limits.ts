/** Lighthouse's measurements of one page. */
export interface PageMeasure {
  readonly name: string;
  readonly path: string;
  /** Score of each category, 0 to 100, by Lighthouse's own id. */
  readonly scores: Readonly<Record<string, number>>;
  /**
   * First and largest contentful paint on a simulated phone with slow 4G, in milliseconds. The simulation has the
   * largest wait for the fonts; in a browser text waits a tenth of a second for them at most (`font-display: optional`).
   */
  readonly fcp_ms: number;
  readonly lcp_ms: number;
  readonly failing: readonly FailingAudit[];
}

/** An audit that lowers the score of a category, by Lighthouse's ids. */
export interface FailingAudit {
  readonly category: string;
  readonly id: string;
  readonly title: string;
}

/** Limits of every page. */
export const LIMITS = { score: 100, fcp_ms: 1000 } as const;

/** Lists in words the limits that a page misses; empty if it passes. */
export function listMisses(page: PageMeasure): string[] {
  const { scores, failing, fcp_ms } = page;
  const low = Object.entries(scores).filter(([, score]) => score < LIMITS.score);
  return [
    ...low.map(([category, score]) => {
      const ids = failing.filter((audit) => audit.category === category).map(({ id }) => id);
      return `${category} ${score}${ids.length > 0 ? `: ${ids.join(', ')}` : ''}`;
    }),
    ...(Object.keys(scores).length === 0 ? ['no category was scored'] : []),
    // NaN, for what could not be measured, is not below a limit and so fails.
    ...(fcp_ms < LIMITS.fcp_ms ? [] : [`first-contentful-paint ${Math.round(fcp_ms)} ms`]),
  ];
}

/** Returns the better of two measures of one page: other work on a machine makes a page slower, never faster. */
export function getBetter(one: PageMeasure, other: PageMeasure): PageMeasure {
  const [misses, others] = [listMisses(one).length, listMisses(other).length];
  if (misses !== others) return misses < others ? one : other;
  return one.fcp_ms <= other.fcp_ms ? one : other;
}
