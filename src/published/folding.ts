import { type Columns, isVerified } from './columns.ts';

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
 * smallest; of those at most `slack` behind it a verified one, and the one with the shortest name. Where that one goes while
 * somebody leafs through pages, another takes its place, which may be on a page before.
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
