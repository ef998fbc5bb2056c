/** A store that forgets, by whole generations, so that neither its size nor the time of a step grows with use. */
export interface Generations<Value> {
  /** Finds what was kept of a key in this generation or the one before. */
  find(key: string): Value | undefined;
  keep(key: string, value: Value): void;
  /** Begins a generation: what the one before the last knew, and nobody asked for since, is forgotten. */
  turn(): void;
}

/** Creates a store of at most `limit` values; half of them can be of one generation. */
export function createGenerations<Value>(limit: number): Generations<Value> {
  let young = new Map<string, Value>();
  let old = new Map<string, Value>();
  const turn = () => {
    old = young;
    young = new Map();
  };
  const keep = (key: string, value: Value) => {
    if (young.size >= limit / 2 && !young.has(key)) turn();
    young.set(key, value);
  };
  return {
    find(key) {
      const known = young.get(key);
      if (known !== undefined) return known;
      const kept = old.get(key);
      if (kept !== undefined) keep(key, kept);
      return kept;
    },
    keep,
    turn,
  };
}
