import type { JsonObject } from '../../model/json.ts';
import { isBodiless, type RequestExample } from '../../model/request.ts';
import { findMediaType } from '../../model/text.ts';
import type { Note } from '../finding-codes.ts';
import { saysNothing } from '../json-schema.ts';
import { cleanJson, isJsonObject, isObject } from '../json-value.ts';
import { readMimeType } from '../provider-text.ts';
import { buildRequestExample } from '../request-example.ts';
import {
  type DocumentReader,
  findContent,
  findExample,
  findNamedExample,
  followReference,
  isJsonType,
} from './reader.ts';

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
    if (isJsonObject(schema)) return schema;
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
