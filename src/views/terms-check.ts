import type { CheckWarning, JudgedOffer, OfferFault, PayableRecord } from '../evidence/terms-check.ts';
import type { Route } from '../model/route.ts';
import type { Tombstone } from './tombstone.ts';

/** Whether terms are those on record: they are, they are not, nothing is known of the route, or it was taken out. */
export const CHECK_VERDICTS = ['match', 'mismatch', 'unknown_route', 'delisted'] as const;
export type CheckVerdict = (typeof CHECK_VERDICTS)[number];

/**
 * How much a verdict matters. `none`: as on record. `notice`: worth knowing before paying, such as a lower price, or that
 * nothing is on record. `danger`: a payment would be another one than is on record.
 */
export const CHECK_SEVERITIES = ['none', 'notice', 'danger'] as const;
export type CheckSeverity = (typeof CHECK_SEVERITIES)[number];

/** Why a route is not known. `no_terms`: it is listed, and what it costs is not on record. */
export const UNKNOWN_REASONS = [
  'host_not_listed',
  'path_not_listed',
  'other_method',
  'not_https',
  'not_itemised',
  'no_terms',
] as const;
export type UnknownReason = (typeof UNKNOWN_REASONS)[number];

/** A finer word for a verdict. */
export type CheckReason = UnknownReason | 'terms_differ' | 'cheaper' | 'not_on_record' | 'delisted' | OfferFault;

/** A route on record as a check tells of it. */
export interface CheckedRoute extends PayableRecord, Pick<Route, 'method' | 'verification'> {
  listing: string;
  url: string;
}

/** What a comparison with the record came to. Text in `offers` and `resources` is a provider's. */
export interface TermsCheck {
  /** The call as it was asked about. */
  asked: { method: string; url: string };
  verdict: CheckVerdict;
  severity: CheckSeverity;
  /** Null for a match. */
  reason: CheckReason | null;
  offers: JudgedOffer[];
  warnings: CheckWarning[];
  /** Time of the latest evidence that this rests on; null where there is none. */
  evidence_at: string | null;
  /** The route on record; null where none is known. */
  route: CheckedRoute | null;
  /** Slug of the listing that the address belongs to. */
  listing: string | null;
  /** Routes of the same host that may have been meant. */
  nearest: CheckedRoute[];
  tombstone: Tombstone | null;
  /** What the challenge says it is for, where that is something else than was called. */
  resources: string[];
}
