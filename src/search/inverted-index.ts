import type { ListingTerms, Terms } from './terms.ts';
import { createVocabulary } from './vocabulary.ts';

/*
 * The documents of each word. A document is a route with the words of its listing, or a listing without routes. Its share of each
 * word is computed when it is added, so a search only adds numbers up: the share of the listing's text by BM25F, plus the share
 * of the route's text of what is missing to 1.
 */

/** Saturation (k1 of BM25): the more often a text has a word, the less one more occurrence adds. */
const SATURATION = 1;

/** Share of a text's length that lowers the weight of its words (b of BM25). */
const LENGTH_SHARE = 0.75;

/** Usual lengths of texts, in words, and the least share of them that a text counts as, since a short text is no merit. */
const USUAL_LENGTHS = { listing: 30, route: 25 };
const SHORTEST_SHARE = 0.6;

/** A posting holds the number of a document, and in its low 8 bits the document's share of the word: 255 is best. */
export const SHARE_BITS = 8;
export const SHARE_MAX = (1 << SHARE_BITS) - 1;

/** Most documents of all listings together. Routes beyond are not found by words. */
const DOCUMENTS_MAX = 2 ** (32 - SHARE_BITS);

/** The documents that a word is in. */
interface PostingList {
  postings: Uint32Array;
  length: number;
  /** Number of listings that have the word, replaced ones included. */
  listings: number;
  /** State while a listing is added: whether it was counted, and the share of its own text. */
  isCounted: boolean;
  ofListing: number;
}

/**
 * The words of the live listings, and the documents that have them. A listing that is put again gets new documents. Its old
 * documents stay in the lists, but are ignored, until the whole index is built again.
 */
export interface InvertedIndex {
  /** Number of documents, replaced ones included. */
  readonly documents: number;
  /**
   * First document and number of documents of each listing, by its number; 0 documents for a listing that is not in the index.
   */
  readonly firsts: Uint32Array;
  readonly counts: Uint32Array;
  /** Number of the listing of each document; 0 for a document that was replaced or removed. */
  readonly listings: Uint32Array;
  /** Adds or replaces a listing: one document for each route, in their order, or one for a listing without routes. */
  put(listing: number, terms: ListingTerms): void;
  remove(listing: number): void;
  /** Returns the number of listings that have a stem; 0 for an unknown one. */
  count(stem: string): number;
  /** Lists the known stems that a misspelt one may mean: nearest first, then most common first. */
  listFuzzy(stem: string): string[];
  /** Lists the stems that begin with a text, most common first. */
  listByPrefix(start: string): string[];
  /** Finds the postings of a stem; only the first `length` of the array are valid. */
  find(stem: string): { readonly postings: Uint32Array; readonly length: number } | undefined;
}

/** Creates an empty index. */
export function createInvertedIndex(): InvertedIndex {
  const lists = new Map<string, PostingList>();
  let documents = 0;
  let firsts = new Uint32Array(1024);
  let counts = new Uint32Array(1024);
  let listings = new Uint32Array(1024);
  /** Number of listings that were replaced or removed. */
  let removed = 0;

  /** The count of a rare word may consist of removed listings, so its postings are checked one by one. */
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
  /** Returns the posting lists of the stems of a text, with the text's share of each, from 0 to 1 (BM25F). */
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
      // A route that must not be found gets no words, unless the listing has no other route.
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
    listFuzzy: vocabulary.listFuzzy,
    listByPrefix: vocabulary.listByPrefix,
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
