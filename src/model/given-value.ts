import { z } from 'zod';

/**
 * Reads a value as its schema takes it, where only its type is another: a query writes everything as text, and models
 * send 0.01 for "0.01" and "5" for 5. Any other value comes back unchanged, for the schema to take or refuse.
 */
export function readGiven(schema: z.core.$ZodType | undefined, value: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return readGiven(schema.unwrap(), value);
  const kinds = schema instanceof z.ZodUnion ? schema.options : [schema];
  if (typeof value === 'number') {
    const isText =
      !kinds.some((kind) => kind instanceof z.ZodNumber) && kinds.some((kind) => kind instanceof z.ZodString);
    return isText ? String(value) : value;
  }
  if (typeof value !== 'string') return value;
  if (kinds.some((kind) => kind instanceof z.ZodBoolean)) {
    return value === 'true' ? true : value === 'false' ? false : value;
  }
  const isNumber = kinds.some((kind) => kind instanceof z.ZodNumber) && /^\d{1,15}$/.test(value);
  return isNumber ? Number(value) : value;
}

/** Names that clients use for a parameter, and its own name. */
const OTHER_NAMES: Readonly<Record<string, string>> = { query: 'q' };

/**
 * Returns the parameter that a name stands for among those of a schema: itself, unless it is another name of one. Some
 * clients write `name[]` where a parameter may be repeated.
 */
export function findOwnName(given: string, names: readonly string[]): string {
  if (names.includes(given)) return given;
  const own = OTHER_NAMES[given] ?? given.replace(/\[\]$/, '');
  return names.includes(own) ? own : given;
}
