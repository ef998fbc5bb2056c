import { isObject } from '../json-value.ts';
import type { DocumentReader } from './document-reader.ts';
import { followReference } from './references.ts';

/** Deepest nesting of a generated example. */
const MAX_DEPTH = 6;
const MAX_FIELDS = 100;

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
  if (!isObject(schema) || depth > MAX_DEPTH) return undefined;
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
  for (const [name, field] of reader.listMembers(schema.properties).slice(0, MAX_FIELDS)) {
    const value = findSchemaExample(reader, field, required.has(name), depth + 1);
    if (value !== undefined) fields.push([name, value]);
    else if (required.has(name)) return undefined;
  }
  return fields.length > 0 ? Object.fromEntries(fields) : undefined;
}
