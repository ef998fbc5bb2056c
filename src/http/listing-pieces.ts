import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Published } from '../published/file.ts';
import type { SlugRange } from '../published/listings.ts';
import type { Reading } from '../published/reading.ts';
import type { Snapshot } from '../published/snapshot.ts';
import { deflatePiece, type Piece } from './gzip-pieces.ts';

/**
 * Number of listings in a new piece, and the most that it grows to: a change makes one piece again, which takes a tenth of a
 * millisecond for each of its listings.
 */
const CUT_AT = 100;
const MOST = 2 * CUT_AT;

/** Longest time for which pieces are made before other requests have their turn, in milliseconds. One piece takes some ten. */
const TURN_MS = 5;

/** A part of a document of all listings: its text about some consecutive listings. */
export interface ListingPiece extends Piece {
  /** The slug of the first listing, and the number of listings. */
  readonly first: string;
  readonly count: number;
  /** Time of the latest change of any of its listings. */
  readonly latest: string;
}

/** The listings from one slug on, up to the start of the next range. */
interface Range {
  readonly from: string;
  /** Undefined if it must be made; null if the range has no listing. */
  piece: ListingPiece | null | undefined;
}

/** The fields of a listing that pieces need. */
interface Item {
  readonly slug: string;
  readonly updated_at: string;
}

/** The functions with which a document reads a range of live listings, by slug, and writes its text about them. */
interface PieceSource<Listing extends Item> {
  readonly list: (published: Published, range: SlugRange) => readonly Listing[];
  readonly write: (listings: readonly Listing[], reading: Reading) => string;
}

/** The text of all live listings by slug, in pieces. A piece is made again when one of its listings changes. */
export interface ListingPieces {
  /**
   * Returns the pieces at one revision, and the result of `read` in the same transaction. Throws as `reading.readAtOnce` does.
   */
  get<Read>(
    reading: Reading,
    read: (snapshot: Snapshot, pieces: readonly ListingPiece[]) => Read,
  ): Promise<{ pieces: readonly ListingPiece[]; read: Read }>;
}

/** The pieces kept for a published catalogue. */
interface Kept {
  ranges: Range[];
  /** Number of openings of the file when the pieces were begun, and the revision up to which changes were noted. */
  openings: number;
  seen: number;
}

/** Keeps the pieces of all listings for a document that reads and writes them with the given functions. */
export function keepListingPieces<Listing extends Item>({ list, write }: PieceSource<Listing>): ListingPieces {
  const keptOf = new WeakMap<Published, Kept>();

  /** Returns the kept pieces, after marking those whose listings changed since. */
  const catchUp = (published: Published, { revision }: Snapshot): Kept => {
    const known = keptOf.get(published);
    const openings = published.getOpenings();
    const isSame = known?.openings === openings && revision >= known.seen;
    const kept = isSame ? known : { ranges: [{ from: '', piece: undefined }], openings, seen: revision };
    keptOf.set(published, kept);
    if (revision > kept.seen) {
      const changed = published
        .prepare<{ slug: string }>('SELECT slug FROM listings WHERE revision > +?')
        .all(kept.seen);
      for (const { slug } of changed) (kept.ranges[findRange(kept.ranges, slug)] as Range).piece = undefined;
      kept.seen = revision;
    }
    return kept;
  };

  /** Makes the first missing piece, and splits a range with too many listings. Returns false if none is missing. */
  const makeNext = ({ ranges }: Kept, reading: Reading): boolean => {
    const at = ranges.findIndex(({ piece }) => piece === undefined);
    const range = ranges[at];
    if (!range) return false;
    const listings = list(reading.published, { from: range.from, to: ranges[at + 1]?.from, limit: MOST + 1 });
    const own = listings.length > MOST ? listings.slice(0, CUT_AT) : listings;
    const [first] = own;
    const facts = { count: own.length, latest: getLatest(own) };
    range.piece = first ? { ...deflatePiece(write(own, reading)), first: first.slug, ...facts } : null;
    const rest = listings[own.length];
    if (rest) ranges.splice(at + 1, 0, { from: rest.slug, piece: undefined });
    return true;
  };

  return {
    async get(reading, read) {
      for (;;) {
        const got = reading.readAtOnce((snapshot) => {
          const kept = catchUp(reading.published, snapshot);
          const until = performance.now() + TURN_MS;
          while (makeNext(kept, reading)) if (performance.now() > until) return undefined;
          const pieces = kept.ranges.flatMap(({ piece }) => piece ?? []);
          return { pieces, read: read(snapshot, pieces) };
        });
        if (got) return got;
        await nextTurn();
      }
    },
  };
}

/** Returns the time of the latest change of some listings; empty for none. */
export function getLatest(listings: readonly Pick<Item, 'updated_at'>[]): string {
  const times = listings.map(({ updated_at }) => updated_at).sort();
  return times.at(-1) ?? '';
}

/** Finds the range that a slug is in. */
function findRange(ranges: readonly Range[], slug: string): number {
  let [low, high] = [0, ranges.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((ranges[middle] as Range).from <= slug) low = middle;
    else high = middle;
  }
  return low;
}
