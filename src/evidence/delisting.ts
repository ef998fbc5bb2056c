import { isConclusive, isPayable } from '../model/outcome.ts';
import type { ProbeSample } from '../model/sample.ts';
import { ROUND_MS } from './pace.ts';

/** When a listing is taken out by rule: both must hold. */
export const DELISTING_METHOD = { days_without_valid_402: 14, conclusive_failures: 10 } as const;

const DAY_MS = 24 * 60 * 60 * 1000;

/** How a listing has answered since its last valid 402. */
export interface FailingRun {
  /**
   * The last valid 402; where there never was one, the first conclusive sample. Time in which nobody looked counts
   * against nobody: then it is one round before the first failure.
   */
  since: string;
  /** Conclusive failures after that. */
  failures: number;
}

/** Finds the failing run that a listing is in; undefined while its latest conclusive sample is a valid 402, or there is none. */
export function findFailingRun(samples: readonly Pick<ProbeSample, 'at' | 'outcome'>[]): FailingRun | undefined {
  const conclusive = samples
    .filter(({ outcome }) => isConclusive(outcome))
    .toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  const lastValid = conclusive.findLastIndex(({ outcome }) => isPayable(outcome));
  const failures = conclusive.length - 1 - lastValid;
  const first = conclusive[lastValid + 1];
  if (!first) return undefined;
  const since = lastValid < 0 ? first.at : getRunStart(conclusive[lastValid]?.at ?? first.at, first.at);
  return { since, failures };
}

/** A listing that was looked at so soon after its last valid 402 was looked at all the time: two days, in milliseconds. */
const LOOKED_WITHIN_MS = 8 * ROUND_MS;

function getRunStart(lastValid: string, firstFailure: string): string {
  const gap = Date.parse(firstFailure) - Date.parse(lastValid);
  return gap <= LOOKED_WITHIN_MS ? lastValid : new Date(Date.parse(firstFailure) - ROUND_MS).toISOString();
}

/** Says whether a failing run has become long enough, in days and in failures, for the listing to be taken out. */
export function isLongEnoughToDelist({ since, failures }: FailingRun, at: string): boolean {
  const days = (Date.parse(at) - Date.parse(since)) / DAY_MS;
  return days >= DELISTING_METHOD.days_without_valid_402 && failures >= DELISTING_METHOD.conclusive_failures;
}

/** Fewer hosts than these tell nothing about us. */
export const TELLING_HOSTS = 5;

/**
 * Says whether the fault is more likely ours: while most of the hosts probed lately fail, nothing is taken out by rule.
 * Few hosts tell nothing about us, so below five it is never ours.
 */
export function isFaultOurs({ probed, failing }: { probed: number; failing: number }): boolean {
  return probed >= TELLING_HOSTS && failing * 2 > probed;
}
