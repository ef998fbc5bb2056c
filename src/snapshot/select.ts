import { crc32 } from 'node:zlib';
import { searchListings, weighWords } from '../catalogue/search.ts';
import { ServiceError } from '../errors.ts';
import { parseUsdc } from '../model/usdc.ts';
import { getListSort, type ListQuery, type ListSort } from '../views/list-query.ts';
import type { Reading } from './reading.ts';
import { type ListingEntry, listEntries, type Snapshot } from './snapshot.ts';

/** One page of the listings that match a query, and how many match in all. */
export interface Selection {
  total: number;
  entries: ListingEntry[];
  /** Where the next page starts; undefined on the last one. */
  next_cursor: string | undefined;
}

/** A place in an order: the sort key of an entry, then its slug, which settles even keys. */
type Place = readonly [key: number | string, slug: string];

/** Where a page starts, and by relevance what the words of the request weighed when the first page was made. */
interface Cursor {
  readonly after: Place;
  readonly weights: readonly number[];
}

/**
 * Selects the page of live listings that a query asks for. A cursor is a place in the order, not a count, so listings that
 * come or go between pages shift nothing: what is there the whole time and does not change is shown once. Throws
 * `bad_input` (`bad_cursor`) for a cursor of another query or none at all.
 */
export function selectListings(
  { catalogue }: Pick<Reading, 'catalogue'>,
  snapshot: Snapshot,
  query: ListQuery,
): Selection {
  const sort = getListSort(query);
  const cursor = query.cursor === undefined ? undefined : parseCursor(query.cursor, query, sort);
  const isRanked = query.q !== undefined && sort === 'relevance';
  const weights = cursor?.weights ?? (isRanked ? weighWords(catalogue, query.q ?? '') : []);
  const isMatch = buildFilter(query);
  const placed = [...listCandidates(catalogue, snapshot, { q: query.q, sort, weights })].filter(({ entry }) =>
    isMatch(entry),
  );
  if (sort !== 'name') placed.sort((a, b) => comparePlaces(a.place, b.place));
  const start = cursor ? placed.findIndex(({ place }) => comparePlaces(place, cursor.after) > 0) : 0;
  const page = start < 0 ? [] : placed.slice(start, start + query.limit);
  const last = page.at(-1);
  const more = last !== undefined && start + page.length < placed.length;
  return {
    total: placed.length,
    entries: page.map(({ entry }) => entry),
    next_cursor: more ? buildCursor({ after: last.place, weights }, query, sort) : undefined,
  };
}

function* listCandidates(
  catalogue: Reading['catalogue'],
  snapshot: Snapshot,
  { q, sort, weights }: { q: string | undefined; sort: ListSort; weights: readonly number[] },
): Generator<{ entry: ListingEntry; place: Place }> {
  if (q === undefined) {
    for (const entry of listEntries(snapshot)) yield { entry, place: [getSortKey(entry, sort), entry.slug] };
    return;
  }
  const hits = searchListings(catalogue, q, weights).flatMap(({ listing_id, rank }) => {
    const entry = snapshot.bySlug.get(snapshot.slugById.get(listing_id) ?? '');
    return entry ? { entry, rank } : [];
  });
  if (sort === 'name') hits.sort((a, b) => (a.entry.slug < b.entry.slug ? -1 : 1));
  for (const { entry, rank } of hits) {
    yield { entry, place: [sort === 'relevance' ? rank : getSortKey(entry, sort), entry.slug] };
  }
}

/** Gives what a sort compares; everything sorts upwards, so what should come first is the smaller. */
function getSortKey({ item }: ListingEntry, sort: ListSort): number | string {
  switch (sort) {
    case 'price':
      return item.price_min_usdc;
    case 'updated':
      return -Date.parse(item.updated_at);
    case 'reliability':
      return -(item.reliability_score ?? -1);
    default:
      return '';
  }
}

function comparePlaces([keyA, slugA]: Place, [keyB, slugB]: Place): number {
  if (keyA !== keyB) return keyA < keyB ? -1 : 1;
  if (slugA === slugB) return 0;
  return slugA < slugB ? -1 : 1;
}

function buildFilter(query: ListQuery): (entry: ListingEntry) => boolean {
  const { category, network, verified, band } = query;
  const maxPrice = query.max_price_usdc === undefined ? undefined : (parseUsdc(query.max_price_usdc) ?? 0) / 1e6;
  const provider = query.provider?.toLowerCase();
  const since = query.updated_since === undefined ? undefined : Date.parse(query.updated_since);
  return ({ item }) =>
    (category === undefined || item.category === category) &&
    (network === undefined || item.networks.includes(network)) &&
    (verified === undefined || item.payment_verified === verified) &&
    (band === undefined || item.reliability_band === band) &&
    (maxPrice === undefined || item.price_min_usdc <= maxPrice) &&
    (provider === undefined || item.provider_name.toLowerCase() === provider) &&
    (since === undefined || Date.parse(item.updated_at) >= since);
}

/** Names what must stay the same from page to page, briefly: a cursor travels in an address. */
function getQueryKey(query: ListQuery, sort: ListSort): string {
  const { cursor: _cursor, limit: _limit, ...filters } = query;
  const entries = Object.entries({ ...filters, sort }).sort(([a], [b]) => (a < b ? -1 : 1));
  return crc32(JSON.stringify(entries)).toString(36);
}

function buildCursor({ after, weights }: Cursor, query: ListQuery, sort: ListSort): string {
  return Buffer.from(JSON.stringify([...after, getQueryKey(query, sort), ...weights])).toString('base64url');
}

function parseCursor(cursor: string, query: ListQuery, sort: ListSort): Cursor {
  const refuse = (cause?: unknown) =>
    new ServiceError('bad_input', 'The cursor is not one of this query.', {
      hint: 'Send next_cursor as it came, with the same filters, or leave cursor out to start at the first page.',
      reason: 'bad_cursor',
      cause,
    });
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch (error) {
    throw refuse(error);
  }
  if (!Array.isArray(parsed)) throw refuse();
  const [key, slug, queryKey, ...weights] = parsed as unknown[];
  const isKey = typeof key === 'number' || typeof key === 'string';
  if (!isKey || typeof slug !== 'string' || queryKey !== getQueryKey(query, sort)) throw refuse();
  if (!weights.every((weight) => typeof weight === 'number')) throw refuse();
  return { after: [key, slug], weights };
}
