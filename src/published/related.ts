import type { Category } from '../model/catalogue.ts';
import type { Published } from './file.ts';
import type { ListingRef } from './listings.ts';
import type { Snapshot } from './snapshot.ts';

/** Number of related listings on a page. */
const RELATED_COUNT = 4;

/** A word that more listings have says too little of any of them; the limit also bounds the work for one listing. */
const COMMON_FROM = 64;

/** Points for the same provider and for the same category. A shared word is worth 2 (common) to 7 (in two listings alone). */
const PROVIDER_POINTS = 6;
const CATEGORY_POINTS = 3;

/** Number of neighbours by name that are searched for listings of the same category, to fill up the list. */
const NEIGHBOURS = 64;

/** A live listing as the search for related ones needs it. */
export interface Related extends ListingRef {
  /** Revision of its latest change. */
  readonly revision: number;
  readonly category: Category;
  /** The words that say what it is about. Its provider is one more key, marked with a colon. */
  readonly keys: readonly string[];
}

/** The index of shared words, as of the latest snapshot that was asked about. */
interface Nearness {
  readonly published: Published;
  /** The database that was open then. */
  readonly sqlite: Published['sqlite'];
  snapshot: Snapshot;
  /** Live listings by their row numbers. */
  readonly entries: (Related | undefined)[];
  /** Numbers of listings by key, in no order. */
  readonly numbersByKey: Map<string, number[]>;
  /** Points of each listing during one search, by number; all zeros between searches. */
  points: Uint16Array;
  /** The related listings already found, by the number of the listing, until one that decides them changes. */
  readonly answers: Map<number, readonly Related[]>;
}

let latest: Nearness | undefined;

/**
 * Lists the live listings nearest to the one with a row number: those that share rare words with it, its provider or its
 * category; if these are too few, neighbours by name in its category. The same catalogue always gives the same list. Words are
 * indexed once; later snapshots index only changed listings. A list is made when first asked for, and made again (as another
 * array) once it may have changed. Call it while the file stays at the revision of the snapshot.
 */
export function listRelated(published: Published, snapshot: Snapshot, number: number): readonly Related[] {
  if (latest?.snapshot !== snapshot || latest.sqlite !== published.sqlite) {
    latest = followSnapshot(latest, published, snapshot);
  }
  const self = latest.entries[number];
  if (!self) return [];
  let related = latest.answers.get(self.number);
  if (!related) {
    related = findNearest(latest, self);
    latest.answers.set(self.number, related);
  }
  return related;
}

function followSnapshot(before: Nearness | undefined, published: Published, snapshot: Snapshot): Nearness {
  if (!before || before.sqlite !== published.sqlite) {
    return buildNearness(published, snapshot);
  }
  const { entries } = before;
  const changed = readRelated(published, before.snapshot.revision);
  // Answers are forgotten at each single step, so that those affected by a word that becomes common or rare on the way are not
  // missed.
  for (const { number } of changed) {
    const entry = entries[number];
    if (!entry) continue;
    forgetAround(before, entry);
    unindexEntry(before, entry);
  }
  for (const { number, entry } of changed) {
    if (!entry) continue;
    indexEntry(before, number, entry);
    forgetAround(before, entry);
  }
  before.snapshot = snapshot;
  if (before.points.length < entries.length) before.points = new Uint16Array(2 * entries.length);
  return before;
}

function buildNearness(published: Published, snapshot: Snapshot): Nearness {
  const nearness: Nearness = {
    published,
    sqlite: published.sqlite,
    snapshot,
    entries: [],
    numbersByKey: new Map(),
    answers: new Map(),
    points: new Uint16Array(0),
  };
  for (const { number, entry } of readRelated(published, -1)) if (entry) indexEntry(nearness, number, entry);
  // A copy has no spare room to grow, which takes most of the memory of rare words.
  for (const [key, members] of nearness.numbersByKey) nearness.numbersByKey.set(key, members.slice());
  nearness.points = new Uint16Array(nearness.entries.length);
  return nearness;
}

interface RelatedRow extends ListingRef {
  readonly revision: number;
  readonly state: string;
  readonly category: Category;
  readonly provider_name: string;
  readonly topics: string;
}

/** Reads the listings that changed after a revision, by slug. A listing that is not live has no entry. */
function readRelated(published: Published, revision: number): { number: number; entry: Related | undefined }[] {
  const rows = published.prepare<RelatedRow>(
    `SELECT number, slug, revision, state, category, provider_name, topics FROM listings
     WHERE ${revision < 0 ? '+' : ''}revision > ? ORDER BY +slug`,
  );
  return Array.from(rows.iterate(revision), ({ number, slug, state, topics, provider_name, ...rest }) => {
    if (state !== 'live') return { number, entry: undefined };
    const keys = [...topics.split(' ').filter(Boolean), `:${provider_name.toLowerCase()}`];
    return { number, entry: { number, slug, revision: rest.revision, category: rest.category, keys } };
  });
}

function indexEntry({ entries, numbersByKey }: Nearness, number: number, entry: Related): void {
  entries[number] = entry;
  for (const key of entry.keys) {
    const members = numbersByKey.get(key);
    if (members) members.push(number);
    else numbersByKey.set(key, [number]);
  }
}

function unindexEntry({ entries, numbersByKey }: Nearness, { number, keys }: Related): void {
  entries[number] = undefined;
  for (const key of keys) {
    const members = numbersByKey.get(key) ?? [];
    const last = members.pop();
    if (last === undefined || last === number) continue;
    const at = members.indexOf(number);
    if (at >= 0) members[at] = last;
  }
}

/**
 * Forgets the answers that a listing may be part of: its own, those of listings that share a word with it, and those of its
 * neighbours.
 */
function forgetAround({ published, numbersByKey, answers }: Nearness, entry: Related): void {
  answers.delete(entry.number);
  for (const key of entry.keys) {
    const members = numbersByKey.get(key);
    // At one above the limit, a word has just become common, or is about to become rare again, which changes answers.
    if (!members || members.length > COMMON_FROM + 1) continue;
    for (const number of members) answers.delete(number);
  }
  for (const number of listNeighbours(published, entry.slug, 'before')) answers.delete(number);
}

function findNearest({ published, entries, numbersByKey, points }: Nearness, self: Related): Related[] {
  const touched: number[] = [];
  for (const key of self.keys) {
    const members = numbersByKey.get(key);
    if (!members || members.length < 2 || members.length > COMMON_FROM) continue;
    const worth = key.startsWith(':') ? PROVIDER_POINTS : getWorth(members.length);
    for (const number of members) {
      const before = points[number] ?? 0;
      if (before === 0) touched.push(number);
      points[number] = before + worth;
    }
  }
  const nearest: Candidate[] = [];
  for (const number of touched) {
    const entry = entries[number];
    const shared = points[number] ?? 0;
    points[number] = 0;
    // Most listings share only one common word and are not near at all.
    if (!entry || entry === self || shared + CATEGORY_POINTS < (nearest[RELATED_COUNT - 1]?.points ?? 0)) continue;
    addNearest(nearest, { entry, points: shared + (entry.category === self.category ? CATEGORY_POINTS : 0) });
  }
  const related = nearest.map(({ entry }) => entry);
  return related.length === RELATED_COUNT ? related : fillFromCategory(entries, published, self, related);
}

/** Returns the worth of a shared word in whole points, so that one more listing rarely changes the related ones of others. */
function getWorth(listings: number): number {
  return 8 - Math.ceil(Math.log2(listings));
}

interface Candidate {
  readonly entry: Related;
  readonly points: number;
}

/** Keeps the best candidates in order. Of equal points, the earlier slug comes first. */
function addNearest(nearest: Candidate[], candidate: Candidate): void {
  let place = nearest.length;
  while (place > 0) {
    const other = nearest[place - 1];
    if (!other || other.points > candidate.points) break;
    if (other.points === candidate.points && other.entry.slug < candidate.entry.slug) break;
    place -= 1;
  }
  if (place >= RELATED_COUNT) return;
  nearest.splice(place, 0, candidate);
  if (nearest.length > RELATED_COUNT) nearest.pop();
}

/** Fills up with the listings that follow by name in the same category; after the last one it starts again from the first. */
function fillFromCategory(
  entries: Nearness['entries'],
  published: Published,
  self: Related,
  related: Related[],
): Related[] {
  const filled = [...related];
  for (const number of listNeighbours(published, self.slug, 'after')) {
    if (filled.length === RELATED_COUNT) break;
    const entry = entries[number];
    if (entry?.category === self.category && !filled.includes(entry)) filled.push(entry);
  }
  return filled;
}

/** SQL of the neighbours of a slug by name: comparison on its side, comparison after wrapping around, and order. */
const NEIGHBOURS_OF = { after: ['>', '<', 'ASC'], before: ['<', '>', 'DESC'] } as const;

/** Lists the numbers of the listings after a slug or before it, nearest first. */
function listNeighbours({ prepare }: Published, slug: string, side: keyof typeof NEIGHBOURS_OF): number[] {
  const [near, far, direction] = NEIGHBOURS_OF[side];
  const read = (beyond: string, limit: number) =>
    prepare<{ number: number }>(
      `SELECT number FROM listings WHERE state = 'live' AND slug ${beyond} ? ORDER BY slug ${direction} LIMIT +?`,
    ).all(slug, limit);
  const first = read(near, NEIGHBOURS);
  const rest = first.length < NEIGHBOURS ? read(far, NEIGHBOURS - first.length) : [];
  return [...first, ...rest].map(({ number }) => number);
}
