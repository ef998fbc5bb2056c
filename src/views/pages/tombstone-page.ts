import { ASKED_BY_PROVIDER } from '../../evidence/changes.ts';
import type { Change } from '../../model/change.ts';
import { describeEvidence } from '../decision.ts';
import { describeReason } from '../reasons.ts';
import { formatDay } from '../times.ts';
import type { Tombstone } from '../tombstone.ts';
import { formatName } from './listing-page.ts';

/** What a delisted listing's address answers, with status 410. */
export interface TombstonePage {
  readonly kind: 'gone';
  readonly slug: string;
  readonly id: string;
  /** Provider's text. */
  readonly title: string;
  /** Host that it was called at. */
  readonly host: string;
  /** Title and host in one line. */
  readonly name: string;
  readonly delisted_on: string;
  /** Who decided: `the operator of this catalogue`. */
  readonly delisted_by: string;
  /** The reason on record, in words: those of the one who decided, or what a rule's code means. */
  readonly reason: string;
  /** What the decision rests on, line by line; may be empty. */
  readonly evidence: readonly string[];
}

const DECIDERS: Readonly<Record<Tombstone['delisted_by'], string>> = {
  operator: 'the operator of this catalogue',
  provider: 'the provider',
  rule: 'a rule of this catalogue',
};

/** Builds the page model of a delisted listing; `decision` is the change by which it was removed. */
export function buildTombstonePage(tombstone: Tombstone, decision?: Change): TombstonePage {
  return {
    kind: 'gone',
    slug: tombstone.slug,
    id: tombstone.id,
    title: tombstone.title,
    host: tombstone.host,
    name: formatName(tombstone.title, tombstone.host),
    delisted_on: formatDay(tombstone.delisted_at),
    delisted_by: DECIDERS[tombstone.delisted_by],
    reason: formatReason(tombstone),
    evidence: decision ? describeEvidence(decision.detail) : [],
  };
}

/** Only a rule speaks in codes of ours, and a provider who gives no words; such a code without words is spelled out. */
function formatReason({ delisted_by, reason }: Tombstone): string {
  const isCode = delisted_by === 'rule' || reason === ASKED_BY_PROVIDER;
  const words = isCode ? describeReason(reason) : reason;
  return /^[a-z0-9_]+$/.test(words) ? words.replaceAll('_', ' ') : words;
}
