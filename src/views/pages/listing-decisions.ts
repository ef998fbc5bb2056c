import { z } from 'zod';
import { CHANGE_KINDS, type Change, type ChangeKind } from '../../model/change.ts';
import { reliabilityBand } from '../../model/listing.ts';
import { cutText } from '../../model/text.ts';
import { describeDecision } from '../decision.ts';
import { formatMinute } from '../times.ts';

/** One decision about a listing, as its page shows it. */
export interface DecisionRow {
  /** ISO 8601 UTC. */
  readonly at: string;
  /** The same as a reader reads it, to the minute. */
  readonly when: string;
  readonly what: string;
  readonly why: string;
  /** The first lines of what it rests on, each cut to a length. Partly in the words of sources. */
  readonly evidence: readonly string[];
}

/** So many decisions a page shows: the latest. */
export const MAX_DECISIONS = 10;

/** What a page shows of decisions: all but sightings, and scores only where the band moved. */
export const DECISION_KINDS: readonly ChangeKind[] = CHANGE_KINDS.filter(
  (kind) => kind !== 'seen' && kind !== 'scored',
);

const EVIDENCE_LINES = 3;
const EVIDENCE_LENGTH = 200;

const bands = z.object({ from: z.object({ band: reliabilityBand }), to: z.object({ band: reliabilityBand }) });

/** Builds the latest decisions about a listing, the latest first, from its changes in any order. */
export function buildDecisionRows(changes: readonly Change[]): DecisionRow[] {
  const decisions = changes.filter((change) => change.kind !== 'scored' || isOtherBand(change));
  // Decisions of one revision stay in the order in which they were taken.
  const latest = decisions.toSorted((a, b) => b.revision - a.revision).slice(0, MAX_DECISIONS);
  return latest.map((change) => {
    const { at, what, why, evidence } = describeDecision(change);
    const lines = evidence.slice(0, EVIDENCE_LINES).map((line) => cutText(line, EVIDENCE_LENGTH));
    return { at, when: formatMinute(at), what, why, evidence: lines };
  });
}

/** A score that drifts within its band is no decision. */
function isOtherBand({ detail }: Change): boolean {
  const { data } = bands.safeParse(detail);
  return data === undefined || data.from.band !== data.to.band;
}
