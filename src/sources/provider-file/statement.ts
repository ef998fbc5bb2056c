import type { Declaration } from '../../model/declaration.ts';
import type { Finding } from '../../model/finding.ts';

/** What a provider wants of one listing. */
export type ProviderWish =
  | {
      wish: 'out';
      base_url: string;
      /** The provider's words, cleaned; null where it gives none. */
      reason: string | null;
    }
  | {
      wish: 'in';
      base_url: string;
      /** What it declares of the listing; null where it only wants it back, or where that could not be taken. */
      declaration: Declaration | null;
      /** What it declares could not be taken: what it declared before stands. */
      is_broken: boolean;
    };

/** A provider's statement, everything in it about its own origin and safe to apply. */
export interface ProviderStatement {
  kind: 'statement';
  /** Address where it was read, which is the name of the source. */
  url: string;
  listings: ProviderWish[];
  /** False where an entry could not be read: then nothing that was declared before counts as taken back. */
  is_whole: boolean;
  findings: Finding[];
}

/** There is no statement: nothing follows from that. `reason` is a stable word, such as `not_found` or `timeout`. */
export interface NoStatement {
  kind: 'absent';
  url: string;
  reason: string;
}

/** Something stands there that is meant as a statement and cannot be read. */
export interface UnreadableStatement {
  kind: 'unreadable';
  url: string;
  findings: Finding[];
}
