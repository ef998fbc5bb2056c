import { isObject, JSON_TYPES, type JsonObject } from '../model/json.ts';

/** Members that make an object a schema, and not an example value. */
const KEYWORDS = ['properties', 'items', 'enum', 'anyOf', 'oneOf', 'allOf', '$ref', '$schema', 'const'];

/**
 * Returns whether an object describes a value (`{type: 'string', description: …}`) and is not an example itself. The
 * same test works for x402 discovery fields and JSON Schema.
 */
export function isDescriptor(value: unknown): value is JsonObject {
  if (!isObject(value)) return false;
  return (
    typeof value.type === 'string' || typeof value.description === 'string' || KEYWORDS.some((key) => key in value)
  );
}

/** Members of a JSON Schema besides those that say what is in it. */
const ANNOTATIONS = [
  ...['$schema', '$id', 'title', 'description', 'type', 'properties', 'required', 'additionalProperties', 'items'],
  ...['example', 'examples', 'default', '$defs', 'definitions', 'anyOf', 'oneOf', 'allOf', 'minItems', 'maxItems'],
];

/**
 * Returns whether an object is the JSON Schema of a whole part of a request, and neither an example nor a map of
 * fields: it has a schema for each of its `properties`, for its `items`, or for each choice.
 */
export function isWholeSchema(value: unknown): value is JsonObject {
  if (!isObject(value) || !Object.keys(value).every((key) => ANNOTATIONS.includes(key))) return false;
  const { type, properties, items, anyOf, oneOf, allOf } = value;
  if (type !== undefined && typeof type !== 'string') return false;
  if (properties !== undefined) return isObject(properties) && Object.values(properties).every(isObject);
  const choices = anyOf ?? oneOf ?? allOf;
  return type === 'array' ? isObject(items) : Array.isArray(choices) && choices.every(isObject);
}

/** Returns whether a schema says nothing, as `{type: 'json'}`, `{type: 'object'}` and `{}`. */
export function saysNothing(schema: JsonObject): boolean {
  return Object.keys(schema).every((key) => key === 'type' || key === 'format');
}

/** Returns whether every member of a non-empty object describes a field. */
export function isFieldMap(value: unknown): value is JsonObject {
  return isObject(value) && Object.keys(value).length > 0 && Object.values(value).every(isDescriptor);
}

/**
 * Builds the JSON Schema of an object from its fields as x402 discovery writes them: each field has a descriptor, whose
 * `required: true` moves into the `required` list of the object. A value that is not a descriptor becomes an example of
 * its field.
 */
export function buildObjectSchema(fields: JsonObject): JsonObject {
  const required = listRequired(fields);
  return {
    type: 'object',
    properties: mapMembers(fields, buildFieldSchema),
    ...(required.length > 0 && { required }),
  };
}

function buildFieldSchema(field: unknown): unknown {
  if (isDescriptor(field)) return normaliseSchema(field);
  if (!isObject(field)) return { examples: [field] };
  return Object.keys(field).length > 0 ? buildObjectSchema(field) : {};
}

/**
 * Converts a schema that mixes both notations into JSON Schema: boolean `required` moves into the `required` list of
 * the enclosing object, and a `type` that JSON Schema does not have (`file`, `text/html`) becomes a format. The rest
 * stays as it is.
 */
export function normaliseSchema(schema: JsonObject): JsonObject {
  const { required: stated, type, properties, items, ...rest } = schema;
  const isOwnType = typeof type === 'string' && !JSON_TYPES.has(type);
  const required = new Set(Array.isArray(stated) ? stated.filter((name) => typeof name === 'string') : []);
  if (isObject(properties)) for (const name of listRequired(properties)) required.add(name);
  return {
    ...(type !== undefined && (isOwnType ? { format: type } : { type })),
    ...rest,
    ...(properties !== undefined && {
      properties: isObject(properties) ? mapMembers(properties, normaliseMember) : {},
    }),
    ...(items !== undefined && { items: normaliseMember(items) }),
    ...(required.size > 0 && { required: [...required] }),
  };
}

function normaliseMember(member: unknown): unknown {
  return isObject(member) ? normaliseSchema(member) : member;
}

function listRequired(fields: JsonObject): string[] {
  return Object.entries(fields).flatMap(([name, field]) => (isObject(field) && field.required === true ? [name] : []));
}

function mapMembers(members: JsonObject, change: (member: unknown) => unknown): JsonObject {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, change(member)]));
}
