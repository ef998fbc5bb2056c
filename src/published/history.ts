import type { Change } from '../model/change.ts';
import { DECISION_KINDS, MAX_DECISIONS, MAX_PRICE_STEPS, NOISY_KINDS } from '../views/listing/history.ts';
import { listChanges } from './changes.ts';
import type { Reading } from './reading.ts';

/** Changes of the noisy kinds looked through for decisions. */
const MAX_NOISE = 100;

/** What changed of a listing over time, as far as its page shows it; each the earliest first. */
export interface ListingHistory {
  readonly priced: readonly Change[];
  readonly decisions: readonly Change[];
}

/** A listing of no more changes than these has them read in one go; nearly every one is such. */
const FEW_CHANGES = 100;

/** Lists what changed of a listing, as far as its page shows it. Call it while the file stays at one revision. */
export function listHistory({ published }: Reading, slug: string): ListingHistory {
  const latest = listChanges(published, { slug, limit: FEW_CHANGES + 1 });
  const list = (kinds: readonly Change['kind'][], limit: number) => {
    if (latest.length > FEW_CHANGES) return listChanges(published, { slug, kinds, limit });
    return latest.filter(({ kind }) => kinds.includes(kind)).slice(-limit);
  };
  return {
    // One more than is shown, to know whether there are more.
    priced: list(['priced'], MAX_PRICE_STEPS + 1),
    decisions: [...list(DECISION_KINDS, MAX_DECISIONS), ...list(NOISY_KINDS, MAX_NOISE)],
  };
}

/** Finds the change by which a listing was delisted. */
export function findDelisting({ published }: Reading, slug: string): Change | undefined {
  return listChanges(published, { slug, kinds: ['delisted'], limit: 1 })[0];
}
