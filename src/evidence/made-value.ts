import { isObject, type JsonObject } from '../model/json.ts';
import { findPlaceholderSchema } from '../model/request.ts';
import { isQuickPattern } from './schema-check.ts';

/** A value made from a schema, and its placeholders. */
export interface MadeValue {
  readonly value: unknown;
  readonly replace: readonly Replaceable[];
}

/** A value that the caller replaces before the call. */
export interface Replaceable {
  /** Name of the field: `city`. */
  readonly name: string;
  /** The placeholder: `<city>`, or a value of its type if that is not text. */
  readonly shown: string;
}

/** Names what no value can be made of, as the end of "The record cannot make a call that works: …". */
export class CannotMakeError extends Error {}

const MAX_DEPTH = 6;

/** Most fields that are made if a schema does not say which are required, and most items of a list. */
const MAX_FIELDS = 12;
const MAX_ITEMS = 3;

/**
 * Makes a value that should satisfy a provider's JSON Schema: its constant, its examples, its default, its first
 * choice, else a placeholder of the right type named after the field. An object gets its required fields. Throws
 * `CannotMakeError`. The result must still be checked: a schema may contradict itself.
 */
export function makeValue(schema: JsonObject, name: string, depth = 0): MadeValue {
  if (depth > MAX_DEPTH) throw new CannotMakeError(`${quote(name)} is nested too deeply.`);
  const [given] = listGiven(schema, name);
  if (given !== undefined) return { value: given, replace: [] };
  const choice = [schema.anyOf, schema.oneOf].find((list) => Array.isArray(list) && list.length > 0);
  if (Array.isArray(choice)) return makeFirst(schema, choice.filter(isObject), name, depth);
  if (Array.isArray(schema.allOf)) return makeValue(joinAll(schema, schema.allOf.filter(isObject)), name, depth + 1);
  switch (getType(schema)) {
    case 'object':
      return makeObject(schema, name, depth);
    case 'array':
      return makeArray(schema, name, depth);
    case 'integer':
    case 'number':
      return makeNumber(schema, name);
    case 'boolean':
      return { value: true, replace: [] };
    case 'null':
      return { value: null, replace: [] };
    default:
      return makeText(schema, name);
  }
}

/** Lists the values that a schema itself gives, the most telling first. Placeholders are left out. */
function listGiven(schema: JsonObject, name: string): unknown[] {
  const { const: only, example, examples, default: usual, enum: choices } = schema;
  const [first] = Array.isArray(examples) ? examples : [];
  const [choice] = Array.isArray(choices) ? choices : [];
  const shown = [example, first, usual].filter((value) => !findPlaceholderSchema(value, name));
  return [only, ...shown, choice].filter((value) => value !== undefined);
}

/**
 * Returns the type of which a value is made: the first that is not null; without one, the type that the other keywords
 * imply.
 */
function getType({ type, properties, items }: JsonObject): unknown {
  if (Array.isArray(type)) return type.find((one) => one !== 'null') ?? 'null';
  if (type !== undefined) return type;
  if (isObject(properties)) return 'object';
  return isObject(items) ? 'array' : 'string';
}

function makeFirst(schema: JsonObject, branches: readonly JsonObject[], name: string, depth: number): MadeValue {
  const { anyOf: _any, oneOf: _one, ...rest } = schema;
  const ofValue = branches.filter(({ type }) => type !== 'null');
  for (const branch of ofValue) {
    try {
      return makeValue(joinAll(rest, [branch]), name, depth + 1);
    } catch (error) {
      if (!(error instanceof CannotMakeError)) throw error;
    }
  }
  throw new CannotMakeError(`no value can be made for ${quote(name)}.`);
}

/** Joins schemas that all hold at once: all fields and required names, and the last of each other keyword. */
function joinAll({ allOf: _all, ...schema }: JsonObject, parts: readonly JsonObject[]): JsonObject {
  const all = [schema, ...parts];
  const properties = Object.assign({}, ...all.map((part) => asObject(part.properties)));
  const required = all.flatMap((part) => asList(part.required));
  return {
    ...Object.assign({}, ...all),
    ...(all.some((part) => isObject(part.properties)) && { properties }),
    ...(all.some((part) => Array.isArray(part.required)) && { required }),
  };
}

function makeObject({ properties, required }: JsonObject, name: string, depth: number): MadeValue {
  const fields = Object.entries(asObject(properties)).map(([field, schema]) => [field, asObject(schema)] as const);
  const made = listMade(fields, required).map(
    ([field, schema]) => [field, makeValue(schema, field, depth + 1)] as const,
  );
  const unknown = asList(required).filter(
    (field) => typeof field === 'string' && !made.some(([known]) => known === field),
  );
  if (unknown.length > MAX_FIELDS) throw new CannotMakeError(`${quote(name)} requires fields that are not described.`);
  const undescribed = unknown.map((field) => [String(field), makeText({}, String(field))] as const);
  const members = [...made, ...undescribed];
  return {
    value: Object.fromEntries(members.map(([field, { value }]) => [field, value])),
    replace: members.flatMap(([, { replace }]) => replace),
  };
}

/**
 * Lists the fields that are made: the required ones. If the schema does not say which are required, those with a value
 * of their own, or else all: deleting a field is easier for a caller than guessing one.
 */
function listMade(fields: readonly (readonly [string, JsonObject])[], required: unknown) {
  if (Array.isArray(required)) return fields.filter(([field]) => required.includes(field));
  const telling = fields.filter(([field, schema]) => listGiven(schema, field).length > 0);
  return (telling.length > 0 ? telling : fields).slice(0, MAX_FIELDS);
}

function makeArray({ items, minItems, maxItems, prefixItems }: JsonObject, name: string, depth: number): MadeValue {
  if (maxItems === 0) return { value: [], replace: [] };
  const count = typeof minItems === 'number' ? Math.max(1, minItems) : 1;
  if (count > MAX_ITEMS) throw new CannotMakeError(`${quote(name)} takes ${count} items, and no example is on record.`);
  const schemas = Array.from({ length: count }, (_, at) => asObject(asList(prefixItems)[at] ?? items));
  const made = schemas.map((schema) => makeValue(schema, name, depth + 1));
  return { value: made.map(({ value }) => value), replace: made.flatMap(({ replace }) => replace) };
}

function makeNumber(schema: JsonObject, name: string): MadeValue {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const isWhole = getType(schema) === 'integer';
  const step = typeof multipleOf === 'number' && multipleOf > 0 ? multipleOf : 1;
  const low = Math.max(
    typeof minimum === 'number' ? minimum : Number.NEGATIVE_INFINITY,
    typeof exclusiveMinimum === 'number' ? exclusiveMinimum + (isWhole ? 1 : 1e-6) : Number.NEGATIVE_INFINITY,
  );
  const high = Math.min(
    typeof maximum === 'number' ? maximum : Number.POSITIVE_INFINITY,
    typeof exclusiveMaximum === 'number' ? exclusiveMaximum - (isWhole ? 1 : 1e-6) : Number.POSITIVE_INFINITY,
  );
  const near = Math.min(Math.max(step, low), high);
  const value = isWhole || typeof multipleOf === 'number' ? Math.ceil(near / step) * step : near;
  return { value, replace: [{ name: cleanName(name), shown: String(value) }] };
}

/** Sample texts of formats for which a name in angle brackets would be invalid. */
const FORMATTED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    email: 'name@example.com',
    uri: 'https://example.com/',
    url: 'https://example.com/',
    'uri-reference': 'https://example.com/',
    hostname: 'example.com',
    date: '2026-01-01',
    'date-time': '2026-01-01T00:00:00Z',
    time: '00:00:00Z',
    uuid: '00000000-0000-4000-8000-000000000000',
    ipv4: '192.0.2.1',
    ipv6: '2001:db8::1',
  }),
);

/** Texts that are tried for a pattern: amounts, codes, days, addresses. */
const COMMON_TEXTS = [
  ...['1', '12', '0.5', 'a', 'A', 'en', 'US', 'abc', 'ABC', 'USD', 'BTCUSDT', 'abc-def', 'abc_def'],
  ...['2026-01-01', '2026-01', '2026', '12:00', '#000000', 'v1', 'example.com', 'https://example.com/'],
  ...['name@example.com', '+10000000000', '192.0.2.1', '00000000-0000-4000-8000-000000000000'],
  ...[`0x${'1'.repeat(40)}`, `0x${'1'.repeat(64)}`, '1'.repeat(32), '1'.repeat(64), '1'.repeat(40), '1'.repeat(44)],
];

const FILES = new Set<unknown>(['binary', 'file']);

function makeText({ format, pattern, minLength, maxLength }: JsonObject, name: string): MadeValue {
  if (FILES.has(format)) throw new CannotMakeError(`it takes a file (${quote(name)}), and no example is on record.`);
  const least = typeof minLength === 'number' ? minLength : 0;
  const most = typeof maxLength === 'number' ? Math.max(maxLength, 0) : Number.POSITIVE_INFINITY;
  const clean = cleanName(name);
  const marked = (typeof format === 'string' && FORMATTED.get(format)) || `<${clean}>`;
  if (least > 1000) throw new CannotMakeError(`${quote(name)} takes ${least} characters, and no example is on record.`);
  const fitted = marked.length > most ? 'x'.repeat(Math.min(most, marked.length)) : marked.padEnd(least, 'x');
  const fits = getFit(pattern);
  const value = [fitted, ...COMMON_TEXTS].find((text) => text.length >= least && text.length <= most && fits(text));
  if (value === undefined)
    throw new CannotMakeError(`no text fits the pattern of ${quote(name)}, and no example is on record.`);
  return { value, replace: [{ name: clean, shown: value }] };
}

function getFit(pattern: unknown): (text: string) => boolean {
  if (typeof pattern !== 'string') return () => true;
  if (!isQuickPattern(pattern)) return () => false;
  try {
    const expression = new RegExp(pattern, 'u');
    return (text) => expression.test(text);
  } catch (error) {
    if (error instanceof SyntaxError) return () => false;
    throw error;
  }
}

/** Returns the characters of a provider's name that are plain in any language and in an address, for a placeholder. */
export function cleanName(name: string): string {
  return name.replace(/[^\w.-]+/g, '_').slice(0, 40) || 'value';
}

function quote(name: string): string {
  return `"${cleanName(name)}"`;
}

function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
