/** A JSON object: not null, not an array. */
export type JsonObject = Record<string, unknown>;

/** Returns true if a value is a JSON object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Returns a JSON scalar as text, and `(no text)` for an object or a list: `String` and `Number` throw where one has a `toString`
 * of its own.
 */
export function writeScalar(value: unknown): string {
  return typeof value === 'object' && value !== null ? '(no text)' : String(value);
}

/** The types of a value as JSON Schema names them. */
export const JSON_TYPES: ReadonlySet<unknown> = new Set([
  'string',
  'number',
  'integer',
  'boolean',
  'object',
  'array',
  'null',
]);

/** Parses a text as JSON; undefined for a text that is not JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
