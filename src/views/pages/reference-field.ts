import type { OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';

/** One parameter of an operation, and how it is filled in. */
export interface ReferenceField {
  readonly name: string;
  readonly place: 'query' | 'path';
  readonly is_required: boolean;
  readonly description: string;
  /** Type and limits in words: `whole number, 1 to 1000, 100 by default`. */
  readonly type: string;
  /** Values to choose from; empty where it is free. */
  readonly choices: readonly string[];
  /** What a form starts with: an example where it is telling, else empty. */
  readonly value: string;
  /** What may be filled in, for who does not know. */
  readonly placeholder: string;
  readonly is_number: boolean;
}

/** As much of a parameter's JSON Schema as is put into words. */
const fieldSchema = z.object({
  type: z.string().optional(),
  format: z.string().optional(),
  enum: z.array(z.union([z.string(), z.number()])).optional(),
  default: z.unknown().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  maxLength: z.number().optional(),
  anyOf: z.array(z.object({ format: z.string().optional() })).optional(),
});
type FieldSchema = z.infer<typeof fieldSchema>;

/** Parameters that a form starts with the example of; the others narrow what is found, and stay open. */
const PREFILLED = ['q', 'query', 'limit', 'slug', 'id', 'part', 'url', 'method'];

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': 'time in ISO 8601',
  date: 'date in ISO 8601',
  uuid: 'UUID',
  uri: 'address',
};

/** Builds the field of a parameter. */
export function buildReferenceField(parameter: OpenAPIV3_1.ParameterObject): ReferenceField {
  const schema = fieldSchema.parse(parameter.schema ?? {});
  const example = parameter.example === undefined ? '' : String(parameter.example);
  const is_prefilled = parameter.required === true || PREFILLED.includes(parameter.name);
  return {
    name: parameter.name,
    place: parameter.in === 'path' ? 'path' : 'query',
    is_required: parameter.required === true,
    description: parameter.description ?? '',
    type: describeType(schema),
    choices: schema.type === 'boolean' ? ['true', 'false'] : (schema.enum ?? []).map(String),
    value: is_prefilled ? example : '',
    placeholder: example,
    is_number: schema.type === 'integer' || schema.type === 'number',
  };
}

function describeType(schema: FieldSchema): string {
  const { minimum, maximum, maxLength } = schema;
  const range =
    minimum !== undefined && maximum !== undefined
      ? `${minimum} to ${maximum}`
      : minimum !== undefined
        ? `${minimum} or more`
        : '';
  return [
    describeKind(schema),
    range,
    maxLength === undefined ? '' : `${maxLength} characters at most`,
    schema.default === undefined ? '' : `${String(schema.default)} by default`,
  ]
    .filter(Boolean)
    .join(', ');
}

function describeKind({ type, format, enum: values, anyOf }: FieldSchema): string {
  if (values) return 'one of';
  if (anyOf) return anyOf.map((kind) => FORMATS[kind.format ?? ''] ?? 'text').join(' or ');
  if (format && FORMATS[format]) return FORMATS[format];
  return { integer: 'whole number', number: 'number', boolean: 'yes or no' }[type ?? ''] ?? 'text';
}
