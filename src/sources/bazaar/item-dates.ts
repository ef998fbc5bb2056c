import type { Note } from '../finding-codes.ts';

/** Clocks differ; a date this far ahead of ours is still taken as now. In milliseconds. */
const CLOCK_TOLERANCE_MS = 24 * 60 * 60 * 1000;

/** The x402 protocol is younger than this. */
const EARLIEST_MS = Date.UTC(2025, 0, 1);

/**
 * Reads when a feed says it last saw an item: ISO 8601, or seconds or milliseconds since 1970. Gives ISO 8601 UTC, at
 * most `pulledAt`; null where there is no date, or where it is not one, which is noted.
 */
export function readUpdatedAt(raw: unknown, pulledAt: string, note: Note): string | null {
  if (raw === undefined || raw === null || raw === '') return null;
  const time =
    typeof raw === 'number' ? (raw < 1e11 ? raw * 1000 : raw) : typeof raw === 'string' ? Date.parse(raw) : Number.NaN;
  const now = Date.parse(pulledAt);
  if (!(time >= EARLIEST_MS && time <= now + CLOCK_TOLERANCE_MS)) {
    note('bad_date');
    return null;
  }
  return new Date(Math.min(time, now)).toISOString();
}
