import { DAY_MS } from '../model/duration.ts';
import { isConclusive, isPayable, type ProbeSample } from '../model/probe.ts';
import { compareTexts } from '../model/text.ts';
import { ROUND_MS } from './rounds.ts';

/**
 * Limits at which a rule removes a listing: all must be reached. `turns`: most routes that must each have had their
 * turn.
 */
export const DELISTING_METHOD = { days_without_valid_402: 14, conclusive_failures: 10, turns: 40 } as const;

/** The run of failures that a listing is in. */
export interface FailingRun {
  /**
   * Time of the last valid 402; if there never was one, of the first conclusive sample. Time without probes does not
   * count against a listing: after a longer gap it is one round before the first failure.
   */
  since: string;
  /** Conclusive failures since then. */
  failures: number;
}

/**
 * Finds the failing run that a listing is in; undefined if its latest conclusive sample is a valid 402, or if it has
 * none.
 */
export function findFailingRun(samples: readonly Pick<ProbeSample, 'at' | 'outcome'>[]): FailingRun | undefined {
  const conclusive = samples
    .filter(({ outcome }) => isConclusive(outcome))
    .toSorted((a, b) => compareTexts(a.at, b.at));
  const lastValid = conclusive.findLastIndex(({ outcome }) => isPayable(outcome));
  const failures = conclusive.length - 1 - lastValid;
  const first = conclusive[lastValid + 1];
  if (!first) return undefined;
  const since = lastValid < 0 ? first.at : getRunStart(conclusive[lastValid]?.at ?? first.at, first.at);
  return { since, failures };
}

/** Longest gap between probes that does not interrupt a run, in milliseconds: two days. */
const KEPT_WATCH_MS = 8 * ROUND_MS;

function getRunStart(lastValid: string, firstFailure: string): string {
  const gap = Date.parse(firstFailure) - Date.parse(lastValid);
  return gap <= KEPT_WATCH_MS ? lastValid : new Date(Date.parse(firstFailure) - ROUND_MS).toISOString();
}

/**
 * Returns whether a failing run is long enough, in days and in failures, to remove a listing. The run is about `routes`
 * routes.
 */
export function isLongEnoughToDelist({ since, failures }: FailingRun, at: string, routes = 1): boolean {
  const days = (Date.parse(at) - Date.parse(since)) / DAY_MS;
  const { days_without_valid_402, conclusive_failures, turns } = DELISTING_METHOD;
  return days >= days_without_valid_402 && failures >= Math.max(conclusive_failures, Math.min(routes, turns));
}

/**
 * Returns whether a valid 402, without a failure after it, came after a rule removed the listing, or on the days that the
 * rule counted (it may have been recorded while the rule decided).
 */
export function hasAnsweredSince(
  delistedAt: string,
  { failing, routes }: { failing: FailingRun | undefined; routes: ReadonlyMap<string, { valid_at: string | null }> },
): boolean {
  const since = new Date(Date.parse(delistedAt) - DELISTING_METHOD.days_without_valid_402 * DAY_MS).toISOString();
  return failing === undefined && [...routes.values()].some(({ valid_at }) => valid_at !== null && valid_at > since);
}
