/** JSON values of which no text or number can be made: `String` and `Number` throw for them. */
const TEXTLESS: readonly unknown[] = [{ toString: null, valueOf: null }, [{ toString: 1 }]];

/** Lists copies of a JSON value in which one value, it itself or one within it, has no text. */
export function listTextless(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [...TEXTLESS];
  const within = Object.entries(value).flatMap(([key, member]) =>
    listTextless(member).map((replaced) =>
      Array.isArray(value) ? value.with(Number(key), replaced) : { ...value, [key]: replaced },
    ),
  );
  return [...TEXTLESS, ...within];
}
