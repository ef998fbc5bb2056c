import type { Change } from '../../model/change.ts';
import { describeDecision } from '../decision.ts';
import { describeReason } from '../reasons.ts';
import { formatDay } from '../times.ts';
import type { Tombstone } from '../tombstone.ts';

/** What a delisted listing's address answers, with status 410. */
export interface TombstonePage {
  readonly kind: 'gone';
  readonly slug: string;
  readonly id: string;
  /** Provider's text. */
  readonly title: string;
  readonly delisted_on: string;
  /** Who decided: `the operator of this catalogue`. */
  readonly delisted_by: string;
  /** The reason on record, in words: those of whoever decided, or what a rule's code means. */
  readonly reason: string;
  /** What the decision rests on, line by line; may be empty. */
  readonly evidence: readonly string[];
}

const DECIDERS: Readonly<Record<Tombstone['delisted_by'], string>> = {
  operator: 'the operator of this catalogue',
  provider: 'the provider',
  rule: 'a rule of this catalogue',
};

/** Builds the page model of a delisted listing; `decision` is the change by which it was taken out. */
export function buildTombstonePage(tombstone: Tombstone, decision?: Change): TombstonePage {
  return {
    kind: 'gone',
    slug: tombstone.slug,
    id: tombstone.id,
    title: tombstone.title,
    delisted_on: formatDay(tombstone.delisted_at),
    delisted_by: DECIDERS[tombstone.delisted_by],
    reason: formatReason(tombstone.reason),
    evidence: decision ? describeDecision(decision).evidence : [],
  };
}

/** A code that has no words of its own is spelled out. */
function formatReason(reason: string): string {
  const words = describeReason(reason);
  return /^[a-z0-9_]+$/.test(words) ? words.replaceAll('_', ' ') : words;
}
