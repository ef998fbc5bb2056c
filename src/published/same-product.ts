import { createHash } from 'node:crypto';
import { getCurrentTerms } from '../evidence/terms.ts';
import { getHost, type LiveListing } from '../model/listing.ts';
import { type Columns, isVerified } from './columns.ts';

/** Letters that the descriptions of a product's routes have in all at least: "Ping" at `/` may be anything. */
const TOLD_MIN = 20;

/**
 * Gives the number that the listings of one product at several addresses have in common, such as those of preview
 * deployments; null where a listing says too little to tell. They have the same name (or none but their host), the same texts, the
 * same routes with the same descriptions, and the same payees: whoever copies all that has the money sent to the other.
 */
export function getProductNumber(listing: LiveListing): number | null {
  const { title, tagline, description, base_url, routes } = listing;
  const payees = routes.flatMap(({ terms }) => getCurrentTerms(terms).map(({ pay_to }) => pay_to));
  const told = routes.reduce((sum, route) => sum + route.description.length, 0);
  if (payees.length === 0 || payees.includes(null) || told < TOLD_MIN) return null;
  const host = getHost(base_url);
  const identity = [
    title === host ? '' : title,
    ...[tagline, description].map((text) => text.replaceAll(host, '')),
    [...new Set(payees)].sort(),
    routes.map(({ method, path, description: text }) => [method, path, text]).sort(),
  ];
  return createHash('sha256').update(JSON.stringify(identity)).digest().readUIntBE(0, 6);
}

/** Gives the group of each place that is one of several addresses of a product, by its number. */
export function getProductGroups(columns: Columns): ReadonlyMap<number, number> {
  return new Map(listSameProducts(columns).flatMap((places, group) => places.map((place) => [place, group])));
}

const groupsOf = new WeakMap<Columns, readonly (readonly number[])[]>();

/** Lists the places of the listings that are one product at several addresses, a group each. */
function listSameProducts(columns: Columns): readonly (readonly number[])[] {
  const known = groupsOf.get(columns);
  if (known) return known;
  const byNumber = new Map<number, number[]>();
  const first = new Map<number, number>();
  for (const [place, number] of columns.products.entries()) {
    if (number === 0) continue;
    const before = first.get(number);
    if (before === undefined) first.set(number, place);
    else byNumber.set(number, [...(byNumber.get(number) ?? [before]), place]);
  }
  const groups = [...byNumber.values()];
  groupsOf.set(columns, groups);
  return groups;
}

/** Listings of which others are shown in place: by place, those that are behind it. */
export interface Folded {
  readonly hidden: ReadonlySet<number>;
  readonly behind: ReadonlyMap<number, readonly number[]>;
}

/**
 * Folds the addresses of each product under one of those that are found: the one whose sort key, which `findKey` gives, is the
 * smallest; of those at most `slack` behind it a verified one, and the one with the shortest name.
 */
export function foldProducts(columns: Columns, findKey: (place: number) => number | undefined, slack: number): Folded {
  const hidden = new Set<number>();
  const behind = new Map<number, readonly number[]>();
  for (const group of listSameProducts(columns)) {
    const found = group.flatMap((place) => {
      const key = findKey(place);
      return key === undefined ? [] : [{ place, key }];
    });
    if (found.length < 2) continue;
    const least = Math.min(...found.map(({ key }) => key)) + slack;
    const length = (place: number) => (columns.slugs[place] as string).length;
    const [shown] = found
      .filter(({ key }) => key <= least)
      .sort(
        (a, b) =>
          Number(isVerified(columns, b.place)) - Number(isVerified(columns, a.place)) ||
          length(a.place) - length(b.place) ||
          a.place - b.place,
      );
    const others = found.flatMap(({ place }) => (place === shown?.place ? [] : place));
    for (const place of others) hidden.add(place);
    if (shown) behind.set(shown.place, others);
  }
  return { hidden, behind };
}
