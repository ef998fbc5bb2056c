import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Published } from '../published/file.ts';
import type { SlugRange } from '../published/listings.ts';
import type { Reading } from '../published/reading.ts';
import type { Snapshot } from '../published/snapshot.ts';
import { deflatePiece, type Piece } from './gzip-pieces.ts';

/** Number of listings of a piece when it is cut, and the most that it grows to. */
const CUT_AT = 250;
const MOST = 2 * CUT_AT;

/** Longest time that pieces are made before other requests have their turn, in milliseconds: one takes some ten. */
const TURN_MS = 5;

/** A part of a document of all listings: its text on some listings that follow each other. */
export interface ListingPiece extends Piece {
  /** The slug of the first, and how many they are. */
  readonly first: string;
  readonly count: number;
  /** Time of the latest change of any of them. */
  readonly latest: string;
}

/** The listings from one slug on, up to the first of the next range. */
interface Range {
  readonly from: string;
  /** Undefined while it is to be made; null where it has no listing. */
  piece: ListingPiece | null | undefined;
}

/** A listing as a document of all of them needs it. */
interface Item {
  readonly slug: string;
  readonly updated_at: string;
}

/** The functions by which a document reads some live listings, in the order of their slugs, and writes its text on them. */
interface Writing<Listing extends Item> {
  readonly list: (published: Published, range: SlugRange) => readonly Listing[];
  readonly write: (listings: readonly Listing[], reading: Reading) => string;
}

/** The text of all live listings in the order of their slugs, in pieces that are made again where a listing changed. */
export interface ListingPieces {
  /**
   * Gives the pieces as of one revision, and what `read` reads of it in the same transaction. Throws as `reading.readAtOnce` does.
   */
  get<Read>(
    reading: Reading,
    read: (snapshot: Snapshot, pieces: readonly ListingPiece[]) => Read,
  ): Promise<{ pieces: readonly ListingPiece[]; read: Read }>;
}

/** What is kept of a published catalogue. */
interface Kept {
  ranges: Range[];
  /** How often the file had been opened, and up to which revision its changes were looked at. */
  openings: number;
  seen: number;
}

/** Keeps the pieces of all listings, as a document reads and writes some of them. */
export function keepListingPieces<Listing extends Item>({ list, write }: Writing<Listing>): ListingPieces {
  const keptOf = new WeakMap<Published, Kept>();

  /** Gives what is kept, with note taken of what changed since the pieces were made. */
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

  /** Makes the first piece that is to be made. One with too many listings is cut. Returns false where none is left. */
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

/** Returns the time of the latest change of any of some listings; empty for none. */
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
