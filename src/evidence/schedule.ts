import { DAY_MS } from '../model/duration.ts';
import { ROUND_MS } from './rounds.ts';

/** The share of an interval by which a probe may come earlier or later, so that listings spread over the day. */
const JITTER = 0.1;

/** Longest pause between two looks at what is due, in milliseconds: new listings are due at once. */
export const LONGEST_PAUSE_MS = 60_000;

/** Returns the latest time of the next probe of a listing that answers, after one at `at`; both ISO 8601 UTC. */
export function getLatestProbeAt(at: string): string {
  return new Date(Date.parse(at) + ROUND_MS * (1 + JITTER)).toISOString();
}

/**
 * Returns when a listing is probed next, ISO 8601 UTC. Normally that is after six hours. A failing listing waits as
 * long as it has been failing, at most a day. A listing removed by a rule waits as long as it has been removed, at
 * least a day and at most a week. The time is never before `wait_until`, which its host asked for. `failing_since` is
 * the first failure after the last valid answer, null if it answers correctly. `random` returns a number from 0 up to
 * 1.
 */
export function getNextProbeAt(
  {
    at,
    failing_since,
    delisted_at,
    wait_until,
  }: { at: string; failing_since: string | null; delisted_at: string | null; wait_until: string | null },
  random: () => number,
): string {
  const now = Date.parse(at);
  const failing = failing_since === null ? 0 : now - Date.parse(failing_since);
  const interval =
    delisted_at === null
      ? Math.min(Math.max(failing, ROUND_MS), DAY_MS)
      : Math.min(Math.max(now - Date.parse(delisted_at), DAY_MS), 7 * DAY_MS);
  const due = now + interval * (1 + JITTER * (2 * random() - 1));
  return new Date(Math.max(due, wait_until === null ? 0 : Date.parse(wait_until))).toISOString();
}
