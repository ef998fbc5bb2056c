/**
 * Creates a list that keeps the `limit` items with the smallest keys of all that are offered, in their order. `compare` orders
 * items of equal keys.
 */
export function createTop<Item>(limit: number, compare: (a: Item, b: Item) => number) {
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
  /** Returns true if an item with this key would be among the first now. */
  const isTaking = (key: number) => first.length < limit || key <= (first.at(-1)?.key ?? Number.NEGATIVE_INFINITY);
  return {
    offer(key: number, item: Item): void {
      if (!isTaking(key)) return;
      first.splice(findPlace(key, item), 0, { key, item });
      if (first.length > limit) first.pop();
    },
    isTaking,
    list: (): readonly { key: number; item: Item }[] => first,
  };
}
