/** Values by a key up to a limit; those that nobody asked for of late make room for others. */
export interface Latest<Value> {
  /** Finds a value, which keeps it for longer. */
  find(key: string): Value | undefined;
  /** Adds a value, in place of what was there, however large it is. */
  add(key: string, value: Value): void;
  remove(key: string): void;
  clear(): void;
}

/** A value, and whether it was asked for since it was last its turn to go. */
interface Slot<Value> {
  readonly value: Value;
  isUsed: boolean;
}

/**
 * Creates an empty store for as much as `limit`, as `measure` has it, or for one value that is larger. Whichever was added
 * first goes first, but one that was asked for meanwhile has another turn. (To move each to the end when it is found would
 * be exact, and take many times as long: a Map of which entries are taken and added all the time is made anew every few of
 * them, and the ones before keep garbage alive.)
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
  return {
    remove,
    find(key) {
      const slot = slots.get(key);
      if (slot) slot.isUsed = true;
      return slot?.value;
    },
    add(key, value) {
      remove(key);
      slots.set(key, { value, isUsed: false });
      held += measure(value);
      // What is added again on the way comes up once more.
      for (const [oldest, slot] of slots) {
        if (held <= limit || slots.size === 1) break;
        if (oldest === key) continue;
        if (!slot.isUsed) {
          remove(oldest);
          continue;
        }
        slots.delete(oldest);
        slots.set(oldest, { ...slot, isUsed: false });
      }
    },
    clear() {
      slots.clear();
      held = 0;
    },
  };
}
