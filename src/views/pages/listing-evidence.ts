import { isProofOld } from '../../evidence/verification.ts';
import type { DeclarationSource, SourceKind } from '../../model/declaration.ts';
import type { Listing } from '../../model/listing.ts';
import { describeOffer, formatCount, formatLastProved } from '../description.ts';
import { formatDay, formatMinute } from '../times.ts';

/** Who says what a listing says, and when it was seen to be so. */
export interface SourceRow {
  /** What kind of source it is, in words. */
  readonly kind: string;
  /** Address or file name of the source, as recorded. */
  readonly name: string;
  /** Day on which what it says was observed; null for a bare claim. */
  readonly observed_on: string | null;
  /** Where it was seen, if elsewhere than in the source itself; may be a web address. */
  readonly observed_in: string | null;
}

/** One network of a listing, as its page shows it. */
export interface NetworkRow {
  readonly label: string;
  /** Chain identifier: `eip155:8453`. */
  readonly id: string;
  /** What is known of it, in words. */
  readonly state: string;
}

const SOURCE_WORDS: Readonly<Record<SourceKind, string>> = {
  provider: "The provider's own announcement",
  manifest: 'A manifest kept by the catalogue',
  openapi: "The provider's OpenAPI document",
  bazaar: "A facilitator's discovery feed",
};

/** Builds the rows that say where a listing's claims come from. */
export function buildSourceRows(sources: readonly DeclarationSource[]): SourceRow[] {
  return sources.map(({ kind, name, observed_at, observed_in }) => ({
    kind: SOURCE_WORDS[kind],
    name,
    observed_on: observed_at === null ? null : formatDay(observed_at),
    observed_in: observed_in ?? null,
  }));
}

/** Builds the rows that say where a listing can be paid, and on what evidence. */
export function buildNetworkRows(listing: Listing): NetworkRow[] {
  return listing.networks.map((entry) => {
    const { label, id, last_seen_at, settlement_verified, last_verified_at } = entry;
    const seen = last_seen_at === null ? '' : `, last seen ${formatDay(last_seen_at)}`;
    const paid = last_verified_at === null ? 'never verified' : `last verified ${formatDay(last_verified_at)}`;
    const isOld = last_verified_at !== null && isProofOld(last_verified_at, listing.updated_at);
    const proved = isOld
      ? formatLastProved(last_verified_at)
      : `settlement-verified ${formatDay(last_verified_at ?? '')}`;
    const state = [`${describeOffer(listing, entry)}${seen}`, settlement_verified ? proved.trim() : paid];
    return { label, id, state: state.join('; ') };
  });
}

/** Says what is known of how reliably a listing answers: score, band, and what they rest on. */
export function formatReliabilityEvidence({ reliability }: Pick<Listing, 'reliability'>): string {
  const { band, score, samples, window_days, last_sample_at, days } = reliability;
  if (last_sample_at === null) {
    return days.length === 0 ? 'unscored, not yet sampled' : 'unscored, no sample so far tells anything';
  }
  const basis = `${formatCount(samples, 'sample')} in ${window_days} days, the last ${formatMinute(last_sample_at)}`;
  return score === null ? `unscored, too little is known (${basis})` : `${score} of 100, ${band} (${basis})`;
}
