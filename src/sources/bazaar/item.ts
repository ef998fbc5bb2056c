import { isObject, type JsonObject } from '../../model/json.ts';
import { findPlaceholderSchema, isBodiless, isWithBody, type RequestExample } from '../../model/request.ts';
import { TOOL_NAME } from '../../model/route.ts';
import { getItemHash } from '../feed.ts';
import { formatPointer, type Note } from '../findings.ts';
import {
  buildObjectSchema,
  isDescriptor,
  isFieldMap,
  isWholeSchema,
  normaliseSchema,
  saysNothing,
} from '../json-schema.ts';
import { cleanJson, cleanSchema, findMember } from '../json-value.ts';
import { getTemplatePath } from '../outside-address.ts';
import { buildRequestExample, describePlaceholders } from '../request-example.ts';

type Raw = Record<string, unknown>;

/** Most offers of one item that are read. */
export const MAX_OFFERS = 32;

/** Lists the offers of an item, at most the first 32; empty if it has no list. */
export function listOffers(item: unknown): unknown[] {
  const accepts = findMember(item, 'accepts');
  return Array.isArray(accepts) ? accepts.slice(0, MAX_OFFERS) : [];
}

/** Places where an item may have its address, the first place first. */
const RESOURCE_PLACES = [['resource'], ['resource', 'url'], ['url'], ['resourceUrl'], ['resource_url']];

/**
 * Finds the address of an item, and its place as a JSON pointer: `resource` as text or as an object with `url`, `url`
 * itself, else the address of the first offer with one.
 */
export function findResourcePlace(item: unknown): { address: string; place: string } | undefined {
  for (const path of RESOURCE_PLACES) {
    const address = findMember(item, ...path);
    if (typeof address === 'string') return { address, place: formatPointer(...path) };
  }
  for (const [index, offer] of listOffers(item).entries()) {
    const address = findMember(offer, 'resource');
    if (typeof address === 'string') return { address, place: formatPointer('accepts', index, 'resource') };
  }
  return undefined;
}

/** Lists the Bazaar declarations of an item: `extensions.bazaar` of the item itself, then of its offers. */
function listDeclarations(item: unknown): Raw[] {
  return [item, ...listOffers(item)].map((holder) => findMember(holder, 'extensions', 'bazaar')).filter(isObject);
}

/**
 * Lists the descriptions of an item's request, or of its answer: version 2's `info.input`, then version 1's
 * `outputSchema.input`.
 */
function listSides(item: unknown, side: 'input' | 'output'): Raw[] {
  const infos = listDeclarations(item).map((declared) => findMember(declared, 'info', side));
  const schemas = [item, ...listOffers(item)].flatMap((holder) => listStated(findMember(holder, 'outputSchema'), side));
  return [...infos, ...schemas].filter(isObject);
}

/** Lists one side of an `outputSchema`. Some have a whole description in the place of the answer's. */
function listStated(stated: unknown, side: 'input' | 'output'): unknown[] {
  const inner = findMember(stated, 'output');
  if (!isObject(inner) || findMember(inner, 'input', 'type') !== 'http') return [findMember(stated, side)];
  const { input, output, ...rest } = inner;
  return side === 'input' ? [input, findMember(stated, 'input')] : [output ?? rest];
}

/** Lists the methods that an item declares, in capitals, the most reliable one first. */
export function listMethods(item: unknown): string[] {
  const places = [
    findMember(item, 'method'),
    findMember(item, 'resource', 'method'),
    ...listSides(item, 'input').map((input) => input.method),
    ...listOffers(item).map((offer) => findMember(offer, 'method')),
  ];
  const methods = places.filter((place): place is string => typeof place === 'string' && place.trim() !== '');
  return [...new Set(methods.map((method) => method.trim().slice(0, 40).toUpperCase()))];
}

const MAX_ADDRESS_LENGTH = 2048;

/**
 * Returns the key of a raw item within its feed: method and address of the resource (`GET https://a.example/v1/x`), or
 * a hash of the item if it has no address. The key of an MCP tool ends with its name. Items with the same key are one
 * route. Never throws.
 */
export function getFeedItemKey(raw: unknown): string {
  const resource = findResourcePlace(raw)?.address;
  const url = resource !== undefined && resource.length <= MAX_ADDRESS_LENGTH ? URL.parse(resource) : null;
  if (!url || !/^https?:$/.test(url.protocol)) return `sha256:${getItemHash(raw)}`;
  // An address with http and without a port of its own is taken with https (`parseResourceUrl`).
  if (url.protocol === 'http:' && url.port === '') url.protocol = 'https:';
  // A dot at the end names the same host (`parseOutsideUrl` removes it as well).
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
  const tool = findFeedTool(raw);
  return tool ? `${getRouteKey('POST', url)}#${tool.name}` : getRouteKey(listMethods(raw)[0] ?? 'GET', url);
}

/** Returns the key of a route: its method and address. */
function getRouteKey(method: string, url: URL): string {
  return `${method.slice(0, 20)} ${url.origin}${getTemplatePath(url)}`;
}

/** The parts of a request by their names in version 2 of x402 discovery, with the fields for each in version 1. */
const PARTS = {
  queryParams: ['queryParams', 'query'],
  body: ['bodyFields', 'body'],
  headers: ['headerFields', 'headers'],
  pathParams: ['pathFields', 'pathParams'],
} as const;

type Part = keyof typeof PARTS;
type Sides = { schema: unknown; example: unknown };

/**
 * Reads the request of an item: a JSON Schema with one property for each part (`queryParams`, `body`, `headers`,
 * `pathParams`), and an example. Version 2 has a schema and an example in separate places. Version 1 mixes them in one
 * map, where a descriptor is a schema, text of several words a description, and any other value an example.
 */
export function readRequest(
  item: unknown,
  method: string,
  note: Note,
): { input_schema: JsonObject | null; example: RequestExample | null } {
  const isVersion1 = findMember(item, 'x402Version') === 1;
  const parts = Object.keys(PARTS) as Part[];
  const sides = new Map(parts.map((part) => [part, readPart(item, part, method, isVersion1, note)]));
  const schemas = parts.flatMap((part): [string, unknown][] => {
    const schema = sides.get(part)?.schema;
    return schema === undefined ? [] : [[part, schema]];
  });
  const example = buildRequestExample(
    {
      query: sides.get('queryParams')?.example,
      headers: sides.get('headers')?.example,
      body: sides.get('body')?.example,
    },
    method,
    note,
  );
  const isSaid = schemas.length > 0 || (example === null && takesNothing(item, method));
  return {
    input_schema: isSaid ? cleanSchema({ type: 'object', properties: Object.fromEntries(schemas) }, note) : null,
    example,
  };
}

/** Returns whether an item says that its request has no input: it has a query without parameters, and no body. */
function takesNothing(item: unknown, method: string): boolean {
  const isEmpty = (value: unknown) => isObject(value) && Object.keys(value).length === 0;
  return (
    isBodiless(method) &&
    listSides(item, 'input').some((input) => PARTS.queryParams.some((name) => isEmpty(input[name])))
  );
}

function readPart(item: unknown, part: Part, method: string, isVersion1: boolean, note: Note): Sides {
  const found: Sides = {
    schema: findDeclaredSchema(item, part, method, note),
    example: findDeclaredExample(item, part, method),
  };
  for (const input of listSides(item, 'input')) {
    for (const name of PARTS[part]) {
      const isDescribed = isVersion1 || name.endsWith('Fields') || hasExplanation(input[name]);
      const sides = splitFields(input[name], { isDescribed }, note);
      found.schema ??= sides.schema;
      found.example ??= sides.example;
    }
  }
  return found;
}

/** Finds the schema of one part in version 2, or the older `inputSchema` for the part that the method uses. */
function findDeclaredSchema(item: unknown, part: Part, method: string, note: Note): unknown {
  for (const declared of listDeclarations(item)) {
    const stated = findMember(declared, 'schema', 'properties', 'input', 'properties', part);
    const raw = stated ?? (part === getMainPart(method) ? declared.inputSchema : undefined);
    if (!isObject(raw) || isEmptySchema(raw)) continue;
    const schema = cleanSchema(raw, note);
    if (schema) return normaliseSchema(schema);
  }
  return undefined;
}

function findDeclaredExample(item: unknown, part: Part, method: string): unknown {
  if (part !== getMainPart(method)) return undefined;
  return listDeclarations(item)
    .map((declared) => cleanJson(declared.input))
    .find((example) => isObject(example) && !isFieldMap(example));
}

/** Splits one part into its schema and its example. */
function splitFields(raw: unknown, { isDescribed }: { isDescribed: boolean }, note: Note): Sides {
  if (raw === undefined || raw === null) return { schema: undefined, example: undefined };
  const value = cleanJson(raw);
  if (value === undefined) note('schema_too_large');
  if (!isObject(value)) return { schema: undefined, example: value };
  if (isWholeSchema(value)) return { schema: normaliseSchema(value), example: undefined };
  if (isFieldMap(value)) return { schema: buildObjectSchema(value), example: undefined };
  const isText = Object.values(value).some((field) => isDescription(field));
  if (!isDescribed || !(isText || Object.values(value).some(isObject)))
    return { schema: describePlaceholders(value), example: value };
  // A request with fields that are only described cannot be sent, so it is not an example.
  const fields = Object.entries(value).map(([name, field]): [string, unknown] => [name, describeField(field, name)]);
  const described = Object.fromEntries(fields.filter(([, field]) => isObject(field)));
  return { schema: buildObjectSchema(described), example: undefined };
}

/** Words in brackets that a description has, and no value: `Wallet address (optional)`. */
const EXPLANATION = /\([^()]*\b(?:optional|required|default|e\.g)\b/i;

function hasExplanation(fields: unknown): boolean {
  return (
    isObject(fields) && Object.values(fields).some((field) => typeof field === 'string' && EXPLANATION.test(field))
  );
}

/** Returns whether the text of a field describes it: version 1 has texts of several words for that. */
function isDescription(field: unknown): field is string {
  return typeof field === 'string' && /\s/.test(field);
}

function describeField(field: unknown, name: string): unknown {
  return isDescription(field) ? { description: field } : (findPlaceholderSchema(field, name) ?? field);
}

function getMainPart(method: string): Part {
  return isWithBody(method) ? 'body' : 'queryParams';
}

/** Returns whether a schema describes no field, as `{type: 'object', properties: {}}`. */
function isEmptySchema(schema: Record<string, unknown>): boolean {
  const silent = ['$schema', 'type', 'properties', 'additionalProperties', 'required'];
  const { properties } = schema;
  const hasFields = properties !== undefined && !(isObject(properties) && Object.keys(properties).length === 0);
  return !hasFields && Object.keys(schema).every((key) => silent.includes(key));
}

/** The tool of an MCP server, as an item of a feed describes it. */
export interface FeedTool {
  name: string;
  /** The description of the tool in the item, from `info.input` of its Bazaar declaration. */
  input: Record<string, unknown>;
}

/**
 * Finds the MCP tool that an item describes (x402, extension `bazaar`, `info.input` of type `mcp`). Undefined for items of
 * other types, for names that MCP does not allow, and for transports other than Streamable HTTP.
 */
export function findFeedTool(item: unknown): FeedTool | undefined {
  const input = listSides(item, 'input').find(({ type }) => type === 'mcp');
  const name = findMember(input, 'toolName');
  const transport = findMember(input, 'transport') ?? 'streamable-http';
  if (!input || typeof name !== 'string' || !TOOL_NAME.test(name) || transport !== 'streamable-http') return undefined;
  return { name, input };
}

/**
 * Reads the arguments of a tool as the body of its route: their schema, and the example. A tool that takes no arguments
 * has the empty object as its example.
 */
export function readToolRequest(
  { input }: FeedTool,
  note: Note,
): { input_schema: JsonObject | null; example: RequestExample | null } {
  const schema = isObject(input.inputSchema) ? cleanSchema(input.inputSchema, note) : null;
  const body = schema && normaliseSchema(schema);
  const isEmpty = body !== null && Object.keys(isObject(body.properties) ? body.properties : {}).length === 0;
  const example = isObject(input.example) ? input.example : isEmpty ? {} : undefined;
  const whole = body === null ? null : cleanJson({ type: 'object', properties: { body } });
  return {
    input_schema: isObject(whole) ? whole : null,
    example: buildRequestExample({ body: example }, 'POST', note),
  };
}

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
  const outputs = [...declared.map((place) => place.output).filter(isObject), ...listSides(item, 'output')];
  const example = findFirst(
    outputs.map((output) => output.example),
    note,
  );
  const described = schema && isObject(schema) ? normaliseSchema(schema) : findDescribed(outputs, note);
  if (example === undefined) return described && !saysNothing(described) ? described : null;
  const whole = cleanJson({ ...described, examples: [example] });
  return isObject(whole) ? whole : (described ?? null);
}

function findFirst(places: unknown[], note: Note): unknown {
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
    if (!isObject(value) || saysNothing(value)) continue;
    return isDescriptor(value) ? normaliseSchema(value) : buildObjectSchema(value);
  }
  return undefined;
}
