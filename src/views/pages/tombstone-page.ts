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
  /** The reason as recorded: a code, or the operator's words. */
  readonly reason: string;
}

const DECIDERS: Readonly<Record<Tombstone['delisted_by'], string>> = {
  operator: 'the operator of this catalogue',
  provider: 'the provider',
  rule: 'a rule of this catalogue',
};

/** Builds the page model of a delisted listing. */
export function buildTombstonePage(tombstone: Tombstone): TombstonePage {
  return {
    kind: 'gone',
    slug: tombstone.slug,
    id: tombstone.id,
    title: tombstone.title,
    delisted_on: formatDay(tombstone.delisted_at),
    delisted_by: DECIDERS[tombstone.delisted_by],
    reason: tombstone.reason.replaceAll('_', ' '),
  };
}
