import type { CautionCode } from '../../model/caution.ts';
import type { Declaration, Finding } from '../../model/declaration.ts';

/** A provider's reply to a caution. */
export interface StatedReply {
  caution: CautionCode;
  /** Method and path as the catalogue writes them; null: that caution of the whole listing and all its routes. */
  route: string | null;
  /** The provider's words, cleaned, on one line. */
  text: string;
}

interface RequestBase {
  /** Its place in the file, such as `listings[0]`. */
  where: string;
  base_url: string;
  /** Its replies to cautions; null if they are not a list, so that the replies on record stay. */
  replies: StatedReply[] | null;
}

/** A provider's request for one listing: to list it, or to remove it and keep it out. */
export type ProviderRequest = RequestBase &
  (
    | {
        asks: 'remove';
        /** The provider's words, cleaned; null if it gives none. */
        reason: string | null;
      }
    | {
        asks: 'list';
        /**
         * Its declaration of the listing; null if it only asks to list it, or if the declaration could not be taken.
         */
        declaration: Declaration | null;
        /** True if its declaration could not be taken; then the earlier one still counts. */
        is_broken: boolean;
      }
  );

/** A provider's statement. Everything in it is about its own origin and safe to apply. */
export interface ProviderStatement {
  kind: 'statement';
  /** Address of the statement, which is the name of the source. */
  url: string;
  listings: ProviderRequest[];
  /** Number of its entries, including refused ones. */
  entries: number;
  /** False if an entry could not be read. Then earlier declarations do not count as withdrawn. */
  is_whole: boolean;
  findings: Finding[];
}

/**
 * The absence of a statement, which has no consequences. `reason` is a stable code, such as `not_found` or `timeout`.
 */
export interface NoStatement {
  kind: 'absent';
  url: string;
  reason: string;
}

/** A statement that cannot be read. */
export interface UnreadableStatement {
  kind: 'unreadable';
  url: string;
  findings: Finding[];
}
