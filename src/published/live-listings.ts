import type { Published } from './file.ts';
import type { ListingRef } from './listings.ts';

/** A live listing, and at which revision it changed last. */
export interface LiveRef extends ListingRef {
  readonly revision: number;
}

const SELECT = "SELECT number, slug, revision FROM listings WHERE state = 'live'";

/** Finds a live listing by its slug. */
export function findLive(published: Published, slug: string): LiveRef | undefined {
  return published.prepare<LiveRef>(`${SELECT} AND slug = ?`).get(slug);
}

/** Goes through the live listings by slug. */
export function iterateLive(published: Published): IterableIterator<LiveRef> {
  return published.prepare<LiveRef>(`${SELECT} ORDER BY slug`).iterate();
}

/** Lists slugs of live listings in their order, each with the time of its latest change: at most `limit` from a place on. */
export function listUpdates(
  published: Published,
  start: number,
  limit: number,
): { slug: string; updated_at: string }[] {
  const sql = "SELECT slug, updated_at FROM listings WHERE state = 'live' ORDER BY slug LIMIT ? OFFSET ?";
  return published.prepare<{ slug: string; updated_at: string }>(sql).all(limit, start);
}

/** Most other addresses of a product that are named. */
export const SAME_PRODUCT_MAX = 20;

/** Only live listings have a product. */
const SAME_PRODUCT = `SELECT other.slug FROM listings AS own JOIN listings AS other ON other.product = own.product
  WHERE own.slug = ? AND other.number <> own.number ORDER BY other.slug LIMIT ${SAME_PRODUCT_MAX}`;

/** Lists the slugs of the listings that are the same product as one, at other addresses; empty if it is at one alone. */
export function listSameProduct(published: Published, slug: string): string[] {
  return published
    .prepare<{ slug: string }>(SAME_PRODUCT)
    .all(slug)
    .map((other) => other.slug);
}
