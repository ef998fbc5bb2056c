/** Keeps texts and lists of texts that are the same only once: thousands of listings are about the same few things. */
export interface Interning {
  text(value: string): string;
  list<Value extends string>(values: readonly Value[]): readonly Value[];
}

/** From so many texts on it starts afresh, so that what nobody says any more is not kept for ever. */
const MOST_TEXTS = 500_000;

/** V8 copies parts of a text that are shorter than this. */
const SHORT = 13;

/** Creates an interning that knows no text yet. */
export function createInterning(): Interning {
  const texts = new Map<string, string>();
  const lists = new Map<string, readonly string[]>();
  const text = (value: string): string => {
    const known = texts.get(value);
    if (known !== undefined) return known;
    if (texts.size >= MOST_TEXTS) texts.clear();
    // A part of a longer text keeps all of it where it is not short; the round trip gives a text of its own.
    const own = value.length < SHORT ? value : Buffer.from(value).toString();
    texts.set(own, own);
    return own;
  };
  return {
    text,
    list<Value extends string>(values: readonly Value[]) {
      const key = values.join('\n');
      const known = lists.get(key);
      // Under the same key lie the same values, so their type is the same, too.
      if (known) return known as readonly Value[];
      if (lists.size >= MOST_TEXTS) lists.clear();
      lists.set(key, values);
      return values;
    },
  };
}
