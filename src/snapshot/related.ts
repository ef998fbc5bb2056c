import { type ListingEntry, listEntries, type Snapshot } from './snapshot.ts';

/** How many related listings a page shows. */
const RELATED_COUNT = 4;

/** A word of more listings than this says too little of any; it also bounds the work of one listing. */
const COMMON_FROM = 64;

/** Points for the same provider and for the same category; a shared word is worth 2 (common) to 7 (shared by two alone). */
const PROVIDER_POINTS = 6;
const CATEGORY_POINTS = 3;

/** Which listings are near which, at one snapshot. */
interface Nearness {
  readonly entries: readonly ListingEntry[];
  readonly numberBySlug: ReadonlyMap<string, number>;
  readonly numbersByTopic: ReadonlyMap<string, readonly number[]>;
  /** Scratch space, all zeros between two questions. */
  readonly points: Uint16Array;
  readonly answers: Map<string, readonly ListingEntry[]>;
}

const nearnessOf = new WeakMap<Snapshot, Nearness>();

/**
 * Lists the live listings nearest to one: those that share rare words with it, the same provider or category counting for
 * them; where too few do, neighbours by name in its category. The same catalogue always gives the same list. Words are
 * indexed once for each snapshot, and a listing is answered when it is first asked for.
 */
export function listRelated(snapshot: Snapshot, slug: string): readonly ListingEntry[] {
  const nearness = nearnessOf.get(snapshot) ?? buildNearness(snapshot);
  nearnessOf.set(snapshot, nearness);
  const number = nearness.numberBySlug.get(slug);
  if (number === undefined) return [];
  let related = nearness.answers.get(slug);
  if (!related) {
    related = findNearest(nearness, number);
    nearness.answers.set(slug, related);
  }
  return related;
}

function buildNearness(snapshot: Snapshot): Nearness {
  const entries = [...listEntries(snapshot)];
  const numbersByTopic = new Map<string, number[]>();
  for (const [number, entry] of entries.entries()) {
    for (const topic of listKeys(entry)) {
      const numbers = numbersByTopic.get(topic);
      if (numbers) numbers.push(number);
      else numbersByTopic.set(topic, [number]);
    }
  }
  return {
    entries,
    numberBySlug: new Map(entries.map(({ slug }, number) => [slug, number])),
    numbersByTopic,
    points: new Uint16Array(entries.length),
    answers: new Map(),
  };
}

/** The provider counts as one more word, told from the others by its colon. */
function listKeys({ topics, item }: ListingEntry): string[] {
  return [...topics, `:${item.provider_name.toLowerCase()}`];
}

function findNearest({ entries, numbersByTopic, points }: Nearness, number: number): ListingEntry[] {
  const self = entries[number];
  if (!self) return [];
  const touched: number[] = [];
  for (const key of listKeys(self)) {
    const numbers = numbersByTopic.get(key) ?? [];
    if (numbers.length < 2 || numbers.length > COMMON_FROM) continue;
    const worth = key.startsWith(':') ? PROVIDER_POINTS : getWorth(numbers.length);
    for (const other of numbers) {
      if (points[other] === 0 && other !== number) touched.push(other);
      points[other] = (points[other] ?? 0) + worth;
    }
  }
  const getPoints = (other: number) =>
    (points[other] ?? 0) + (entries[other]?.item.category === self.item.category ? CATEGORY_POINTS : 0);
  const nearest: [points: number, number: number][] = [];
  for (const other of touched) addNearest(nearest, [getPoints(other), other]);
  for (const other of touched) points[other] = 0;
  points[number] = 0;
  const related = nearest.flatMap(([, other]) => entries[other] ?? []);
  return related.length === RELATED_COUNT ? related : fillFromCategory(entries, number, related);
}

/** Gives the worth of a shared word in whole points, so that one more listing rarely changes what is related to others. */
function getWorth(listings: number): number {
  return 8 - Math.ceil(Math.log2(listings));
}

/** Keeps the best candidates in order; even points go to the earlier slug. */
function addNearest(nearest: [points: number, number: number][], candidate: [points: number, number: number]): void {
  const [points, number] = candidate;
  let place = nearest.length;
  while (place > 0) {
    const [otherPoints, otherNumber] = nearest[place - 1] ?? [0, 0];
    if (otherPoints > points || (otherPoints === points && otherNumber < number)) break;
    place -= 1;
  }
  if (place >= RELATED_COUNT) return;
  nearest.splice(place, 0, candidate);
  if (nearest.length > RELATED_COUNT) nearest.pop();
}

/** Fills up with the listings that follow by name in the same category, from the start again after the last. */
function fillFromCategory(entries: readonly ListingEntry[], number: number, related: ListingEntry[]): ListingEntry[] {
  const category = entries[number]?.item.category;
  for (let step = 1; step < entries.length && related.length < RELATED_COUNT; step += 1) {
    const entry = entries[(number + step) % entries.length];
    if (entry && entry.item.category === category && !related.includes(entry)) related.push(entry);
  }
  return related;
}
