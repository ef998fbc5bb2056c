import { type Chunk, findChunkIndex } from './chunks.ts';
import type { ListingEntry, Snapshot } from './snapshot.ts';

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
  /** Slugs by key (see `listKeys`), in no order. */
  readonly slugsByKey: Map<string, string[]>;
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
  const self = snapshot.bySlug.get(slug);
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
  const followed = isLater ? nearness : { snapshot, slugsByKey: new Map(), answers: new Map() };
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
  return followed;
}

/** Compares two states by their chunks, which are the same objects where nothing changed. */
function listDifferences(before: Snapshot['chunks'], now: Snapshot['chunks']) {
  const [isBefore, isNow] = [new Set(before), new Set(now)];
  const gone = before.filter((chunk) => !isNow.has(chunk)).flatMap(({ entries }) => entries);
  const come = now.filter((chunk) => !isBefore.has(chunk)).flatMap(({ entries }) => entries);
  const [isGone, isCome] = [new Set(gone), new Set(come)];
  return { removed: gone.filter((entry) => !isCome.has(entry)), added: come.filter((entry) => !isGone.has(entry)) };
}

function indexEntry({ slugsByKey }: Nearness, entry: ListingEntry): void {
  for (const key of listKeys(entry)) {
    const slugs = slugsByKey.get(key);
    if (slugs) slugs.push(entry.slug);
    else slugsByKey.set(key, [entry.slug]);
  }
}

function unindexEntry({ slugsByKey }: Nearness, entry: ListingEntry): void {
  for (const key of listKeys(entry)) {
    const slugs = slugsByKey.get(key) ?? [];
    const last = slugs.pop();
    if (last === undefined || last === entry.slug) continue;
    const at = slugs.indexOf(entry.slug);
    if (at >= 0) slugs[at] = last;
  }
}

/** Forgets the answers that a listing may be part of: its own, of those that share a word with it, and of its neighbours. */
function forgetAround({ slugsByKey, answers }: Nearness, entry: ListingEntry, { chunks }: Snapshot): void {
  answers.delete(entry.slug);
  for (const key of listKeys(entry)) {
    const slugs = slugsByKey.get(key);
    // A word that has just become common, or is about to be rare, counts for others no longer, or again.
    if (slugs && slugs.length <= COMMON_FROM + 1) for (const slug of slugs) answers.delete(slug);
  }
  for (const { slug } of listNeighbours(chunks, entry.slug, -1)) answers.delete(slug);
}

/** The provider counts as one more word, told from the others by its colon. */
function listKeys({ topics, item }: ListingEntry): string[] {
  return [...topics, `:${item.provider_name.toLowerCase()}`];
}

function findNearest({ slugsByKey, snapshot }: Nearness, self: ListingEntry): ListingEntry[] {
  const points = new Map<string, number>();
  for (const key of listKeys(self)) {
    const slugs = slugsByKey.get(key);
    if (!slugs || slugs.length < 2 || slugs.length > COMMON_FROM) continue;
    const worth = key.startsWith(':') ? PROVIDER_POINTS : getWorth(slugs.length);
    for (const slug of slugs) points.set(slug, (points.get(slug) ?? 0) + worth);
  }
  points.delete(self.slug);
  const nearest: Candidate[] = [];
  for (const [slug, shared] of points) {
    const entry = snapshot.bySlug.get(slug);
    if (entry) addNearest(nearest, { entry, points: shared + (isOfCategory(entry, self) ? CATEGORY_POINTS : 0) });
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
  return entry.item.category === other.item.category;
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
