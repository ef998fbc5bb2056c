import type { ListingTerms, Terms } from './terms.ts';
import { createVocabulary } from './vocabulary.ts';

/*
 * Which documents each word is in. A document is a route with the words of its listing, or a listing that has no routes. How well
 * it has a word is worked out when it comes in, so that a search only adds: as well as the text of its listing does by BM25F, and of
 * what that lacks as well as the text of the route does.
 */

/** Saturation (k1 of BM25): the more a text says a word, the less once more adds. */
const SATURATION = 1;

/** Share of a text's length that counts against its words (b of BM25). */
const LENGTH_SHARE = 0.75;

/** Lengths of usual texts, in words, and the share of it that shorter ones count as: little text is no merit. */
const USUAL_LENGTHS = { listing: 30, route: 25 };
const SHORTEST_SHARE = 0.6;

/** A posting holds the number of a document, and in its low 8 bits how well the document has the word: 255 is best. */
export const SHARE_BITS = 8;
export const SHARE_MAX = (1 << SHARE_BITS) - 1;

/** Routes beyond this number, of all listings together, are not found by words. */
const DOCUMENTS_MAX = 2 ** (32 - SHARE_BITS);

/** The documents that a word is in. */
interface PostingList {
  postings: Uint32Array;
  length: number;
  /** How many listings have the word; those that were replaced are counted, too. */
  listings: number;
  /** While a listing is added: whether it was counted, and how well its own text has the word. */
  isCounted: boolean;
  ofListing: number;
}

/**
 * The words of the live listings, and the documents that they are in. A listing that is put again gets new documents. What was
 * there before stays in the lists, and is not looked at, until all of it is built again.
 */
export interface InvertedIndex {
  /** Number of documents, those that were replaced among them. */
  readonly documents: number;
  /** By the number of a listing its first document, and how many it has; none where it is not there. */
  readonly firsts: Uint32Array;
  readonly counts: Uint32Array;
  /** By document the number of its listing; 0 for one that is not there any more. */
  readonly listings: Uint32Array;
  /** Puts a listing: one document for each route, in their order, or one for a listing without. */
  put(listing: number, terms: ListingTerms): void;
  remove(listing: number): void;
  /** Counts the listings that have a stem; 0 for an unknown one. */
  count(stem: string): number;
  /** Lists the stems that a misspelt one may mean, the nearest and then most common first. */
  listNear(stem: string): string[];
  /** Lists the stems that begin so, the most common first. */
  listBeginning(start: string): string[];
  /** Finds the documents that have a stem: as many postings of the array as `length` says. */
  find(stem: string): { readonly postings: Uint32Array; readonly length: number } | undefined;
}

/** Makes an empty index. */
export function createInvertedIndex(): InvertedIndex {
  const lists = new Map<string, PostingList>();
  let documents = 0;
  let firsts = new Uint32Array(1024);
  let counts = new Uint32Array(1024);
  let listings = new Uint32Array(1024);
  /** Number of listings that were replaced or removed. */
  let removed = 0;

  /** A word that few listings have may be one of listings that are not there any more: these are looked at. */
  const count = (stem: string): number => {
    const list = lists.get(stem);
    if (!list || list.listings > removed) return list?.listings ?? 0;
    const live = new Set<number>();
    for (const posting of list.postings.subarray(0, list.length)) live.add(listings[posting >>> SHARE_BITS] as number);
    live.delete(0);
    return live.size;
  };
  const vocabulary = createVocabulary(count);

  const getList = (stem: string): PostingList => {
    const known = lists.get(stem);
    if (known) return known;
    const list = { postings: new Uint32Array(1), length: 0, listings: 0, isCounted: false, ofListing: 0 };
    lists.set(stem, list);
    vocabulary.add(stem);
    return list;
  };
  /** Returns the lists of the stems of a text, with how well it has each, from 0 to 1 (BM25F). */
  const listShares = ({ stems, length }: Terms, usualLength: number) => {
    const least = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * Math.max(SHORTEST_SHARE, length / usualLength));
    const shares: { list: PostingList; share: number }[] = [];
    for (const [weight, some] of stems) {
      const share = weight / (weight + least);
      for (const stem of some) shares.push({ list: getList(stem), share });
    }
    return shares;
  };
  const addPosting = (list: PostingList, share: number) => {
    if (list.length === list.postings.length) list.postings = grow(list.postings, list.length);
    list.postings[list.length] = (documents << SHARE_BITS) | Math.max(1, Math.round(SHARE_MAX * share));
    list.length += 1;
    list.listings += Number(!list.isCounted);
    list.isCounted = true;
  };
  const isInDocument = ({ postings, length }: PostingList) =>
    length > 0 && (postings[length - 1] as number) >>> SHARE_BITS === documents;

  const removeDocuments = (listing: number) => {
    const first = firsts[listing] ?? 0;
    listings.fill(0, first, first + (counts[listing] ?? 0));
    if ((counts[listing] ?? 0) > 0) removed += 1;
    if (listing < counts.length) counts[listing] = 0;
  };

  return {
    get documents() {
      return documents;
    },
    get firsts() {
      return firsts;
    },
    get counts() {
      return counts;
    },
    get listings() {
      return listings;
    },
    put(listing, { own, routes }) {
      removeDocuments(listing);
      const count = Math.max(1, routes.length);
      if (listing >= firsts.length) [firsts, counts] = [grow(firsts, listing), grow(counts, listing)];
      if (documents + count > listings.length) listings = grow(listings, documents + count);
      [firsts[listing], counts[listing]] = [documents, count];
      listings.fill(listing, documents, documents + count);
      const ofListing = listShares(own, USUAL_LENGTHS.listing);
      const ofRoutes = routes.map((route) => route && listShares(route, USUAL_LENGTHS.route));
      for (const { list, share } of ofListing) list.ofListing = share;
      // A route that is not to be found has no words, unless its listing has no other.
      const isBare = routes.every((route) => route === null);
      for (const ofRoute of routes.length === 0 ? [null] : ofRoutes) {
        if (documents < DOCUMENTS_MAX && (ofRoute !== null || isBare)) {
          for (const { list, share } of ofRoute ?? []) addPosting(list, share + (1 - share) * list.ofListing);
          for (const { list, share } of ofListing) if (!isInDocument(list)) addPosting(list, share);
        }
        documents += 1;
      }
      for (const { list } of [ofListing, ...ofRoutes].flatMap((shares) => shares ?? []))
        [list.isCounted, list.ofListing] = [false, 0];
    },
    remove: removeDocuments,
    count,
    listNear: vocabulary.listNear,
    listBeginning: vocabulary.listBeginning,
    find: (stem) => lists.get(stem),
  };
}

/** Returns a longer copy of an array, with room for a place and at least twice the room that it had. */
export function grow<A extends Int8Array | Uint8Array | Uint16Array | Uint32Array | Float64Array>(
  array: A,
  place: number,
): A {
  const longer = new (array.constructor as new (length: number) => A)(Math.max(place + 1, 2 * array.length));
  longer.set(array);
  return longer;
}
