import { type Entry, type EntryDocument, listDocuments } from './entry.ts';
import { findMask, growArray, MASK, MASK_BITS, type Packed, packDocuments, repack } from './packed.ts';
import { DIMENSIONS } from './vectors.ts';

/**
 * Entries that changed since the lists were packed stand beside them, up to this share of all; then they are packed in.
 * Packing 100,000 listings takes about as long as ten searches.
 */
const LOOSE_SHARE = 1 / 100;
const LOOSE_MIN = 64;

/** No listing has this number: it stands for the listing of a route that is gone. */
const GONE = 0;

type Visit = (document: number, mask: number) => void;

/**
 * In which listings, and in which of their routes, each word is. The lists are packed into typed arrays; what changed since
 * stands beside them by listing, and what the lists say of those is passed over: a change costs no more than the
 * listing's own words.
 */
export interface Postings {
  /** Puts entries in place of what was there; one without documents removes its listing. */
  put(entries: readonly Entry[]): void;
  /** Counts the listings that a word is in; those that changed since the lists were packed may count twice. */
  count(word: number): number;
  /** Calls `visit` with each listing whose own texts a word is in, and the mask of the fields. */
  visitListings(word: number, visit: Visit): void;
  /** Calls `visit` with each route that a word is in, those of one listing one after the other. */
  visitRoutes(word: number, visit: Visit): void;
  /** What is known of documents beside their words, as of now. */
  getFacts(): DocumentFacts;
  /** How many listings have words. */
  getSize(): number;
  /** Says whether the lists should be built again, because many of their routes were removed. */
  isWorn(): boolean;
}

/** Numbers of routes are used once. From this many on, lists of which most are gone are worn. */
const WORN_FROM = 1 << 18;
const WORN_SHARE = 4;

/** What is known of documents beside their words. */
export interface DocumentFacts {
  /** How many words the texts of each listing itself have, by its number. */
  readonly listingLengths: Uint8Array;
  readonly routeLengths: Uint8Array;
  /** The listing of each route; `GONE` for a route that is not there any more. */
  readonly listingOfRoute: Uint32Array;
  /** Where the routes of each listing begin, and how many there are. */
  readonly firstRoutes: Uint32Array;
  readonly routeCounts: Uint16Array;
  /** What each listing is about, one vector after the other. */
  readonly vectors: Int8Array;
  /** How many listings and routes there are places for. */
  readonly listings: number;
  readonly routes: number;
}

/** Routes of one listing beyond this are not found by their own words. */
const ROUTES_MAX = 0xffff;

/** Builds the lists of a catalogue's entries. */
export function buildPostings(entries: readonly Entry[]): Postings {
  const arrays = {
    listingLengths: new Uint8Array(1024),
    firstRoutes: new Uint32Array(1024),
    routeCounts: new Uint16Array(1024),
    isLive: new Uint8Array(1024),
    isReplaced: new Uint8Array(1024),
    routeLengths: new Uint8Array(1024),
    listingOfRoute: new Uint32Array(1024),
  };
  let vectors = new Int8Array(1024 * DIMENSIONS);
  let [listings, routes, liveRoutes, size] = [1, 0, 0, 0];
  const loose = new Map<number, readonly EntryDocument[]>();

  /** Notes what is known of a listing and its routes, which get new numbers. */
  const note = ({ listing, vector }: Entry, documents: readonly EntryDocument[]) => {
    listings = Math.max(listings, listing + 1);
    if (listing >= arrays.isLive.length) {
      for (const name of ['listingLengths', 'isLive', 'isReplaced'] as const) {
        arrays[name] = growArray(arrays[name], listing + 1);
      }
      arrays.firstRoutes = growArray(arrays.firstRoutes, listing + 1);
      arrays.routeCounts = growArray(arrays.routeCounts, listing + 1);
      const longer = new Int8Array(arrays.isLive.length * DIMENSIONS);
      longer.set(vectors);
      vectors = longer;
    }
    const before = arrays.firstRoutes[listing] as number;
    arrays.listingOfRoute.fill(GONE, before, before + (arrays.routeCounts[listing] as number));
    const [own, ...ofRoutes] = documents;
    liveRoutes += ofRoutes.length - (arrays.routeCounts[listing] as number);
    size += Number(own !== undefined) - (arrays.isLive[listing] as number);
    arrays.isLive[listing] = Number(own !== undefined);
    arrays.listingLengths[listing] = own?.length ?? 0;
    arrays.firstRoutes[listing] = routes;
    arrays.routeCounts[listing] = ofRoutes.length;
    vectors.fill(0, listing * DIMENSIONS, (listing + 1) * DIMENSIONS);
    vectors.set(vector, listing * DIMENSIONS);
    if (routes + ofRoutes.length > arrays.listingOfRoute.length) {
      arrays.routeLengths = growArray(arrays.routeLengths, routes + ofRoutes.length);
      arrays.listingOfRoute = growArray(arrays.listingOfRoute, routes + ofRoutes.length);
    }
    for (const { length } of ofRoutes) {
      arrays.routeLengths[routes] = length;
      arrays.listingOfRoute[routes] = listing;
      routes += 1;
    }
  };

  const listRoutesOf = (listing: number, documents: readonly EntryDocument[]) =>
    documents.slice(1).map(({ terms }, at) => ({ document: (arrays.firstRoutes[listing] as number) + at, terms }));

  const parsed = entries.map((entry) => {
    const documents = listDocuments(entry.documents).slice(0, 1 + ROUTES_MAX);
    note(entry, documents);
    return { listing: entry.listing, documents };
  });
  let packedListings = packDocuments(
    parsed.flatMap(({ listing, documents: [own] }) => (own ? { document: listing, terms: own.terms } : [])),
  );
  let packedRoutes = packDocuments(parsed.flatMap(({ listing, documents }) => listRoutesOf(listing, documents)));
  let counts = countListings(packedListings, packedRoutes, arrays);

  const repackAll = () => {
    const changed = [...loose];
    packedListings = repack(
      packedListings,
      (listing) => arrays.isReplaced[listing] !== 0,
      changed.flatMap(([listing, [own]]) => (own ? { document: listing, terms: own.terms } : [])),
    );
    // Routes of what is loose have numbers that the lists do not know yet; older ones are gone.
    packedRoutes = repack(
      packedRoutes,
      (route) => arrays.listingOfRoute[route] === GONE,
      changed.flatMap(([listing, documents]) => listRoutesOf(listing, documents)),
    );
    counts = countListings(packedListings, packedRoutes, arrays);
    loose.clear();
    arrays.isReplaced.fill(0);
  };

  return {
    put(changed) {
      for (const entry of changed) {
        const documents = listDocuments(entry.documents).slice(0, 1 + ROUTES_MAX);
        note(entry, documents);
        arrays.isReplaced[entry.listing] = 1;
        if (documents.length > 0) loose.set(entry.listing, documents);
        else loose.delete(entry.listing);
      }
      if (loose.size > Math.max(LOOSE_MIN, size * LOOSE_SHARE)) repackAll();
    },
    count(word) {
      let count = counts[word] ?? 0;
      for (const documents of loose.values()) {
        if (documents.some(({ terms }) => findMask(terms, word) !== 0)) count += 1;
      }
      return count;
    },
    visitListings(word, visit) {
      const { starts, lists } = packedListings;
      const end = starts[word + 1] ?? 0;
      for (let at = starts[word] ?? 0; at < end; at += 1) {
        const posting = lists[at] as number;
        const listing = posting >>> MASK_BITS;
        if (arrays.isReplaced[listing] === 0) visit(listing, posting & MASK);
      }
      for (const [listing, [own]] of loose) {
        const mask = own ? findMask(own.terms, word) : 0;
        if (mask !== 0) visit(listing, mask);
      }
    },
    visitRoutes(word, visit) {
      const { starts, lists } = packedRoutes;
      const end = starts[word + 1] ?? 0;
      for (let at = starts[word] ?? 0; at < end; at += 1) {
        const posting = lists[at] as number;
        const route = posting >>> MASK_BITS;
        if (arrays.listingOfRoute[route] !== GONE) visit(route, posting & MASK);
      }
      for (const [listing, documents] of loose) {
        const first = arrays.firstRoutes[listing] as number;
        for (let at = 1; at < documents.length; at += 1) {
          const mask = findMask((documents[at] as EntryDocument).terms, word);
          if (mask !== 0) visit(first + at - 1, mask);
        }
      }
    },
    getFacts: () => ({ ...arrays, vectors, listings, routes }),
    getSize: () => size,
    isWorn: () => routes > WORN_FROM && routes > WORN_SHARE * liveRoutes,
  };
}

/** Counts by word the listings that have it, in their own texts or in those of a route. */
function countListings(
  listings: Packed,
  routes: Packed,
  { listingOfRoute, isLive }: { listingOfRoute: Uint32Array; isLive: Uint8Array },
): Uint32Array {
  const words = Math.max(listings.starts.length, routes.starts.length) - 1;
  const counts = new Uint32Array(Math.max(0, words));
  const seen = new Uint32Array(isLive.length);
  for (let word = 0; word < words; word += 1) {
    let count = 0;
    const see = (listing: number) => {
      if (seen[listing] === word + 1) return;
      seen[listing] = word + 1;
      count += 1;
    };
    const [endOfListings, endOfRoutes] = [listings.starts[word + 1] ?? 0, routes.starts[word + 1] ?? 0];
    for (let at = listings.starts[word] ?? 0; at < endOfListings; at += 1) {
      see((listings.lists[at] as number) >>> MASK_BITS);
    }
    for (let at = routes.starts[word] ?? 0; at < endOfRoutes; at += 1) {
      see(listingOfRoute[(routes.lists[at] as number) >>> MASK_BITS] as number);
    }
    counts[word] = count;
  }
  return counts;
}
