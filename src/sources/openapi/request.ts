import { isObject, type JsonObject } from '../../model/json.ts';
import { isBodiless, type RequestExample } from '../../model/request.ts';
import { findMediaType } from '../../model/text.ts';
import type { Note } from '../findings.ts';
import { saysNothing } from '../json-schema.ts';
import { cleanJson } from '../json-value.ts';
import { readMimeType } from '../provider-text.ts';
import { buildRequestExample } from '../request-example.ts';

type Part = 'queryParams' | 'headers' | 'pathParams';

/** The part of the request schema for each parameter location of OpenAPI. Cookies are left out. */
const PARTS: Readonly<Record<string, Part>> = { query: 'queryParams', header: 'headers', path: 'pathParams' };

/**
 * Header parameters that are left out: those that OpenAPI ignores, and those with the payment, which belong to the
 * protocol.
 */
const IGNORED_HEADERS = /^(?:accept|content-type|authorization|x-payment.*|payment-.*)$/i;

const MAX_PARAMETERS = 100;

interface Parameter {
  name: string;
  part: Part;
  isRequired: boolean;
  raw: Record<string, unknown>;
}

interface RequestSource {
  reader: DocumentReader;
  /** Parameters of the path item, then those of the operation, which take precedence. */
  parameters: readonly unknown[];
  requestBody: unknown;
  method: string;
}

/**
 * Reads the request of an operation: a JSON Schema with one property for each part (`queryParams`, `headers`,
 * `pathParams`, `body`), as for items of a feed, and an example request from the document's examples.
 */
export function readRequest(
  source: RequestSource,
  note: Note,
): { input_schema: JsonObject | null; example: RequestExample | null } {
  const parameters = listParameters(source);
  const body = readBody(source, note);
  const parts: [string, unknown][] = (['queryParams', 'headers', 'pathParams'] as const).flatMap((part) => {
    const fields = buildFields(
      source,
      parameters.filter((parameter) => parameter.part === part),
      note,
    );
    return fields ? [[part, fields]] : [];
  });
  if (body?.schema) parts.push(['body', body.schema]);
  const type = findMediaType(body?.mime_type ?? null);
  const headers = type && !isJsonType(type) ? [['content-type', type]] : [];
  const example = buildRequestExample(
    {
      query: Object.fromEntries(listExamples(source, parameters, 'queryParams')),
      headers: Object.fromEntries([...headers, ...listExamples(source, parameters, 'headers')]),
      body: body?.example,
    },
    source.method,
    note,
  );
  // A request that the document describes and that has no parameters takes nothing.
  const isSaid =
    parts.length > 0 || (example === null && isBodiless(source.method) && source.requestBody === undefined);
  return { input_schema: isSaid ? buildSchema(Object.fromEntries(parts), note) : null, example };
}

function listParameters({ reader, parameters }: RequestSource): Parameter[] {
  const byPlace = new Map<string, Parameter>();
  for (const entry of parameters.slice(0, MAX_PARAMETERS)) {
    const raw = followReference(reader.document, entry);
    if (!isObject(raw) || typeof raw.name !== 'string' || typeof raw.in !== 'string') continue;
    const part = Object.hasOwn(PARTS, raw.in) ? PARTS[raw.in] : undefined;
    if (!part || (part === 'headers' && IGNORED_HEADERS.test(raw.name))) continue;
    byPlace.set(`${part} ${raw.name}`, { name: raw.name, part, isRequired: raw.required === true, raw });
  }
  return [...byPlace.values()];
}

function buildFields(source: RequestSource, parameters: readonly Parameter[], note: Note): JsonObject | undefined {
  if (parameters.length === 0) return undefined;
  const required = parameters.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  const properties = Object.fromEntries(
    parameters.map((parameter) => [parameter.name, buildField(source, parameter, note)]),
  );
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

function buildField({ reader }: RequestSource, { raw }: Parameter, note: Note): JsonObject {
  const schema = reader.readSchema(raw.schema ?? findContent(reader, raw.content)?.media.schema, note) ?? {};
  const given = findExample(reader, raw, { isNeeded: false });
  const example = given === undefined || 'example' in schema || 'examples' in schema ? undefined : cleanJson(given);
  return {
    ...schema,
    ...(typeof raw.description === 'string' && { description: raw.description.slice(0, 1000) }),
    ...(example !== undefined && { example }),
  };
}

function listExamples({ reader }: RequestSource, parameters: readonly Parameter[], part: Part): [string, unknown][] {
  return parameters
    .filter((parameter) => parameter.part === part)
    .flatMap(({ name, raw, isRequired }) => {
      const value = findExample(reader, raw, { isNeeded: isRequired });
      const text = Array.isArray(value) ? value.filter((item) => typeof item !== 'object').join(',') : value;
      return text === undefined || text === '' ? [] : [[name, text]];
    });
}

interface Body {
  mime_type: string;
  schema: JsonObject | null;
  example: unknown;
}

function readBody({ reader, requestBody, method }: RequestSource, note: Note): Body | undefined {
  const described = followReference(reader.document, requestBody);
  if (!isObject(described)) return undefined;
  if (isBodiless(method)) {
    note('body_ignored', 'The operation describes a body that its method cannot send.');
    return undefined;
  }
  const content = findContent(reader, described.content);
  if (!content) return undefined;
  const { mime_type, media } = content;
  const example = findExample(reader, media, { isNeeded: true });
  return { mime_type, schema: reader.readSchema(media.schema, note), example: writeBody(mime_type, example) };
}

/** Returns an example body as it can be sent: JSON as it is, a form as text, and other media types only as text. */
function writeBody(mimeType: string, example: unknown): unknown {
  if (isJsonType(mimeType) || example === undefined || typeof example === 'string') return example;
  if (!/^application\/x-www-form-urlencoded\b/i.test(mimeType) || !isObject(example)) return undefined;
  const fields = Object.entries(example).filter(([, value]) => typeof value !== 'object');
  return new URLSearchParams(fields.map(([name, value]) => [name, String(value)])).toString();
}

/** Builds the request schema. If it is too large, the body is left out so that the other parts may be kept. */
function buildSchema(properties: JsonObject, note: Note): JsonObject | null {
  const { body: _body, ...rest } = properties;
  for (const parts of [properties, rest]) {
    const isEmptied = parts !== properties && Object.keys(parts).length === 0;
    const schema = isEmptied ? undefined : cleanJson({ type: 'object', properties: parts });
    if (parts !== properties) note('schema_too_large');
    if (isObject(schema)) return schema;
  }
  return null;
}

/**
 * Statuses of answers with the product, the usual one first. `default` is left out because it usually describes an
 * error.
 */
const SUCCESSES = ['200', '201', '202', '203', '206', '2XX', '2xx'];

/** Reads the answer of an operation: its media type, and its JSON Schema with an example if there is one. */
export function readResponse(
  reader: DocumentReader,
  responses: unknown,
  note: Note,
): { mime_type: string | null; output_schema: JsonObject | null } {
  const status = isObject(responses) ? SUCCESSES.find((code) => Object.hasOwn(responses, code)) : undefined;
  const answer =
    isObject(responses) && status !== undefined ? followReference(reader.document, responses[status]) : undefined;
  const content = isObject(answer) ? findContent(reader, answer.content) : undefined;
  if (!content) return { mime_type: null, output_schema: null };
  const schema = reader.readSchema(content.media.schema, note);
  const described = schema && !saysNothing(schema) ? schema : null;
  const { example: own, examples } = content.media;
  const example = own === undefined ? findNamedExample(reader, examples) : reader.omitIfLarge(own);
  const whole = example === undefined ? undefined : cleanJson({ ...described, examples: [example] });
  return {
    mime_type: readMimeType(content.mime_type, note),
    output_schema: isObject(whole) ? whole : described,
  };
}

/** Depths to which references are followed. They are tried in turn until the schema is small enough. */
const REFERENCE_DEPTHS = [12, 4, 2, 1, 0];

const MAX_DEPTH = 48;

/**
 * Most values visited for one schema, and for a whole document. A small text full of references could otherwise cost
 * any time.
 */
const MAX_VALUES = 8_000;
const MAX_VALUES_IN_ALL = 4_000_000;

/** Most bytes of schemas that are kept from one document. */
const MAX_BYTES_IN_ALL = 4 * 1024 * 1024;

/** Members with data instead of schemas. In them `$ref` has no meaning. */
const DATA = new Set(['example', 'examples', 'default', 'enum', 'const']);

/** Members whose own keys are names that the provider chose. */
const FIELD_MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);

/** Reads parts of one document that many operations may share, within a budget for the whole document. */
export interface DocumentReader {
  document: unknown;
  /** Returns a schema with references resolved and texts cleaned; null for a missing schema, or one that cannot be kept. */
  readSchema: (raw: unknown, note: Note) => JsonObject | null;
  /** Lists the members of an object; empty for anything else, and once the budget is used up. */
  listMembers: (value: unknown) => [name: string, member: unknown][];
  /** Returns the value itself, or undefined if it is too large or the budget is used up. */
  omitIfLarge: (value: unknown) => unknown;
}

/**
 * Opens a reader for a document. It resolves local references in schemas. References that form a circle, or that make
 * the schema larger than 16 KB, are replaced by their type (`{type}`). Work and size are bounded.
 */
export function openDocumentReader(document: unknown): DocumentReader {
  const left = { values: MAX_VALUES_IN_ALL, bytes: MAX_BYTES_IN_ALL };
  const listed: KnownEntries = new WeakMap();

  function readSchema(raw: unknown, note: Note): JsonObject | null {
    if (!isObject(raw)) return null;
    for (const depth of REFERENCE_DEPTHS) {
      if (left.values <= 0 || left.bytes <= 0) {
        note('schemas_left_out');
        return null;
      }
      const expansion: Expansion = { document, depth, values: MAX_VALUES, open: [], isBroken: false, listed };
      const schema = cleanJson(expand(raw, 0, expansion));
      left.values -= MAX_VALUES - expansion.values;
      if (expansion.values < 0 || !isObject(schema)) continue;
      if (expansion.isBroken) note('bad_reference');
      if (depth !== REFERENCE_DEPTHS[0]) note('schema_cut');
      left.bytes -= Buffer.byteLength(JSON.stringify(schema));
      return schema;
    }
    note('schema_too_large');
    return null;
  }

  function listMembers(value: unknown): [string, unknown][] {
    if (!isObject(value) || left.values <= 0) return [];
    const members = listEntries(value, listed);
    left.values -= members.length;
    return members;
  }

  function omitIfLarge(value: unknown): unknown {
    let values = MAX_VALUES;
    const isSmall = (part: unknown, depth: number): boolean => {
      if (typeof part !== 'object' || part === null) return true;
      const members = left.values > 0 && depth < MAX_DEPTH ? listEntries(part, listed) : [];
      values -= members.length;
      left.values -= members.length;
      return (
        values > 0 && left.values > 0 && depth < MAX_DEPTH && members.every(([, member]) => isSmall(member, depth + 1))
      );
    };
    return isSmall(value, 0) ? value : undefined;
  }

  return { document, readSchema, listMembers, omitIfLarge };
}

/** Cached members of very large objects, because thousands of operations may refer to one of them. */
type KnownEntries = WeakMap<object, [name: string, member: unknown][]>;

function listEntries(value: object, listed: KnownEntries): [name: string, member: unknown][] {
  const known = listed.get(value);
  if (known) return known;
  const members = Object.entries(value);
  if (members.length > MAX_VALUES) listed.set(value, members);
  return members;
}

interface Expansion {
  document: unknown;
  /** Deepest nesting of references. */
  depth: number;
  /** Number of values that may still be visited. */
  values: number;
  /** The references that are being resolved, outermost first. */
  open: string[];
  isBroken: boolean;
  listed: KnownEntries;
}

function expand(value: unknown, depth: number, expansion: Expansion, isOfFields = false): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const members = listEntries(value, expansion.listed);
  // Members are counted before they are visited, so that one huge value costs no more than listing its keys.
  expansion.values -= members.length + 1;
  if (expansion.values < 0 || depth > MAX_DEPTH) return {};
  if (Array.isArray(value)) return value.map((item) => expand(item, depth + 1, expansion));
  if (!isObject(value)) return null;
  const reference = getReference(value);
  if (reference !== undefined) return expandReference(value, reference, depth, expansion);
  return Object.fromEntries(
    members.map(([key, member]) => [
      key,
      DATA.has(key) && !isOfFields ? member : expand(member, depth + 1, expansion, FIELD_MAPS.has(key) && !isOfFields),
    ]),
  );
}

function expandReference(
  value: Record<string, unknown>,
  reference: string,
  depth: number,
  expansion: Expansion,
): unknown {
  const { $ref: _reference, ...beside } = value;
  const target = followReference(expansion.document, { $ref: reference });
  if (!isObject(target)) {
    expansion.isBroken = true;
    return expand(beside, depth, expansion);
  }
  if (expansion.open.length >= expansion.depth || expansion.open.includes(reference)) {
    return expand({ ...(typeof target.type === 'string' && { type: target.type }), ...beside }, depth, expansion);
  }
  expansion.open.push(reference);
  const expanded = expand({ ...target, ...beside }, depth, expansion);
  expansion.open.pop();
  return expanded;
}

/** Most references in a chain. A longer chain is a circle or nonsense. */
const MAX_HOPS = 16;

/**
 * Follows a `$ref` into its own document (`#/components/…`, RFC 6901) and returns the final value. Returns the value
 * itself if it is not a reference, and undefined if the reference leads nowhere, in a circle, or out of the document:
 * nothing is ever fetched for a reference.
 */
export function followReference(document: unknown, value: unknown): unknown {
  let current = value;
  for (let hop = 0; hop < MAX_HOPS; hop += 1) {
    const reference = getReference(current);
    if (reference === undefined) return current;
    current = findByPointer(document, reference);
  }
  return undefined;
}

/** Returns the text of a reference; undefined for anything else. */
function getReference(value: unknown): string | undefined {
  return isObject(value) && Object.hasOwn(value, '$ref') && typeof value.$ref === 'string' ? value.$ref : undefined;
}

function findByPointer(document: unknown, reference: string): unknown {
  if (!reference.startsWith('#/') || reference.length > 1000) return undefined;
  let at = document;
  for (const step of reference.slice(2).split('/')) {
    const key = decodeStep(step);
    if (Array.isArray(at)) at = /^\d{1,6}$/.test(key) ? at[Number(key)] : undefined;
    else at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }
  return at;
}

function decodeStep(step: string): string {
  let text = step;
  try {
    text = decodeURIComponent(step);
  } catch (error) {
    // A percent sign that escapes nothing is literal.
    if (!(error instanceof URIError)) throw error;
  }
  return text.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** One media type of a body, with its Media Type Object. */
interface Content {
  mime_type: string;
  media: Record<string, unknown>;
}

/** Finds the media type of a body that an agent would use: JSON if there is any, else the first. */
function findContent({ document, listMembers }: DocumentReader, content: unknown): Content | undefined {
  const types = listMembers(content);
  const [mime_type, raw] = types.find(([name]) => isJsonType(name)) ?? types[0] ?? [];
  const media = followReference(document, raw);
  return mime_type !== undefined && isObject(media) ? { mime_type, media } : undefined;
}

/** Returns whether a media type is JSON: `application/json`, `application/problem+json; charset=utf-8`. */
function isJsonType(name: string): boolean {
  return /^[^;]*[/+]json\s*(?:;|$)/i.test(name);
}

/** Deepest nesting of a generated example. */
const MAX_EXAMPLE_DEPTH = 6;
const MAX_EXAMPLE_FIELDS = 100;

/**
 * Finds an example value of a parameter or a body: its own `example`, the first of its `examples`, else one from its
 * schema; undefined where none of them gives a value. Takes a Parameter or Media Type Object.
 */
function findExample(
  reader: DocumentReader,
  holder: Record<string, unknown>,
  { isNeeded }: { isNeeded: boolean },
): unknown {
  if (holder.example !== undefined) return reader.omitIfLarge(holder.example);
  const named = findNamedExample(reader, holder.examples);
  return named === undefined ? findSchemaExample(reader, holder.schema, isNeeded, 0) : named;
}

/** Finds the value of the first named example (OpenAPI 3.1, "Example Object"). */
function findNamedExample({ document, listMembers, omitIfLarge }: DocumentReader, examples: unknown): unknown {
  const first = followReference(document, listMembers(examples)[0]?.[1]);
  return isObject(first) ? omitIfLarge(first.value) : undefined;
}

/**
 * Finds the example of a schema. If one is needed, its default, its first `enum` value or an object of its fields will
 * do.
 */
function findSchemaExample(reader: DocumentReader, raw: unknown, isNeeded: boolean, depth: number): unknown {
  const schema = followReference(reader.document, raw);
  if (!isObject(schema) || depth > MAX_EXAMPLE_DEPTH) return undefined;
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
  for (const [name, field] of reader.listMembers(schema.properties).slice(0, MAX_EXAMPLE_FIELDS)) {
    const value = findSchemaExample(reader, field, required.has(name), depth + 1);
    if (value !== undefined) fields.push([name, value]);
    else if (required.has(name)) return undefined;
  }
  return fields.length > 0 ? Object.fromEntries(fields) : undefined;
}
