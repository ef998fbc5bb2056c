import type {
  CheckSeverity,
  CheckVerdict,
  CheckWarning,
  JudgedOffer,
  OfferFault,
  PayableRecord,
} from '../evidence/terms-check.ts';
import type { CautionCode } from '../model/caution.ts';
import type { Route } from '../model/route.ts';
import type { Tombstone } from './listing/record.ts';

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

/** A finer word for a verdict. Of `caution` it is the code of the gravest one. */
export type CheckReason =
  | UnknownReason
  | CautionCode
  | 'declared_only'
  | 'terms_differ'
  | 'cheaper'
  | 'not_on_record'
  | 'delisted'
  | OfferFault;

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
  /** Places in `accepts` of the offers that are safe to take: none unless the verdict is `match`. */
  safe_offers: number[];
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
