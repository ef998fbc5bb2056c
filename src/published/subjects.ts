import type { JsonObject } from '../model/json.ts';

/** The kinds of changes of the state of a listing. */
const STATES = ['listed', 'held', 'delisted', 'relisted'];

/** The kinds of changes that always say more than that something was looked at again or worded otherwise. */
const TELLING = [...STATES, 'verified', 'unverified', 'cautioned', 'corrected'];

/**
 * Returns the subject of a change: the state of its listing, the verification of one route, one caution, one corrected
 * receipt, or else its kind. A later change of the same subject supersedes it.
 */
export function getSubject(kind: string, detail: JsonObject): string {
  if (STATES.includes(kind)) return 'state';
  if (kind === 'verified' || kind === 'unverified') return `verification of ${detail.route ?? ''}`;
  if (kind === 'cautioned' || kind === 'cleared') return `caution ${detail.code}`;
  return kind === 'corrected' ? `correction of ${detail.receipt_id}` : kind;
}

/** Returns whether something changed besides times, counts and wording. */
export function isTelling(kind: string, detail: JsonObject): boolean {
  if (kind === 'cleared') return detail.code !== 'never_seen';
  if (kind === 'priced') return isThere(isThere(detail.from) ? (detail.from as JsonObject).min : undefined);
  if (kind === 'routed') return detail.terms !== undefined || detail.undelivered !== undefined;
  return TELLING.includes(kind);
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}
