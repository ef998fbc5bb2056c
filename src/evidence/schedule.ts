import { ROUND_MS } from './pace.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** The share of an interval by which a probe may come sooner or later, so that listings spread over the day. */
const JITTER = 0.1;

/**
 * Gives when a listing is to be probed next, ISO 8601 UTC: after six hours; one that fails as long again as it has been
 * failing, a day at most; one taken out by rule as long again as it has been out, a day at least and a week at most. Never
 * before its host wants to hear from us again. `failing_since` is the first failure after the last valid answer, null where
 * it answers as it should. `random` gives a number from 0 up to 1.
 */
export function getNextProbeAt(
  {
    at,
    failing_since,
    out_since,
    wait_until,
  }: { at: string; failing_since: string | null; out_since: string | null; wait_until: string | null },
  random: () => number,
): string {
  const now = Date.parse(at);
  const failing = failing_since === null ? 0 : now - Date.parse(failing_since);
  const interval =
    out_since === null
      ? Math.min(Math.max(failing, ROUND_MS), DAY_MS)
      : Math.min(Math.max(now - Date.parse(out_since), DAY_MS), 7 * DAY_MS);
  const due = now + interval * (1 + JITTER * (2 * random() - 1));
  return new Date(Math.max(due, wait_until === null ? 0 : Date.parse(wait_until))).toISOString();
}
