import { z } from 'zod';

/**
 * Converts a value to the type that its schema takes: a query has only texts, and models send 0.01 for "0.01" and "5" for 5.
 * Returns any other value unchanged, which the schema then accepts or refuses.
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

/** Other names that clients use for a parameter, each with the parameter's own name. */
const OTHER_NAMES: Readonly<Record<string, string>> = { query: 'q' };

/**
 * Returns the parameter of a schema that a name stands for, by default the name itself. Some clients write `name[]` for a
 * parameter that may be repeated.
 */
export function findOwnName(given: string, names: readonly string[]): string {
  if (names.includes(given)) return given;
  const own = OTHER_NAMES[given] ?? given.replace(/\[\]$/, '');
  return names.includes(own) ? own : given;
}
