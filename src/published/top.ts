/** Keeps the first few of many items by a number, in the order in which they are shown. */
export interface Top<Item> {
  offer(key: number, item: Item): void;
  /** Returns true if an item with this key would be among the first now. */
  isTaking(key: number): boolean;
  list(): readonly { key: number; item: Item }[];
}

/** Creates a list of the `limit` items with the smallest keys, in their order. `compare` orders items of equal keys. */
export function createTop<Item>(limit: number, compare: (a: Item, b: Item) => number): Top<Item> {
  const first: { key: number; item: Item }[] = [];
  /** Finds the place of an item: behind all that come before it. */
  const findPlace = (key: number, item: Item): number => {
    let [from, to] = [0, first.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      const kept = first[middle] as (typeof first)[number];
      if (kept.key < key || (kept.key === key && compare(kept.item, item) <= 0)) from = middle + 1;
      else to = middle;
    }
    return from;
  };
  const isTaking = (key: number) => first.length < limit || key <= (first.at(-1)?.key ?? Number.NEGATIVE_INFINITY);
  return {
    offer(key, item) {
      if (!isTaking(key)) return;
      first.splice(findPlace(key, item), 0, { key, item });
      if (first.length > limit) first.pop();
    },
    isTaking,
    list: () => first,
  };
}
