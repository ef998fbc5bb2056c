import type { JsonObject } from '../../model/json.ts';
import type { Note } from '../finding-codes.ts';
import { cleanJson, isObject } from '../json-value.ts';
import { followReference, getReference } from './references.ts';

/** Depths to which references are followed. They are tried in turn until the schema is small enough. */
const REFERENCE_DEPTHS = [12, 4, 2, 1, 0];

const MAX_DEPTH = 48;

/**
 * Most values visited for one schema, and for a whole document. A small text full of references could otherwise cost
 * any time.
 */
const MAX_VALUES = 8_000;
const MAX_VALUES_IN_ALL = 4_000_000;

/** Most bytes of schemas that are kept from one document. */
const MAX_BYTES_IN_ALL = 4 * 1024 * 1024;

/** Members with data instead of schemas. In them `$ref` has no meaning. */
const DATA = new Set(['example', 'examples', 'default', 'enum', 'const']);

/** Members whose own keys are names that the provider chose. */
const FIELD_MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);

/** Reads parts of one document that many operations may share, within a budget for the whole document. */
export interface DocumentReader {
  document: unknown;
  /** Returns a schema with references resolved and texts cleaned, or null if there is none that can be kept. */
  readSchema: (raw: unknown, note: Note) => JsonObject | null;
  /** Lists the members of an object; empty for anything else, and once the budget is used up. */
  listMembers: (value: unknown) => [name: string, member: unknown][];
  /** Returns the value itself, or undefined if it is too large or the budget is used up. */
  omitIfLarge: (value: unknown) => unknown;
}

/**
 * Opens a reader for a document. It resolves local references in schemas. References that form a circle, or that make
 * the schema larger than 16 KB, are replaced by their type (`{type}`). Work and size are bounded.
 */
export function openDocumentReader(document: unknown): DocumentReader {
  const left = { values: MAX_VALUES_IN_ALL, bytes: MAX_BYTES_IN_ALL };
  const listed: KnownEntries = new WeakMap();

  function readSchema(raw: unknown, note: Note): JsonObject | null {
    if (!isObject(raw)) return null;
    for (const depth of REFERENCE_DEPTHS) {
      if (left.values <= 0 || left.bytes <= 0) {
        note('schemas_left_out');
        return null;
      }
      const expansion: Expansion = { document, depth, values: MAX_VALUES, open: [], isBroken: false, listed };
      const schema = cleanJson(expand(raw, 0, expansion));
      left.values -= MAX_VALUES - expansion.values;
      if (expansion.values < 0 || !isObject(schema)) continue;
      if (expansion.isBroken) note('bad_reference');
      if (depth !== REFERENCE_DEPTHS[0]) note('schema_cut');
      left.bytes -= Buffer.byteLength(JSON.stringify(schema));
      return schema;
    }
    note('schema_too_large');
    return null;
  }

  function listMembers(value: unknown): [string, unknown][] {
    if (!isObject(value) || left.values <= 0) return [];
    const members = listEntries(value, listed);
    left.values -= members.length;
    return members;
  }

  function omitIfLarge(value: unknown): unknown {
    let values = MAX_VALUES;
    const isSmall = (part: unknown, depth: number): boolean => {
      if (typeof part !== 'object' || part === null) return true;
      const members = left.values > 0 && depth < MAX_DEPTH ? listEntries(part, listed) : [];
      values -= members.length;
      left.values -= members.length;
      return (
        values > 0 && left.values > 0 && depth < MAX_DEPTH && members.every(([, member]) => isSmall(member, depth + 1))
      );
    };
    return isSmall(value, 0) ? value : undefined;
  }

  return { document, readSchema, listMembers, omitIfLarge };
}

/** Cached members of very large objects, because thousands of operations may refer to one of them. */
type KnownEntries = WeakMap<object, [name: string, member: unknown][]>;

function listEntries(value: object, listed: KnownEntries): [name: string, member: unknown][] {
  const known = listed.get(value);
  if (known) return known;
  const members = Object.entries(value);
  if (members.length > MAX_VALUES) listed.set(value, members);
  return members;
}

interface Expansion {
  document: unknown;
  /** Deepest nesting of references. */
  depth: number;
  /** Number of values that may still be visited. */
  values: number;
  /** The references that are being resolved, outermost first. */
  open: string[];
  isBroken: boolean;
  listed: KnownEntries;
}

function expand(value: unknown, depth: number, expansion: Expansion, isOfFields = false): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const members = listEntries(value, expansion.listed);
  // Members are counted before they are visited, so that one huge value costs no more than listing its keys.
  expansion.values -= members.length + 1;
  if (expansion.values < 0 || depth > MAX_DEPTH) return {};
  if (Array.isArray(value)) return value.map((item) => expand(item, depth + 1, expansion));
  if (!isObject(value)) return null;
  const reference = getReference(value);
  if (reference !== undefined) return expandReference(value, reference, depth, expansion);
  return Object.fromEntries(
    members.map(([key, member]) => [
      key,
      DATA.has(key) && !isOfFields ? member : expand(member, depth + 1, expansion, FIELD_MAPS.has(key) && !isOfFields),
    ]),
  );
}

function expandReference(
  value: Record<string, unknown>,
  reference: string,
  depth: number,
  expansion: Expansion,
): unknown {
  const { $ref: _reference, ...beside } = value;
  const target = followReference(expansion.document, { $ref: reference });
  if (!isObject(target)) {
    expansion.isBroken = true;
    return expand(beside, depth, expansion);
  }
  if (expansion.open.length >= expansion.depth || expansion.open.includes(reference)) {
    return expand({ ...(typeof target.type === 'string' && { type: target.type }), ...beside }, depth, expansion);
  }
  expansion.open.push(reference);
  const expanded = expand({ ...target, ...beside }, depth, expansion);
  expansion.open.pop();
  return expanded;
}
