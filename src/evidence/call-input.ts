import { isObject, type JsonObject, tryParseJson } from '../model/json.ts';
import { getTemplateName, isBodiless, isWithBody, PATH_TEMPLATE } from '../model/request.ts';
import { isToolPath, type Route } from '../model/route.ts';
import { splitInput } from './input-parts.ts';
import { CannotMakeError, cleanName, type MadeValue, makeValue, type Replaceable } from './made-value.ts';
import { findSchemaFault } from './schema-check.ts';

/** The input of a call of a route, as far as the record has it. */
export interface CallInput {
  /** Values of the path's templates by name; the caller fills in missing ones. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** The body: JSON, or text of another media type; undefined for none. */
  readonly body: unknown;
  /** Origin of the input: the example of a source, the declared schema, or neither. */
  readonly basis: 'example' | 'schema' | 'none';
  /** Values that the caller replaces first. */
  readonly replace: readonly Replaceable[];
  /** Reason why the record cannot make a call that works, as a sentence; null if it can. */
  readonly lack: string | null;
}

type Described = Pick<Route, 'method' | 'path' | 'input_schema' | 'example'>;

/** Headers that pay, or that are set by the connection, are no input. */
const NO_INPUT = /^(?:host|accept|content-type|content-length|cookie|.*authorization|.*payment.*)$/i;

/** Most fields of a query that are all filled in although none is declared as required. */
const MAX_OPEN_FIELDS = 3;

const FORM = /^application\/x-www-form-urlencoded\b/i;

/**
 * Fills in the input of a call of a route: the example of its source if that satisfies the declared schema, with other
 * fields that the schema requires; else values that the schema itself gives, with placeholders. A pure function of the
 * record.
 */
export function fillCallInput(route: Described): CallInput {
  const { method, example } = route;
  const parts = splitInput(route);
  const schemas = new Map(parts.map(({ place, schema }) => [place, schema]));
  const path = fillPath(route, schemas.get('path'));
  const query = fillQuery(route, schemas.get('query'));
  const headers = fillHeaders(example?.headers ?? {}, schemas.get('headers'));
  const body = isBodiless(method)
    ? refuseBody(method, schemas.get('query') ? undefined : schemas.get('body'))
    : fillBody(example?.body, schemas.get('body'), findContentType(route));
  const filled = [query, headers, body];
  const isDescribed = parts.length > 0 || example !== null || (isBodiless(method) && /[?{]|\/:/.test(route.path));
  const lacks = [
    ...filled.flatMap(({ lack }) => lack ?? []),
    ...(isDescribed ? [] : ['nothing on record says what it takes, or that it takes nothing.']),
    ...(lacksBody(route) ? [`its example has no body, and nothing on record says that ${method} has none here.`] : []),
  ];
  const isFromExample = example !== null && [query, body].every(({ replace }) => replace.length === 0);
  return {
    path,
    query: query.value,
    headers: headers.value,
    body: body.value,
    basis: isFromExample ? 'example' : parts.length > 0 ? 'schema' : 'none',
    replace: dedupe(filled.flatMap(({ replace }) => replace)),
    lack: lacks[0] === undefined ? null : `The record cannot make a call that works: ${lacks[0]}`,
  };
}

/** Returns whether a request may have a body that nobody tells: feeds list the fields of bodies under the query, too. */
function lacksBody({ method, path, input_schema, example }: Described): boolean {
  const isOpen = input_schema === null && example !== null && example.body === undefined;
  return isOpen && isWithBody(method) && !isToolPath(path);
}

interface Filled<Value = unknown> {
  readonly value: Value;
  readonly replace: readonly Replaceable[];
  readonly lack?: string;
}

/**
 * Fills one part: the given value if it fits, else the given value with missing fields made from the schema, else a
 * value made from the schema alone.
 */
function fillPart(schema: JsonObject, given: unknown, name: string): Filled {
  const fault = given === undefined ? null : findSchemaFault(schema, given);
  if (given !== undefined && fault === null) return { value: given, replace: [] };
  try {
    const made = makeValue(schema, name);
    const joined = joinGiven(made, given);
    for (const candidate of joined ? [joined, made] : [made]) {
      if (findSchemaFault(schema, candidate.value) === null) return candidate;
    }
    const why = fault ?? findSchemaFault(schema, made.value);
    return {
      value: given,
      replace: [],
      lack: `${given === undefined ? 'what can be made' : 'the declared example'} does not fit the declared schema, ${why}`,
    };
  } catch (error) {
    if (error instanceof CannotMakeError) return { value: given, replace: [], lack: error.message };
    throw error;
  }
}

function joinGiven({ value, replace }: MadeValue, given: unknown): MadeValue | undefined {
  if (!isObject(value) || !isObject(given)) return undefined;
  const names = new Set(Object.keys(given).map(cleanName));
  return { value: { ...value, ...given }, replace: replace.filter(({ name }) => !names.has(name)) };
}

/**
 * Returns the values of the templates of a path that the record knows, by the template as it is written: those of its
 * schema, else those that an example lists with the query or the body.
 */
export function fillPath(
  route: Described,
  schema = splitInput(route).find(({ place }) => place === 'path')?.schema,
): Record<string, string> {
  const fields = isObject(schema?.properties) ? schema.properties : {};
  const given = { ...(isObject(route.example?.body) && route.example.body), ...route.example?.query };
  const known: Record<string, string> = {};
  for (const [, braced, named] of route.path.matchAll(PATH_TEMPLATE)) {
    const template = braced ?? named ?? '';
    const name = getTemplateName(template);
    const stated = Object.hasOwn(fields, name) ? fields[name] : undefined;
    const listed = Object.hasOwn(given, name) ? { const: given[name] } : undefined;
    const text = (isObject(stated) ? findText(stated, name) : undefined) ?? (listed && findText(listed, name));
    if (text !== undefined) known[template] = text;
  }
  return known;
}

/** Finds the text of a value that the schema itself gives. `.` and `..` would change the path. */
function findText(schema: JsonObject, name: string): string | undefined {
  try {
    const { value, replace } = makeValue(schema, name);
    const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
    return replace.length > 0 || !/^(?!\.{1,2}$)[^\p{Cc}\p{Cs}]{1,200}$/u.test(text) ? undefined : text;
  } catch (error) {
    if (error instanceof CannotMakeError) return undefined;
    throw error;
  }
}

/**
 * Fills the query. Its texts are compared, and made, as the types that the schema names. Parameters that the path has
 * already are not repeated.
 */
function fillQuery({ path, example }: Described, schema: JsonObject | undefined): Filled<Record<string, string>> {
  const given = example?.query ?? {};
  if (!schema) return { value: given, replace: [] };
  const fixed = Object.fromEntries(new URLSearchParams(path.split('?')[1] ?? ''));
  const typed = readTyped({ ...fixed, ...given }, schema);
  const isOpen = Object.keys(typed).length === 0 && !hasManyFilters(schema);
  const { value, replace, lack } = fillPart(schema, isOpen ? undefined : typed, 'query');
  const fields = Object.entries(isObject(value) ? value : {}).filter(([name]) => !Object.hasOwn(fixed, name));
  const texts = fields.map(([name, field]) => [
    name,
    field === typed[name] && given[name] !== undefined ? given[name] : writeText(field),
  ]);
  return { value: Object.fromEntries(texts), replace, ...(lack !== undefined && { lack }) };
}

/** Returns whether a query has many fields and none is required: filters, without which a call works. */
function hasManyFilters({ properties, required }: JsonObject): boolean {
  return !Array.isArray(required) && isObject(properties) && Object.keys(properties).length > MAX_OPEN_FIELDS;
}

/** Reads texts as the types that a schema names for them; a text that is not of its type stays text. */
export function readTyped(texts: Readonly<Record<string, string>>, { properties }: JsonObject): JsonObject {
  const fields = isObject(properties) ? properties : {};
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      return [name, readOfType(text, isObject(field) ? field.type : undefined)];
    }),
  );
}

function readOfType(text: string, type: unknown): unknown {
  const types = Array.isArray(type) ? type : [type];
  if (types.includes('string')) return text;
  const isNumber = types.includes('number') || types.includes('integer');
  if (isNumber && text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
  if (types.includes('boolean') && /^(true|false)$/.test(text)) return text === 'true';
  if (types.includes('object')) return tryParseJson(text) ?? text;
  return types.includes('array') ? text.split(',') : text;
}

function writeText(value: unknown): string {
  if (Array.isArray(value)) return value.map(writeText).join(',');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Fills in the required headers that are missing, except those that pay or that the connection sets. */
function fillHeaders(
  given: Readonly<Record<string, string>>,
  schema: JsonObject | undefined,
): Filled<Record<string, string>> {
  const required = Array.isArray(schema?.required) ? schema.required.map(String) : [];
  const known = new Set(Object.keys(given).map((name) => name.toLowerCase()));
  const missing = required.filter((name) => !known.has(name.toLowerCase()) && !NO_INPUT.test(name));
  const fields = isObject(schema?.properties) ? schema.properties : {};
  const made = missing.map((name) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    const text = isObject(field) ? findText(field, name) : undefined;
    return { name, text: text ?? `<${cleanName(name)}>`, isMade: text === undefined };
  });
  return {
    value: { ...given, ...Object.fromEntries(made.map(({ name, text }) => [name.toLowerCase(), text])) },
    replace: made.flatMap(({ name, text, isMade }) => (isMade ? [{ name: cleanName(name), shown: text }] : [])),
  };
}

/** Refuses a body that is declared for a method without one: either the method or the body is wrong. */
function refuseBody(method: string, schema: JsonObject | undefined): Filled {
  return {
    value: undefined,
    replace: [],
    ...(schema && { lack: `it declares a body, which ${method} cannot carry.` }),
  };
}

function findContentType({ example }: Described): string {
  const found = Object.entries(example?.headers ?? {}).find(([name]) => name.toLowerCase() === 'content-type');
  return found?.[1] ?? 'application/json';
}

function fillBody(given: unknown, schema: JsonObject | undefined, contentType: string): Filled {
  if (!schema) return { value: given, replace: [] };
  if (/json/i.test(contentType)) return fillPart(schema, given, 'body');
  if (FORM.test(contentType)) {
    const fields =
      typeof given === 'string' ? readTyped(Object.fromEntries(new URLSearchParams(given)), schema) : undefined;
    const { value, ...rest } = fillPart(schema, fields, 'body');
    if (value === fields && fields !== undefined) return { value: given, ...rest };
    const pairs = Object.entries(isObject(value) ? value : {}).map(([name, field]) => [name, writeText(field)]);
    return { value: new URLSearchParams(pairs).toString(), ...rest };
  }
  if (typeof given === 'string' && (schema.type === undefined || schema.type === 'string'))
    return { value: given, replace: [] };
  return {
    value: given,
    replace: [],
    lack: `it takes ${cleanName(contentType.split(';')[0] ?? '').replace('_', '/')}, and no example of that is on record.`,
  };
}

function dedupe(replace: readonly Replaceable[]): Replaceable[] {
  return [...new Map(replace.map((one) => [`${one.name} ${one.shown}`, one])).values()];
}
