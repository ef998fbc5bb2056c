import type { Reliability } from '../model/listing.ts';

/** Days of samples that a score looks back on (design contract, "Reliability, method version 1"). */
export const RELIABILITY_WINDOW_DAYS = 30;

/** What is said of a listing that nobody has sampled: nothing. There is no default score. */
export const UNSCORED: Reliability = Object.freeze({
  band: 'unscored',
  score: null,
  samples: 0,
  window_days: RELIABILITY_WINDOW_DAYS,
  last_sample_at: null,
});
