/** The first few of many by a number, in the order they will be shown. */
export interface Top<Item> {
  /** Offers the next item; of even keys the one offered first comes first. */
  offer(key: number, item: Item): void;
  /** Says whether an item with this key would be among the first as it stands. */
  isTaking(key: number): boolean;
  list(): { key: number; item: Item }[];
}

/** Makes a list of the `limit` items with the smallest keys, as a heap whose root is the last of them. */
export function createTop<Item>(limit: number): Top<Item> {
  const heap: { key: number; order: number; item: Item }[] = [];
  let offered = 0;

  const isLater = (a: number, b: number): boolean => {
    const [one, other] = [heap[a], heap[b]];
    if (one === undefined || other === undefined) return other === undefined && one !== undefined;
    return one.key > other.key || (one.key === other.key && one.order > other.order);
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
      offered += 1;
      if (heap.length < limit) {
        heap.push({ key, order: offered, item });
        lift();
      } else if (key < (heap[0]?.key ?? Number.NEGATIVE_INFINITY)) {
        heap[0] = { key, order: offered, item };
        sinkRoot();
      }
    },
    isTaking: (key) => heap.length < limit || key < (heap[0]?.key ?? Number.NEGATIVE_INFINITY),
    list: () => heap.toSorted((a, b) => a.key - b.key || a.order - b.order),
  };
}
