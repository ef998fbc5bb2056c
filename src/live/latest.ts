/** Values by a key, the latest used up to a limit. */
export interface Latest<Value> {
  /** Finds a value, which counts as using it. */
  find(key: string): Value | undefined;
  /** Adds a value, in place of what was there; those used longest ago make room for it. */
  add(key: string, value: Value): void;
  remove(key: string): void;
  clear(): void;
}

/** Creates an empty store for as much as `limit`, as `measure` has it, or for one value that is larger. */
export function createLatest<Value>(limit: number, measure: (value: Value) => number): Latest<Value> {
  const kept = new Map<string, Value>();
  let held = 0;
  const remove = (key: string) => {
    const value = kept.get(key);
    if (value === undefined) return;
    kept.delete(key);
    held -= measure(value);
  };
  return {
    remove,
    find(key) {
      const value = kept.get(key);
      if (value === undefined) return undefined;
      kept.delete(key);
      kept.set(key, value);
      return value;
    },
    add(key, value) {
      remove(key);
      kept.set(key, value);
      held += measure(value);
      for (const oldest of kept.keys()) {
        if (held <= limit || oldest === key) break;
        remove(oldest);
      }
    },
    clear() {
      kept.clear();
      held = 0;
    },
  };
}
