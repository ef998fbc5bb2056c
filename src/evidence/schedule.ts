import { ROUND_MS } from './pace.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** The share of an interval by which a probe may come sooner or later, so that listings spread over the day. */
const JITTER = 0.1;

/**
 * Gives when a listing is to be probed next, ISO 8601 UTC. Every six hours, failing or not, because the score is a share
 * of samples taken at that pace; one taken out by rule as long again as it has been out, a day at least and a week at
 * most. Never before its host wants to hear from us again. `random` gives a number from 0 up to 1.
 */
export function getNextProbeAt(
  { at, out_since, wait_until }: { at: string; out_since: string | null; wait_until: string | null },
  random: () => number,
): string {
  const now = Date.parse(at);
  const out = out_since === null ? null : now - Date.parse(out_since);
  const interval = out === null ? ROUND_MS : Math.min(Math.max(out, DAY_MS), 7 * DAY_MS);
  const due = now + interval * (1 + JITTER * (2 * random() - 1));
  return new Date(Math.max(due, wait_until === null ? 0 : Date.parse(wait_until))).toISOString();
}
