import { isObject, type JsonObject } from '../model/json.ts';
import { getTokenEstimate } from './compact.ts';

type Json = JsonObject[string];

/** Words of a schema that explain rather than say what fits. */
const PROSE = new Set(['$schema', '$id', '$comment', 'title', 'description', 'examples', 'deprecated']);

/** Words under which a schema holds other schemas: by name, in a list or alone. */
const NAMED = new Set(['properties', '$defs', 'definitions', 'patternProperties', 'dependentSchemas']);
const NESTED = new Set(['items', 'additionalProperties', 'anyOf', 'oneOf', 'allOf', 'not', 'prefixItems']);

/**
 * Shortens a provider's JSON Schema until it fits into a number of tokens: as it is, without prose, or the fields of the
 * first level with their types alone. Gives undefined where even that is too long.
 */
export function shortenSchema(schema: JsonObject, tokens: number): JsonObject | undefined {
  return [schema, removeProse(schema), getOutline(schema)].find(
    (candidate) => getTokenEstimate(JSON.stringify(candidate)) <= tokens,
  );
}

function removeProse(schema: JsonObject): JsonObject {
  const kept: JsonObject = {};
  for (const [word, value] of Object.entries(schema)) {
    if (PROSE.has(word)) continue;
    if (NAMED.has(word) && isObject(value)) {
      kept[word] = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, removeInside(member)]));
    } else kept[word] = NESTED.has(word) ? removeInside(value) : value;
  }
  return kept;
}

function removeInside(value: Json): Json {
  if (Array.isArray(value)) return value.map(removeInside);
  return isObject(value) ? removeProse(value) : value;
}

function getOutline({ type, properties, required }: JsonObject): JsonObject {
  const fields = isObject(properties) ? Object.entries(properties) : [];
  const outlines = fields.map(([name, field]) => [
    name,
    isObject(field) && field.type !== undefined ? { type: field.type } : {},
  ]);
  return {
    ...(type !== undefined && { type }),
    properties: Object.fromEntries(outlines),
    ...(required !== undefined && { required }),
  };
}
