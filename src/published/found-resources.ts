import { LIKENESS_WEIGHT } from '../search/ranking.ts';
import type { DiscoverySearchQuery } from '../views/discovery.ts';
import { getListSort, type ListQuery } from '../views/listing/query.ts';
import { BONUS_MAX, findNextPlace, getColumns, getRef } from './columns.ts';
import { buildCursor, parseCursor } from './cursor.ts';
import type { Published } from './file.ts';
import { foldProducts } from './folding.ts';
import { openPayable, type Resource, readResources, type Walk, walkResources } from './resources.ts';
import { isDangerous } from './route-facts.ts';
import { DANGER_FACTOR, EVEN_RELEVANCE } from './select.ts';
import type { Snapshot } from './snapshot.ts';
import { createTop } from './top.ts';
import { getWordIndex } from './word-index.ts';

/** Routes of one listing that a search shows: one of hundreds of routes must not fill the page. */
const ROUTES_PER_LISTING = 5;

export interface FoundResources {
  resources: Resource[];
  next_cursor: string | undefined;
  /** More routes match than are shown, on further pages or of these listings. */
  partial: boolean;
}

/** More than a listing has routes, so that even keys are in the order of listings and their routes. */
const POSITIONS = 2 ** 20;

/** A route by the place of its listing and its position there. */
interface Place {
  readonly place: number;
  readonly position: number;
}

/** Finds, without words, all that the filters let through, in the order of `walkResources`. Throws as `findResources` does. */
export function* walkWithoutWords(
  published: Published,
  snapshot: Snapshot,
  { limit, cursor, ...filters }: Omit<DiscoverySearchQuery, 'query'>,
): Walk<FoundResources> {
  const offset = cursor === undefined ? 0 : parseCursor(cursor, filters, 'resources').after.key;
  const { total, resources } = yield* walkResources(published, snapshot, { ...filters, offset, limit });
  const next = offset + resources.length;
  const hasMore = resources.length > 0 && next < total;
  const next_cursor = hasMore
    ? buildCursor({ after: { key: next, slug: '' }, plan: [] }, filters, 'resources')
    : undefined;
  return { resources, next_cursor, partial: hasMore };
}

/**
 * Finds the routes that fit a request best, of one listing at most `ROUTES_PER_LISTING`, and of one product those at one address. A cursor is a place in the order, as
 * that of `selectListings`. Throws `bad_cursor` for a cursor of another query. Call it while the file stays at the revision
 * of the snapshot.
 */
export function findResources(
  published: Published,
  snapshot: Snapshot,
  { query: q, limit, cursor: text, ...filters }: DiscoverySearchQuery & { query: string },
): FoundResources {
  const columns = getColumns(published, snapshot);
  const query: ListQuery = { q, limit };
  const cursor = text === undefined ? undefined : parseCursor(text, query, getListSort(query));
  const words = getWordIndex(published, snapshot);
  const planned = words.buildPlan(q);
  const plan = cursor?.plan ?? planned.plan;
  const scores = words.score(plan, planned.vector);
  const listPayable = openPayable(published, columns, filters);
  const top = createTop<Place>(limit);
  const lastKey = cursor?.after.key ?? Number.NEGATIVE_INFINITY;
  const lastPlace = cursor === undefined ? -1 : findNextPlace(columns, cursor.after.slug);
  const isShown = (key: number, { place, position }: Place) => {
    if (key !== lastKey) return key < lastKey;
    // The last one shown may be gone by now; then its place is that of the next.
    const isSame = columns.slugs[lastPlace] === cursor?.after.slug && place === lastPlace;
    return place < lastPlace || (isSame && position <= (cursor?.after.position ?? -1));
  };
  const findScore = (place: number) => {
    const number = columns.numbers[place] as number;
    if (!scores.weigh(number)) return undefined;
    const positions = listPayable(place);
    const weighed = scores.weigh(number, (position) => positions.has(position));
    if (!weighed || weighed.position < 0) return undefined;
    scores.addLikeness(weighed);
    return { number, positions, score: weighed.score + (columns.bonuses[place] as number) };
  };
  const findKey = (place: number) => {
    const found = findScore(place);
    return found && -found.score;
  };
  const { hidden } = foldProducts(columns, findKey, EVEN_RELEVANCE);
  let [after, isPartial] = [0, hidden.size > 0];
  scores.visitListings((listing) => {
    const place = columns.places[listing] ?? -1;
    const worth = place < 0 || hidden.has(place) ? undefined : scores.weigh(listing);
    if (!worth) return;
    // Who can be paid takes longest to find out, likeness next. Behind a full page it only matters whether anybody can.
    if (after > limit) {
      if (!top.isTaking(-(worth.score + LIKENESS_WEIGHT + BONUS_MAX))) return;
      scores.addLikeness(worth);
      if (!top.isTaking(-(worth.score + BONUS_MAX))) return;
    }
    const found = findScore(place);
    if (!found) return;
    const { number, positions, score } = found;
    const ofListing = createTop<Place>(ROUTES_PER_LISTING);
    for (const position of positions) {
      const factor = isDangerous(columns.routes, place, position) ? DANGER_FACTOR : 1;
      ofListing.offer(-factor * scores.weighRoute(number, position, score), { place, position });
    }
    isPartial ||= positions.size > ROUTES_PER_LISTING;
    for (const { key, item } of ofListing.list()) {
      if (isShown(key, item)) continue;
      after += 1;
      top.offer(key, item, place * POSITIONS + item.position);
    }
  });
  const found = top.list();
  const last = found.at(-1);
  const next_cursor =
    after > found.length && last
      ? buildCursor(
          {
            after: {
              key: last.key,
              slug: columns.slugs[last.item.place] as string,
              position: last.item.position,
            },
            plan,
          },
          query,
          getListSort(query),
        )
      : undefined;
  const places = found.map(({ item }) => ({ listing: getRef(columns, item.place), position: item.position }));
  return {
    resources: readResources(published, places),
    next_cursor,
    partial: isPartial || next_cursor !== undefined,
  };
}
