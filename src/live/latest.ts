/** Values by a key up to a limit; those that nobody asked for of late make room for others. */
export interface Latest<Value> {
  /** Finds a value, which keeps it for longer. */
  find(key: string): Value | undefined;
  /** Adds a value, in place of what was there, however large it is. */
  add(key: string, value: Value): void;
  remove(key: string): void;
  clear(): void;
}

/** A value, and whether it was asked for since it was added or last spared. */
interface Slot<Value> {
  readonly value: Value;
  isUsed: boolean;
}

/**
 * Creates an empty store for as much as `limit`, as `measure` has it, or for one value that is larger. Whichever was added
 * first goes first, but one that was asked for meanwhile is spared once. (To move each value to the end when it is found
 * would be exact, and costs several times as much: a Map copies itself after so many removals, and in V8 the copies left
 * behind keep alive what they held.)
 */
export function createLatest<Value>(limit: number, measure: (value: Value) => number): Latest<Value> {
  const slots = new Map<string, Slot<Value>>();
  let held = 0;
  const remove = (key: string) => {
    const slot = slots.get(key);
    if (slot === undefined) return;
    slots.delete(key);
    held -= measure(slot.value);
  };
  const makeRoom = (size: number) => {
    // Those that are spared go to the end, and come up once more.
    for (const [key, slot] of slots) {
      if (held + size <= limit) return;
      if (slot.isUsed) {
        slots.delete(key);
        slots.set(key, { ...slot, isUsed: false });
      } else {
        remove(key);
      }
    }
  };
  return {
    remove,
    find(key) {
      const slot = slots.get(key);
      if (slot) slot.isUsed = true;
      return slot?.value;
    },
    add(key, value) {
      remove(key);
      const size = measure(value);
      makeRoom(size);
      slots.set(key, { value, isUsed: false });
      held += size;
    },
    clear() {
      slots.clear();
      held = 0;
    },
  };
}
