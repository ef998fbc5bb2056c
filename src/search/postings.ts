import { type Entry, type EntryDocument, listDocuments } from './entry.ts';
import { createPacked, findMask, growArray, MASK, MASK_BITS, type Packed, repack } from './packed.ts';
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

/** Numbers of routes are used once. From this many on, lists of which most are gone are worn. */
const WORN_FROM = 1 << 18;
const WORN_SHARE = 4;

/** Routes of one listing beyond this are not found by their own words. */
const ROUTES_MAX = 0xffff;

/**
 * In which listings, and in which of their routes, each word is. The lists are packed into typed arrays; what changed since
 * stands beside them by listing, and what the lists say of those is passed over: a change costs no more than the
 * listing's own words.
 */
export class Postings {
  readonly #facts = new Facts();
  readonly #loose = new Map<number, readonly EntryDocument[]>();
  #listings = createPacked();
  #routes = createPacked();
  #counts: Uint32Array = new Uint32Array(0);

  /** Builds the lists of a catalogue's entries. */
  constructor(entries: readonly Entry[]) {
    this.#pack(entries.map((entry) => [entry.listing, this.#note(entry)]));
  }

  /** Puts entries in place of what was there; one without documents removes its listing. */
  put(entries: readonly Entry[]): void {
    for (const entry of entries) {
      const documents = this.#note(entry);
      this.#facts.isReplaced[entry.listing] = 1;
      if (documents.length > 0) this.#loose.set(entry.listing, documents);
      else this.#loose.delete(entry.listing);
    }
    if (this.#loose.size > Math.max(LOOSE_MIN, this.#facts.size * LOOSE_SHARE)) this.#pack([...this.#loose]);
  }

  /** Counts the listings that a word is in; those that changed since the lists were packed may count twice. */
  count(word: number): number {
    let count = this.#counts[word] ?? 0;
    for (const documents of this.#loose.values()) {
      if (documents.some(({ terms }) => findMask(terms, word) !== 0)) count += 1;
    }
    return count;
  }

  /** Calls `visit` with each listing whose own texts a word is in, and the mask of the fields. */
  visitListings(word: number, visit: Visit): void {
    const { isReplaced } = this.#facts;
    const { starts, lists } = this.#listings;
    const end = starts[word + 1] ?? 0;
    for (let at = starts[word] ?? 0; at < end; at += 1) {
      const posting = lists[at] as number;
      const listing = posting >>> MASK_BITS;
      if (isReplaced[listing] === 0) visit(listing, posting & MASK);
    }
    for (const [listing, [own]] of this.#loose) {
      const mask = own ? findMask(own.terms, word) : 0;
      if (mask !== 0) visit(listing, mask);
    }
  }

  /** Calls `visit` with each route that a word is in, those of one listing one after the other. */
  visitRoutes(word: number, visit: Visit): void {
    const { listingOfRoute, firstRoutes } = this.#facts;
    const { starts, lists } = this.#routes;
    const end = starts[word + 1] ?? 0;
    for (let at = starts[word] ?? 0; at < end; at += 1) {
      const posting = lists[at] as number;
      const route = posting >>> MASK_BITS;
      if (listingOfRoute[route] !== GONE) visit(route, posting & MASK);
    }
    for (const [listing, documents] of this.#loose) {
      const first = firstRoutes[listing] as number;
      for (let at = 1; at < documents.length; at += 1) {
        const mask = findMask((documents[at] as EntryDocument).terms, word);
        if (mask !== 0) visit(first + at - 1, mask);
      }
    }
  }

  /** Returns what is known of documents beside their words, as of now. */
  getFacts(): DocumentFacts {
    return this.#facts;
  }

  /** Returns how many listings have words. */
  getSize(): number {
    return this.#facts.size;
  }

  /** Says whether the lists should be built again, because many of their routes were removed. */
  isWorn(): boolean {
    const { routes, liveRoutes } = this.#facts;
    return routes > WORN_FROM && routes > WORN_SHARE * liveRoutes;
  }

  #note(entry: Entry): readonly EntryDocument[] {
    const documents = listDocuments(entry.documents).slice(0, 1 + ROUTES_MAX);
    this.#facts.put(entry, documents);
    return documents;
  }

  /** Packs documents in, without what the lists say of listings that were replaced and of routes that are gone. */
  #pack(documents: readonly (readonly [listing: number, documents: readonly EntryDocument[]])[]): void {
    const { isReplaced, listingOfRoute, firstRoutes } = this.#facts;
    this.#listings = repack(
      this.#listings,
      (listing) => isReplaced[listing] !== 0,
      documents.flatMap(([listing, [own]]) => (own ? { document: listing, terms: own.terms } : [])),
    );
    // Routes that are packed in have numbers that the lists do not know yet; older ones are gone.
    this.#routes = repack(
      this.#routes,
      (route) => listingOfRoute[route] === GONE,
      documents.flatMap(([listing, [, ...routes]]) =>
        routes.map(({ terms }, at) => ({ document: (firstRoutes[listing] as number) + at, terms })),
      ),
    );
    this.#counts = countListings(this.#listings, this.#routes, this.#facts);
    this.#loose.clear();
    isReplaced.fill(0);
  }
}

/** What is known of documents beside their words. */
export type DocumentFacts = Readonly<Omit<Facts, 'put'>>;

class Facts {
  /** Number of places for listings, and for routes. */
  listings = 1;
  routes = 0;
  /** Number of listings that have words, and of their routes. */
  size = 0;
  liveRoutes = 0;
  /** How many words the texts of each listing itself have, by its number. */
  listingLengths = new Uint8Array(1024);
  routeLengths = new Uint8Array(1024);
  /** The listing of each route; `GONE` for a route that is not there any more. */
  listingOfRoute = new Uint32Array(1024);
  /** Where the routes of each listing begin, and how many there are. */
  firstRoutes = new Uint32Array(1024);
  routeCounts = new Uint16Array(1024);
  /** 1 for each listing that has words. */
  isLive = new Uint8Array(1024);
  /** 1 for each listing of which the packed lists say what was before. */
  isReplaced = new Uint8Array(1024);
  /** What each listing is about, one vector after the other. */
  vectors = new Int8Array(1024 * DIMENSIONS);

  /** Notes what is known of a listing and its routes, which get new numbers. */
  put({ listing, vector }: Entry, [own, ...ofRoutes]: readonly EntryDocument[]): void {
    this.#makeRoom(listing + 1, this.routes + ofRoutes.length);
    const [first, count] = [this.firstRoutes[listing] as number, this.routeCounts[listing] as number];
    this.listingOfRoute.fill(GONE, first, first + count);
    this.liveRoutes += ofRoutes.length - count;
    this.size += Number(own !== undefined) - (this.isLive[listing] as number);
    this.isLive[listing] = Number(own !== undefined);
    this.listingLengths[listing] = own?.length ?? 0;
    this.firstRoutes[listing] = this.routes;
    this.routeCounts[listing] = ofRoutes.length;
    this.vectors.fill(0, listing * DIMENSIONS, (listing + 1) * DIMENSIONS);
    this.vectors.set(vector, listing * DIMENSIONS);
    for (const { length } of ofRoutes) {
      this.routeLengths[this.routes] = length;
      this.listingOfRoute[this.routes] = listing;
      this.routes += 1;
    }
  }

  #makeRoom(listings: number, routes: number): void {
    this.listings = Math.max(this.listings, listings);
    if (listings > this.isLive.length) {
      this.isLive = growArray(this.isLive, listings);
      this.isReplaced = growArray(this.isReplaced, listings);
      this.listingLengths = growArray(this.listingLengths, listings);
      this.firstRoutes = growArray(this.firstRoutes, listings);
      this.routeCounts = growArray(this.routeCounts, listings);
      this.vectors = growArray(this.vectors, this.isLive.length * DIMENSIONS);
    }
    if (routes > this.listingOfRoute.length) {
      this.routeLengths = growArray(this.routeLengths, routes);
      this.listingOfRoute = growArray(this.listingOfRoute, routes);
    }
  }
}

/** Counts by word the listings that have it, in their own texts or in those of a route. */
function countListings(listings: Packed, routes: Packed, { listingOfRoute, isLive }: DocumentFacts): Uint32Array {
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
