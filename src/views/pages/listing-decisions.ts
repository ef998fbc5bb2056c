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

/** How many decisions a page shows: the latest. */
export const MAX_DECISIONS = 10;

/** Kinds of which many are no more than sightings: a score that drifts, a route seen to ask what is declared. */
export const NOISY_KINDS: readonly ChangeKind[] = ['scored', 'routed'];

/** All other kinds that a page shows. That a listing was seen again unchanged is not shown. */
export const DECISION_KINDS = CHANGE_KINDS.filter((kind) => kind !== 'seen' && !NOISY_KINDS.includes(kind));

const EVIDENCE_LINES = 3;
const EVIDENCE_LENGTH = 200;

const names = z.array(z.unknown());
const bands = z.object({ from: z.object({ band: reliabilityBand }), to: z.object({ band: reliabilityBand }) });

const routes = z.object({ added: names, removed: names, terms: names.default([]) });

/** Builds the latest decisions about a listing, the latest first, from its changes in any order. */
export function buildDecisionRows(changes: readonly Change[]): DecisionRow[] {
  // Decisions of one revision stay in the order in which they were taken.
  const latest = changes.filter(isDecision).toSorted((a, b) => b.revision - a.revision);
  return latest.slice(0, MAX_DECISIONS).map((change) => {
    const { at, what, why, evidence } = describeDecision(change);
    const lines = evidence.slice(0, EVIDENCE_LINES).map((line) => cutText(line, EVIDENCE_LENGTH));
    return { at, when: formatMinute(at), what, why, evidence: lines };
  });
}

/** A score that drifts within its band is no decision, and neither is that a probe saw what was expected. */
function isDecision({ kind, reason, detail }: Change): boolean {
  if (kind === 'scored') {
    const { data } = bands.safeParse(detail);
    return data === undefined || data.from.band !== data.to.band;
  }
  if (kind !== 'routed' || reason !== 'probed') return true;
  const { data } = routes.safeParse(detail);
  return data === undefined || data.added.length + data.removed.length + data.terms.length > 0;
}
