import type { CautionCode } from '../../model/caution.ts';
import type { Declaration } from '../../model/declaration.ts';
import type { Finding } from '../../model/finding.ts';

/** What a provider replies to a caution. */
export interface StatedReply {
  caution: CautionCode;
  /** Method and path as the catalogue writes them; null: that caution of the whole listing and all its routes. */
  route: string | null;
  /** The provider's words, cleaned, on one line. */
  text: string;
}

interface EntryWish {
  /** Where in the file it stands, such as `listings[0]`. */
  where: string;
  base_url: string;
  /** What it replies to cautions; null where that is no list, so that the replies on record stay. */
  replies: StatedReply[] | null;
}

/** What a provider wants of one listing. */
export type ProviderWish = EntryWish &
  (
    | {
        wish: 'out';
        /** The provider's words, cleaned; null where it gives none. */
        reason: string | null;
      }
    | {
        wish: 'in';
        /** What it declares of the listing; null where it only wants it back, or where that could not be taken. */
        declaration: Declaration | null;
        /** What it declares could not be taken: what it declared before still counts. */
        is_broken: boolean;
      }
  );

/** A provider's statement, everything in it about its own origin and safe to apply. */
export interface ProviderStatement {
  kind: 'statement';
  /** Address where it was read, which is the name of the source. */
  url: string;
  listings: ProviderWish[];
  /** Entries that it holds, those that were refused included. */
  entries: number;
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
