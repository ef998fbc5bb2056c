import { type Chunk, findChunkIndex } from './chunks.ts';
import type { ListingEntry } from './entry.ts';
import { findEntry, type Snapshot } from './snapshot.ts';

/** How many related listings a page shows. */
const RELATED_COUNT = 4;

/** A word of more listings than this says too little of any; it also bounds the work of one listing. */
const COMMON_FROM = 64;

/** Points for the same provider and for the same category; a shared word is worth 2 (common) to 7 (shared by two alone). */
const PROVIDER_POINTS = 6;
const CATEGORY_POINTS = 3;

/** How many listings by name are looked through for one to fill up with: those of its category among its neighbours. */
const NEIGHBOURS = 64;

/** Which listings are near which, as of the latest snapshot that was asked about. */
interface Nearness {
  snapshot: Snapshot;
  /** Live listings by a number that each keeps for as long as it is live. */
  readonly entries: (ListingEntry | undefined)[];
  readonly numbers: Map<string, number>;
  /** Numbers of listings by key (see `listKeys`), in no order. */
  readonly numbersByKey: Map<string, number[]>;
  /** Scratch space by number, all zeros between two questions. */
  points: Uint16Array;
  /** What is related to a listing, until one of the listings that decide it changes. */
  readonly answers: Map<string, readonly ListingEntry[]>;
}

let latest: Nearness | undefined;

/**
 * Lists the live listings nearest to one: those that share rare words with it, the same provider or category counting for
 * them; where too few do, neighbours by name in its category. The same catalogue always gives the same list. Words are
 * indexed once, and from one snapshot to the next only those of listings that changed; a listing is answered when it is
 * first asked for, and again (with another array) once that may have changed.
 */
export function listRelated(snapshot: Snapshot, slug: string): readonly ListingEntry[] {
  const self = findEntry(snapshot, slug);
  if (!self) return [];
  if (latest?.snapshot !== snapshot) latest = followSnapshot(latest, snapshot);
  let related = latest.answers.get(slug);
  if (!related) {
    related = findNearest(latest, self);
    latest.answers.set(slug, related);
  }
  return related;
}

function followSnapshot(nearness: Nearness | undefined, snapshot: Snapshot): Nearness {
  const isLater = nearness?.snapshot.identity === snapshot.identity && nearness.snapshot.revision < snapshot.revision;
  const followed = isLater ? nearness : buildNearness(snapshot);
  const { removed, added } = listDifferences(isLater ? nearness.snapshot.chunks : [], snapshot.chunks);
  // One after the other, and the answers each time: so none is missed that a word decides while it becomes common, or rare.
  for (const entry of removed) {
    forgetAround(followed, entry, followed.snapshot);
    unindexEntry(followed, entry);
  }
  for (const entry of added) {
    indexEntry(followed, entry);
    if (isLater) forgetAround(followed, entry, snapshot);
  }
  followed.snapshot = snapshot;
  if (followed.points.length < followed.entries.length) followed.points = new Uint16Array(2 * followed.entries.length);
  return followed;
}

function buildNearness(snapshot: Snapshot): Nearness {
  const index = { entries: [], numbers: new Map(), numbersByKey: new Map(), points: new Uint16Array(0) };
  return { snapshot, ...index, answers: new Map() };
}

/** Compares two states by their chunks, which are the same objects where nothing changed. */
function listDifferences(before: Snapshot['chunks'], now: Snapshot['chunks']) {
  const [isBefore, isNow] = [new Set(before), new Set(now)];
  const gone = before.filter((chunk) => !isNow.has(chunk)).flatMap(({ entries }) => entries);
  const come = now.filter((chunk) => !isBefore.has(chunk)).flatMap(({ entries }) => entries);
  const [isGone, isCome] = [new Set(gone), new Set(come)];
  return { removed: gone.filter((entry) => !isCome.has(entry)), added: come.filter((entry) => !isGone.has(entry)) };
}

function indexEntry({ entries, numbers, numbersByKey }: Nearness, entry: ListingEntry): void {
  const number = entries.push(entry) - 1;
  numbers.set(entry.slug, number);
  for (const key of listKeys(entry)) {
    const members = numbersByKey.get(key);
    if (members) members.push(number);
    else numbersByKey.set(key, [number]);
  }
}

/** Numbers are not given again: in the time between two starts they stay few. */
function unindexEntry({ entries, numbers, numbersByKey }: Nearness, entry: ListingEntry): void {
  const number = numbers.get(entry.slug);
  if (number === undefined) return;
  numbers.delete(entry.slug);
  entries[number] = undefined;
  for (const key of listKeys(entry)) {
    const members = numbersByKey.get(key) ?? [];
    const last = members.pop();
    if (last === undefined || last === number) continue;
    const at = members.indexOf(number);
    if (at >= 0) members[at] = last;
  }
}

/** Forgets the answers that a listing may be part of: its own, of those that share a word with it, and of its neighbours. */
function forgetAround({ entries, numbersByKey, answers }: Nearness, entry: ListingEntry, { chunks }: Snapshot): void {
  answers.delete(entry.slug);
  for (const key of listKeys(entry)) {
    const members = numbersByKey.get(key);
    // A word that has just become common, or is about to be rare, counts for others no longer, or again.
    if (!members || members.length > COMMON_FROM + 1) continue;
    for (const number of members) answers.delete(entries[number]?.slug ?? '');
  }
  for (const { slug } of listNeighbours(chunks, entry.slug, -1)) answers.delete(slug);
}

/** The provider counts as one more word, told from the others by its colon. */
function listKeys({ topics, provider }: ListingEntry): string[] {
  return [...topics, `:${provider}`];
}

function findNearest(
  { entries, numbers, numbersByKey, points, snapshot }: Nearness,
  self: ListingEntry,
): ListingEntry[] {
  const own = numbers.get(self.slug);
  const touched: number[] = [];
  for (const key of listKeys(self)) {
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
    // Most share one common word and are not even near.
    if (!entry || number === own || shared + CATEGORY_POINTS < (nearest[RELATED_COUNT - 1]?.points ?? 0)) continue;
    addNearest(nearest, { entry, points: shared + (isOfCategory(entry, self) ? CATEGORY_POINTS : 0) });
  }
  const related = nearest.map(({ entry }) => entry);
  return related.length === RELATED_COUNT ? related : fillFromCategory(snapshot.chunks, self, related);
}

/** Gives the worth of a shared word in whole points, so that one more listing rarely changes what is related to others. */
function getWorth(listings: number): number {
  return 8 - Math.ceil(Math.log2(listings));
}

interface Candidate {
  readonly entry: ListingEntry;
  readonly points: number;
}

/** Keeps the best candidates in order; even points go to the earlier slug. */
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

/** Fills up with the listings that follow by name in the same category, from the start again after the last. */
function fillFromCategory(chunks: Snapshot['chunks'], self: ListingEntry, related: ListingEntry[]): ListingEntry[] {
  const filled = [...related];
  for (const entry of listNeighbours(chunks, self.slug, 1)) {
    if (filled.length === RELATED_COUNT) break;
    if (isOfCategory(entry, self) && !filled.includes(entry)) filled.push(entry);
  }
  return filled;
}

function isOfCategory(entry: ListingEntry, other: ListingEntry): boolean {
  return entry.category === other.category;
}

/** Lists the listings after a slug (step 1), or before it (step -1), by name and round again from the other end. */
function* listNeighbours(chunks: readonly Chunk<ListingEntry>[], slug: string, step: 1 | -1): Generator<ListingEntry> {
  let index = findChunkIndex(chunks, slug);
  let entries = chunks[index]?.entries ?? [];
  const after = entries.findIndex((entry) => entry.slug > slug);
  let at = step === 1 ? after : entries.findLastIndex((entry) => entry.slug < slug);
  for (let seen = 0; seen < NEIGHBOURS && chunks.length > 0; seen += 1) {
    if (!entries[at]) {
      index = (index + step + chunks.length) % chunks.length;
      entries = chunks[index]?.entries ?? [];
      at = step === 1 ? 0 : entries.length - 1;
    }
    const entry = entries[at];
    if (!entry || entry.slug === slug) return;
    yield entry;
    at += step;
  }
}
