/** Keeps the first few of many items by a number, in the order in which they are shown. */
export interface Top<Item> {
  offer(key: number, item: Item): void;
  /** Returns true if an item with this key would be among the first now. */
  isTaking(key: number): boolean;
  list(): { key: number; item: Item }[];
}

/**
 * Creates a list of the `limit` items with the smallest keys, as a heap whose root is the last of them. `compare` orders items of
 * equal keys.
 */
export function createTop<Item>(limit: number, compare: (a: Item, b: Item) => number): Top<Item> {
  const heap: { key: number; item: Item }[] = [];

  const isLater = (a: number, b: number): boolean => {
    const [one, other] = [heap[a], heap[b]];
    if (one === undefined || other === undefined) return other === undefined && one !== undefined;
    return one.key > other.key || (one.key === other.key && compare(one.item, other.item) > 0);
  };
  const swap = (a: number, b: number) => {
    const [one, other] = [heap[a], heap[b]];
    if (one === undefined || other === undefined) return;
    heap[a] = other;
    heap[b] = one;
  };
  const sinkRoot = () => {
    for (let at = 0; ; ) {
      const child = isLater(2 * at + 1, 2 * at + 2) ? 2 * at + 1 : 2 * at + 2;
      if (child >= heap.length || !isLater(child, at)) return;
      swap(at, child);
      at = child;
    }
  };
  const lift = () => {
    for (let at = heap.length - 1; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!isLater(at, parent)) return;
      swap(at, parent);
      at = parent;
    }
  };

  return {
    offer(key, item) {
      const last = heap[0];
      if (heap.length < limit) {
        heap.push({ key, item });
        lift();
      } else if (last !== undefined && (key < last.key || (key === last.key && compare(item, last.item) < 0))) {
        heap[0] = { key, item };
        sinkRoot();
      }
    },
    isTaking: (key) => heap.length < limit || key <= (heap[0]?.key ?? Number.NEGATIVE_INFINITY),
    list: () => heap.toSorted((a, b) => a.key - b.key || compare(a.item, b.item)),
  };
}
