/** A JSON object: not null, not an array. */
export type JsonObject = Record<string, unknown>;

/** Returns true if a value is a JSON object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
