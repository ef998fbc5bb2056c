/** How far an answer from memory may be behind a write, in milliseconds. */
const MOMENT_MS = 0.25;

/** When a reading is let go at the latest, in milliseconds. */
const FORGET_MS = 1;

/**
 * Wraps a look at the catalogue so that requests of one moment share it: SQLite takes some 9 µs to say whether anything was
 * written, half of what sending an answer from memory takes in all. What `read` gives is let go soon after that moment. What
 * it throws is thrown, and not shared.
 */
export function shareForMoment<Value>(read: () => Value): () => Value {
  let shared: { readonly value: Value; readonly until: number } | undefined;
  let isForgetting = false;
  const forget = () => {
    shared = undefined;
    isForgetting = false;
  };
  return () => {
    const time = performance.now();
    if (shared && time < shared.until) return shared.value;
    shared = { value: read(), until: time + MOMENT_MS };
    if (!isForgetting) setTimeout(forget, FORGET_MS).unref();
    isForgetting = true;
    return shared.value;
  };
}
