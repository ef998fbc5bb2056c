import type { JsonObject } from '../../model/json.ts';
import type { Note } from '../finding-codes.ts';
import { cleanJson, isObject } from '../json-value.ts';

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

/** Most references in a chain. A longer chain is a circle or nonsense. */
const MAX_HOPS = 16;

/**
 * Follows a `$ref` into its own document (`#/components/…`, RFC 6901) and returns the final value. Returns the value
 * itself if it is not a reference, and undefined if the reference leads nowhere, in a circle, or out of the document:
 * nothing is ever fetched for a reference.
 */
export function followReference(document: unknown, value: unknown): unknown {
  let current = value;
  for (let hop = 0; hop < MAX_HOPS; hop += 1) {
    const reference = getReference(current);
    if (reference === undefined) return current;
    current = findByPointer(document, reference);
  }
  return undefined;
}

/** Returns the text of a reference; undefined for anything else. */
function getReference(value: unknown): string | undefined {
  return isObject(value) && Object.hasOwn(value, '$ref') && typeof value.$ref === 'string' ? value.$ref : undefined;
}

function findByPointer(document: unknown, reference: string): unknown {
  if (!reference.startsWith('#/') || reference.length > 1000) return undefined;
  let at = document;
  for (const step of reference.slice(2).split('/')) {
    const key = decodeStep(step);
    if (Array.isArray(at)) at = /^\d{1,6}$/.test(key) ? at[Number(key)] : undefined;
    else at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}

function decodeStep(step: string): string {
  let text = step;
  try {
    text = decodeURIComponent(step);
  } catch (error) {
    // A percent sign that escapes nothing is literal.
    if (!(error instanceof URIError)) throw error;
  }
  return text.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** One media type of a body, with its Media Type Object. */
interface Content {
  mime_type: string;
  media: Record<string, unknown>;
}

/** Finds the media type of a body that an agent would use: JSON if there is any, else the first. */
export function findContent({ document, listMembers }: DocumentReader, content: unknown): Content | undefined {
  const types = listMembers(content);
  const [mime_type, raw] = types.find(([name]) => isJsonType(name)) ?? types[0] ?? [];
  const media = followReference(document, raw);
  return mime_type !== undefined && isObject(media) ? { mime_type, media } : undefined;
}

/** Returns whether a media type is JSON: `application/json`, `application/problem+json; charset=utf-8`. */
export function isJsonType(name: string): boolean {
  return /^[^;]*[/+]json\s*(?:;|$)/i.test(name);
}

/** Deepest nesting of a generated example. */
const MAX_EXAMPLE_DEPTH = 6;
const MAX_EXAMPLE_FIELDS = 100;

/**
 * Finds an example value of a parameter or a body: its own `example`, the first of its `examples`, else one from its
 * schema. Undefined if there is none. Takes a Parameter or Media Type Object.
 */
export function findExample(
  reader: DocumentReader,
  holder: Record<string, unknown>,
  { isNeeded }: { isNeeded: boolean },
): unknown {
  if (holder.example !== undefined) return reader.omitIfLarge(holder.example);
  const named = findNamedExample(reader, holder.examples);
  return named === undefined ? findSchemaExample(reader, holder.schema, isNeeded, 0) : named;
}

/** Finds the value of the first named example (OpenAPI 3.1, "Example Object"). */
export function findNamedExample({ document, listMembers, omitIfLarge }: DocumentReader, examples: unknown): unknown {
  const first = followReference(document, listMembers(examples)[0]?.[1]);
  return isObject(first) ? omitIfLarge(first.value) : undefined;
}

/**
 * Finds the example of a schema. If one is needed, its default, its first `enum` value or an object of its fields will
 * do.
 */
function findSchemaExample(reader: DocumentReader, raw: unknown, isNeeded: boolean, depth: number): unknown {
  const schema = followReference(reader.document, raw);
  if (!isObject(schema) || depth > MAX_EXAMPLE_DEPTH) return undefined;
  const { example, examples, const: only } = schema;
  const given = [example, Array.isArray(examples) ? examples[0] : undefined, only].find((value) => value !== undefined);
  if (given !== undefined || !isNeeded) return reader.omitIfLarge(given);
  if (schema.default !== undefined) return reader.omitIfLarge(schema.default);
  if (Array.isArray(schema.enum)) return reader.omitIfLarge(schema.enum[0]);
  return isObject(schema.properties) ? buildObject(reader, schema, depth) : undefined;
}

/** Builds an object of the fields with an example; undefined if a required field has no value. */
function buildObject(
  reader: DocumentReader,
  schema: Record<string, unknown>,
  depth: number,
): Record<string, unknown> | undefined {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const fields: [string, unknown][] = [];
  for (const [name, field] of reader.listMembers(schema.properties).slice(0, MAX_EXAMPLE_FIELDS)) {
    const value = findSchemaExample(reader, field, required.has(name), depth + 1);
    if (value !== undefined) fields.push([name, value]);
    else if (required.has(name)) return undefined;
  }
  return fields.length > 0 ? Object.fromEntries(fields) : undefined;
}
