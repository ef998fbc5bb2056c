import type { JsonObject } from '../../model/json.ts';
import type { Note } from '../finding-codes.ts';
import { buildObjectSchema, isDescriptor, normaliseSchema } from '../json-schema.ts';
import { cleanJson, isObject, type Json } from '../json-value.ts';
import { findMember, listDeclarations, listOutputs } from './item-fields.ts';

/**
 * Reads the JSON Schema of an item's answer, or null. An example answer goes into the schema's `examples`. Version 2
 * has a schema and an example in separate places; version 1 has one of them, or a map of fields.
 */
export function readOutputSchema(item: unknown, note: Note): JsonObject | null {
  const declared = listDeclarations(item);
  const schema = findFirst(
    declared.flatMap((place) => [
      findMember(place, 'schema', 'properties', 'output', 'properties', 'example'),
      findMember(place, 'output', 'schema'),
    ]),
    note,
  );
  const outputs = [...declared.map((place) => place.output).filter(isObject), ...listOutputs(item)];
  const example = findFirst(
    outputs.map((output) => output.example),
    note,
  );
  const described = schema && isObject(schema) ? normaliseSchema(schema) : findDescribed(outputs, note);
  if (example === undefined) return described && !isBare(described) ? described : null;
  const whole = cleanJson({ ...described, examples: [example] });
  return isObject(whole) ? whole : (described ?? null);
}

function findFirst(places: unknown[], note: Note): Json | undefined {
  for (const place of places.filter((candidate) => candidate !== undefined && candidate !== null)) {
    const value = cleanJson(place);
    if (value !== undefined) return value;
    note('schema_too_large');
  }
  return undefined;
}

/** Finds the first output that describes its fields, and not only its type (`{type: 'json'}`) or an example. */
function findDescribed(outputs: Record<string, unknown>[], note: Note): JsonObject | undefined {
  for (const output of outputs) {
    const { example, ...rest } = output;
    const value = findFirst([rest.schema ?? rest], note);
    if (!isObject(value) || isBare(value)) continue;
    return isDescriptor(value) ? normaliseSchema(value) : buildObjectSchema(value);
  }
  return undefined;
}

/** Returns whether a schema says nothing, as `{type: 'json'}`, `{type: 'object'}` and `{}`. */
function isBare(schema: Record<string, unknown>): boolean {
  return Object.keys(schema).every((key) => key === 'type' || key === 'format');
}
