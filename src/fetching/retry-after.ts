/** Longest wait that is accepted, in seconds: a week. */
const MAX_SECONDS = 7 * 86_400;

/**
 * Parses `Retry-After`, a number of seconds or a date (RFC 9110 section 10.2.3), into seconds from `at`. Null for
 * anything else. A date in the past is 0, and anything longer than a week is a week.
 */
export function parseRetryAfter(header: string | null, at: Date): number | null {
  const text = header?.trim() ?? '';
  if (/^\d{1,15}$/.test(text)) return Math.min(Number(text), MAX_SECONDS);
  // `Date.parse` would read a bare number or a fraction as a year, so only real dates are parsed.
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return null;
  const date = Date.parse(text);
  if (Number.isNaN(date)) return null;
  return Math.min(Math.max(0, Math.ceil((date - at.getTime()) / 1000)), MAX_SECONDS);
}
