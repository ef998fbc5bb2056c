import { isObject, type JsonObject } from '../model/json.ts';
import { cleanString } from './clean-string.ts';
import type { Note } from './findings.ts';

/** Largest schema or example that is kept, in bytes of JSON, and its deepest nesting. */
const MAX_JSON_BYTES = 16 * 1024;
const MAX_JSON_DEPTH = 32;

/**
 * Copies a JSON value that a provider wrote. Invisible characters and chat marks are removed from its keys and strings,
 * so that a schema carries no hidden message. A `__proto__` key is left out, and a number that JSON cannot write
 * becomes null. Returns undefined for a value beyond the limits, before anything large is copied.
 */
export function cleanJson(value: unknown): unknown {
  const budget = { left: MAX_JSON_BYTES };
  const copy = copyJson(value, 0, budget);
  if (copy === undefined || budget.left < 0) return undefined;
  return Buffer.byteLength(JSON.stringify(copy)) <= MAX_JSON_BYTES ? copy : undefined;
}

/** Copies a JSON Schema as `cleanJson` does. Notes one that is beyond the limits, or is no object, and returns null. */
export function cleanSchema(raw: unknown, note: Note): JsonObject | null {
  const schema = cleanJson(raw);
  if (isObject(schema)) return schema;
  note('schema_too_large');
  return null;
}

/** Finds a member along a path of keys; undefined if any of them is missing. */
export function findMember(value: unknown, ...path: string[]): unknown {
  return path.reduce<unknown>((at, key) => (isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined), value);
}

/** Finds the first text that is not blank. */
export function findText(places: readonly unknown[]): string | undefined {
  return places.find((place): place is string => typeof place === 'string' && place.trim() !== '');
}

function copyJson(value: unknown, depth: number, budget: { left: number }): unknown {
  budget.left -= typeof value === 'string' ? value.length : 1;
  if (budget.left < 0 || depth > MAX_JSON_DEPTH) return undefined;
  if (typeof value === 'string') return cleanString(value);
  if (typeof value === 'boolean' || value === null) return value;
  // Adding zero turns -0 into 0, as JSON writes it.
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : null;
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) {
      const copy = copyJson(item, depth + 1, budget);
      if (copy === undefined) return undefined;
      items.push(copy);
    }
    return items;
  }
  return isObject(value) ? copyObject(value, depth, budget) : null;
}

function copyObject(value: Record<string, unknown>, depth: number, budget: { left: number }): JsonObject | undefined {
  const copy: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    budget.left -= key.length;
    const name = cleanString(key.slice(0, 200));
    if (name === '__proto__') continue;
    const copied = copyJson(member, depth + 1, budget);
    if (copied === undefined) return undefined;
    copy[name] = copied;
  }
  return copy;
}

/** Most members of one object that are looked at, and the longest name of one. */
const MAX_MEMBERS = 64;
const NAME_LENGTH = 40;

/** Returns a name without case and punctuation: `price_usd` and `priceUsd` are one. */
function normaliseName(name: string): string {
  return name.length > NAME_LENGTH ? '' : name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** A member of an object: its name in normal form, its value, and its name as written. */
export type Named = [normal: string, member: unknown, name: string];

/** The members of objects that were looked at, because each entry looks at the file, too. */
const listed = new WeakMap<object, Named[]>();

/** Lists the first members of an object with their names in normal form. */
export function listNamed(value: unknown): Named[] {
  if (!isObject(value)) return [];
  const found =
    listed.get(value) ??
    Object.entries(value)
      .slice(0, MAX_MEMBERS)
      .map(([name, member]): Named => [normaliseName(name), member, name]);
  listed.set(value, found);
  return found;
}
