import { splitInput } from '../../evidence/input-parts.ts';
import { isObject, JSON_TYPES, type JsonObject, writeScalar } from '../../model/json.ts';
import type { Route } from '../../model/route.ts';
import { cutText } from '../../model/text.ts';

/** Most fields that are named, the longest name, and the longest shape, in UTF-16 units. */
const FIELDS_MAX = 12;
const NAME_LENGTH = 40;
const SHAPE_LENGTH = 400;

/** Most choices that are listed, and the pattern of one: a short value, never a provider's sentence. */
const CHOICES_MAX = 4;
const CHOICE = /^[\w.:-]{1,20}$/;

/** Headers of payments, which are not listed as input. */
export const PAYING = /^(?:x-payment|payment-signature|authorization)$/i;

/** An input field of a route; `type` is undefined if no source says it. */
interface Field {
  readonly name: string;
  readonly type: string | undefined;
  readonly isOptional: boolean;
}

/**
 * Writes the input of a route as a type: `query {city: string, days: integer, units?}`. Required fields come first, with their
 * types; optional ones have only a name. Without a schema the types are those of the example. Empty without either.
 */
export function formatInputShape({ method, input_schema: schema, example }: Route): string {
  const ofSchema = splitInput({ method, input_schema: schema }).flatMap(({ place, schema: part }) => {
    const listed = getRequestPart(place, part);
    return listed.fields.length > 0 ? [listed] : [];
  });
  const places = ofSchema.length > 0 || example === null ? ofSchema : listExampleParts(example);
  let left = FIELDS_MAX;
  const parts = places.map(({ place, fields, isList }) => {
    const sorted = [
      ...fields.filter(({ isOptional }) => !isOptional),
      ...fields.filter(({ isOptional }) => isOptional),
    ];
    const shown = sorted.slice(0, left).map(formatField);
    left = Math.max(0, left - fields.length);
    const names = [...shown, ...(shown.length < fields.length ? ['…'] : [])].join(', ');
    return `${place} {${names}}${isList ? '[]' : ''}`;
  });
  return cutText(parts.join(' '), SHAPE_LENGTH);
}

/** A part of a request, such as its body, with its fields. */
interface RequestPart {
  readonly place: string;
  readonly fields: readonly Field[];
  /** True if the fields are those of the items of a list. */
  readonly isList: boolean;
}

function getRequestPart(place: string, schema: JsonObject): RequestPart {
  const { properties, required, items } = schema;
  if (!isObject(properties)) {
    return isObject(items) && isObject(items.properties)
      ? { ...getRequestPart(place, items), isList: true }
      : { place, fields: [], isList: false };
  }
  const fields = Object.entries(properties).map(([name, field]) => ({
    name,
    type: isObject(field) ? getType(field) : undefined,
    isOptional: Array.isArray(required) && !required.includes(name),
  }));
  const isInput = ({ name }: Field) => place !== 'headers' || !PAYING.test(name);
  return { place, fields: fields.filter(isInput), isList: false };
}

function listExampleParts(example: NonNullable<Route['example']>): RequestPart[] {
  const { query, body } = example;
  const items = Array.isArray(body) ? body[0] : body;
  return [
    { place: 'query', fields: listValues(query), isList: false },
    { place: 'body', fields: listValues(items), isList: Array.isArray(body) },
  ].filter(({ fields }) => fields.length > 0);
}

function listValues(values: unknown): Field[] {
  if (!isObject(values)) return [];
  return Object.entries(values).map(([name, value]) => ({ name, type: getTypeOf(value), isOptional: false }));
}

function formatField({ name, type, isOptional }: Field): string {
  const shown = cutText(name, NAME_LENGTH);
  if (isOptional) return `${shown}?`;
  return type === undefined ? shown : `${shown}: ${type}`;
}

/** Returns the type of a field as JSON Schema names it, or its choices where they are few; undefined where unknown. */
export function getType(field: JsonObject): string | undefined {
  const { type, enum: choices, const: only, items, anyOf, oneOf } = field;
  if (only !== undefined) return getChoices([only]);
  if (Array.isArray(choices)) return getChoices(choices) ?? (JSON_TYPES.has(type) ? String(type) : undefined);
  if (type === 'array') return `${(isObject(items) && getType(items)) || 'any'}[]`;
  if (JSON_TYPES.has(type)) return String(type);
  const several = [type, anyOf, oneOf].find((one) => Array.isArray(one));
  if (!Array.isArray(several) || several.length > CHOICES_MAX) return undefined;
  const types = several.map((one) => (isObject(one) ? getType(one) : JSON_TYPES.has(one) ? String(one) : undefined));
  return types.includes(undefined) ? undefined : [...new Set(types)].join('|');
}

function getChoices(choices: readonly unknown[]): string | undefined {
  const isShort =
    choices.length > 0 && choices.length <= CHOICES_MAX && choices.every((one) => CHOICE.test(writeScalar(one)));
  return isShort ? choices.map((one) => JSON.stringify(one)).join('|') : undefined;
}

/** Returns the type of an example value; undefined for null and undefined, which have none. */
export function getTypeOf(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.length > 0 ? `${getTypeOf(value[0]) ?? 'any'}[]` : 'any[]';
  if (value === null || value === undefined) return undefined;
  return typeof value;
}
