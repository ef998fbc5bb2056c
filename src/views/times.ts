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
