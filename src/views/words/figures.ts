import type { Latency } from '../../model/probe.ts';

/** Writes the day of an ISO 8601 UTC time as pages show it: `2026-11-20`. */
export function formatDay(time: string): string {
  return time.slice(0, 10);
}

/** Writes an ISO 8601 UTC time to the minute: `2026-11-20 12:00 UTC`. */
export function formatMinute(time: string): string {
  return `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;
}

/** Writes an ISO 8601 UTC time to the second: `2026-11-20 12:00:05 UTC`. */
export function formatSecond(time: string): string {
  return `${time.slice(0, 10)} ${time.slice(11, 19)} UTC`;
}

/** Counts of the catalogue, which are always shown with their time. */
export interface Counts {
  readonly live_listings: number;
  readonly settlement_verified: number;
  /** Time of the latest reader-visible change, ISO 8601 UTC. */
  readonly revised_at: string;
}

const integers = new Intl.NumberFormat('en');

/** Writes a whole number with thousands separated: `10,000`. */
export function formatInteger(count: number): string {
  return integers.format(count);
}

/** Writes the numbers of live and of verified listings, with their time. */
export function formatCounts({ live_listings, settlement_verified, revised_at }: Counts): string {
  const noun = live_listings === 1 ? 'live listing' : 'live listings';
  return `${formatInteger(live_listings)} ${noun}, ${formatInteger(settlement_verified)} of them settlement-verified, as of ${formatMinute(revised_at)}`;
}

const months = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });

/**
 * Writes what a catalogue holds in which nothing was probed yet: `63 APIs as their sources described them in March 2026; nothing
 * probed yet`. `declared` has the first and last time of its prices, ISO 8601 UTC.
 */
export function formatFresh(
  { live_listings }: Counts,
  declared: { readonly from: string; readonly to: string },
): string {
  const [first, last] = [declared.from, declared.to].map((time) => months.format(new Date(time)));
  const when = first === last ? `in ${first}` : `from ${first} to ${last}`;
  return `${formatCount(live_listings, 'API')} as their sources described them ${when}; nothing probed yet`;
}

/** Writes a count with its noun: `1 endpoint`, `2 endpoints`. */
export function formatCount(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** Writes the median time of an answer: `median 90 ms`. */
export function formatMedian({ median_ms }: Pick<Latency, 'median_ms'>): string {
  return `median ${formatInteger(median_ms)} ms`;
}
