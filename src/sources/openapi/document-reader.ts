import type { JsonObject } from '../../model/route.ts';
import type { Note } from '../finding-codes.ts';
import { cleanJson, isObject } from '../json-value.ts';
import { followReference, getReference } from './references.ts';

/** How deep references are followed, tried in turn until the schema is small enough to be kept. */
const REFERENCE_DEPTHS = [12, 4, 2, 1, 0];

const MAX_DEPTH = 48;

/** Values looked at for one schema, and for all of a document: what a small text of references may cost at most. */
const MAX_VALUES = 8_000;
const MAX_VALUES_IN_ALL = 4_000_000;

/** Bytes of schemas kept of one document. */
const MAX_BYTES_IN_ALL = 4 * 1024 * 1024;

/** Members that hold data instead of schemas, in which `$ref` is a word like any other. */
const DATA = new Set(['example', 'examples', 'default', 'enum', 'const']);

/** Members whose own members are names that the provider chose. */
const FIELD_MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);

/** Reads the parts of one document that may be shared by many operations, and keeps count of what that costs. */
export interface DocumentReader {
  document: unknown;
  /** Returns a schema with its references resolved and its text cleaned, or null where there is none that can be kept. */
  readSchema: (raw: unknown, note: Note) => JsonObject | null;
  /** Lists the members of an object; none of anything else, and none once the document has cost too much. */
  listMembers: (value: unknown) => [name: string, member: unknown][];
  /** Returns a value back, or undefined where it is too large to be kept or the document has cost too much. */
  takeData: (value: unknown) => unknown;
}

/**
 * Opens the reading of a document. Of its schemas, local references are resolved in place; one that leads in a circle,
 * and those too deep for the whole to stay under 16 KB, are left open (`{type}`). Bounded in work and in size.
 */
export function openDocumentReader(document: unknown): DocumentReader {
  const left = { values: MAX_VALUES_IN_ALL, bytes: MAX_BYTES_IN_ALL };
  const listed: Listed = new WeakMap();

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

  function takeData(value: unknown): unknown {
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

  return { document, readSchema, listMembers, takeData };
}

/** The members of objects that are too large to be kept: operations by the thousand may refer to one of these. */
type Listed = WeakMap<object, [name: string, member: unknown][]>;

function listEntries(value: object, listed: Listed): [name: string, member: unknown][] {
  const known = listed.get(value);
  if (known) return known;
  const members = Object.entries(value);
  if (members.length > MAX_VALUES) listed.set(value, members);
  return members;
}

interface Expansion {
  document: unknown;
  /** References that may still be inside each other. */
  depth: number;
  /** Values that may still be looked at. */
  values: number;
  /** The references that are being resolved, outermost first. */
  open: string[];
  isBroken: boolean;
  listed: Listed;
}

function expand(value: unknown, depth: number, expansion: Expansion, isOfFields = false): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const members = listEntries(value, expansion.listed);
  // Counted before they are gone through, so that one huge value costs no more than its listing.
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
