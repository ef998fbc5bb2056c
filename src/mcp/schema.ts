import type { Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { isObject } from '../model/json.ts';
import { removeDoubleBound } from '../views/openapi/components.ts';

/** Keywords that restrict a value. They tell what may be sent in arguments; readers of an answer do not need them. */
const BOUNDS = ['format', 'pattern', 'minLength', 'maxLength', 'minimum', 'maximum', 'exclusiveMinimum'] as const;

/** Most values listed for a field of an answer. Longer enumerations are listed with the arguments. */
const LISTED_VALUES = 4;

/**
 * Builds the JSON Schema that the tool list shows for a tool's arguments or answer. It leaves out what costs tokens or confuses
 * clients without adding anything: the long patterns next to a format, and all restrictions in answers (for example, clients
 * check an address against RFC 3986, which route templates such as `{id}` break). With `words`, fields have only these
 * descriptions.
 */
export function buildJsonSchema(
  schema: z.ZodObject,
  of: 'arguments' | 'answer',
  words?: Readonly<Record<string, string | undefined>>,
): Tool['inputSchema'] {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ jsonSchema, path: [at, name, ...within] }) => {
      if (words && at === 'properties' && within.length === 0) {
        const word = words[String(name)];
        if (word === undefined) delete jsonSchema.description;
        else jsonSchema.description = word;
      }
      removeDoubleBound(jsonSchema);
      if (jsonSchema.minLength === 1) delete jsonSchema.minLength;
      if (of === 'answer') removeBounds(jsonSchema);
    },
  });
  return JSON.parse(JSON.stringify(json), (_name, value) => (isObject(value) ? splitTypes(value) : value));
}

/** Replaces a list of types by a choice of schemas with one type each, because some model providers reject a list of types. */
function splitTypes(json: Record<string, unknown>): Record<string, unknown> {
  if (!Array.isArray(json.type)) return json;
  const { type: types, ...rest } = json;
  return { ...rest, anyOf: types.map((type) => ({ type })) };
}

function removeBounds(json: z.core.JSONSchema.BaseSchema): void {
  for (const word of BOUNDS) delete json[word];
  if (json.enum && json.enum.length > LISTED_VALUES) delete json.enum;
  if (json.properties === undefined || Object.keys(json.properties).length > 0) return;
  delete json.properties;
  delete json.additionalProperties;
}
