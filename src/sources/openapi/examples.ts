import { isObject } from '../json-value.ts';
import type { DocumentReader } from './document-reader.ts';
import { followReference } from './references.ts';

/** Objects inside objects that an example is made up for. */
const MAX_DEPTH = 6;
const MAX_FIELDS = 100;

/**
 * Finds an example value of a parameter or a body: its own `example`, the first of its `examples`, else what its schema
 * says. Undefined where nothing can be sent. Takes a Parameter or Media Type Object.
 */
export function findExample(
  reader: DocumentReader,
  holder: Record<string, unknown>,
  { isNeeded }: { isNeeded: boolean },
): unknown {
  if (holder.example !== undefined) return reader.takeData(holder.example);
  const named = findNamedExample(reader, holder.examples);
  return named === undefined ? findSchemaExample(reader, holder.schema, isNeeded, 0) : named;
}

/** Finds the value of the first of named examples (OpenAPI 3.1, "Example Object"). */
export function findNamedExample({ document, listMembers, takeData }: DocumentReader, examples: unknown): unknown {
  const first = followReference(document, listMembers(examples)[0]?.[1]);
  return isObject(first) ? takeData(first.value) : undefined;
}

/** An example that the schema gives; where one is needed also its default, its first choice, or one made of its fields. */
function findSchemaExample(reader: DocumentReader, raw: unknown, isNeeded: boolean, depth: number): unknown {
  const schema = followReference(reader.document, raw);
  if (!isObject(schema) || depth > MAX_DEPTH) return undefined;
  const { example, examples, const: only } = schema;
  const given = [example, Array.isArray(examples) ? examples[0] : undefined, only].find((value) => value !== undefined);
  if (given !== undefined || !isNeeded) return reader.takeData(given);
  if (schema.default !== undefined) return reader.takeData(schema.default);
  if (Array.isArray(schema.enum)) return reader.takeData(schema.enum[0]);
  return isObject(schema.properties) ? buildObject(reader, schema, depth) : undefined;
}

/** Builds an object of the fields that have an example or are required; nothing where a required one has no value. */
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
