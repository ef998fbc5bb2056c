import { isObject, type JsonObject } from '../model/json.ts';
import { getRouteUrl, type Route } from '../model/route.ts';

/** Methods that carry a body, and whose declarations have a `bodyType`. */
const WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/** Parts of a request, as the extension names them and as routes keep their input schema. */
const PARTS = ['queryParams', 'body', 'headers', 'pathParams'] as const;

/** What a path template may look like as the extension takes it (x402, extension `bazaar`, "routeTemplate Validation Rules"). */
const ROUTE_TEMPLATE = /^\/(?!.*\.\.)(?!.*:\/\/)[a-zA-Z0-9_/:.\-~]+$/;

/** How to call a route, as the extension `bazaar` declares it: `info` are values, `schema` says what fits them. */
export interface BazaarDeclaration {
  info: { input: JsonObject; output?: JsonObject };
  schema: JsonObject;
  routeTemplate?: string;
}

/**
 * Builds the declaration of a route. What is not on record is left out: there is no `body` where no source gives an
 * example, so that what is there is one, and `info` fits the schema beside it as the extension demands.
 */
export function buildBazaarDeclaration(baseUrl: string, route: Route): BazaarDeclaration {
  const { pathname } = new URL(getRouteUrl(baseUrl, route.path));
  const isTemplate = /\/:[A-Za-z_]/.test(pathname) && ROUTE_TEMPLATE.test(pathname);
  const output = buildOutput(route);
  return {
    info: { input: buildInput(route), ...(output && { output: output.info }) },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { input: buildInputSchema(route), ...(output && { output: output.schema }) },
      required: ['input'],
    },
    ...(isTemplate && { routeTemplate: pathname }),
  };
}

function buildInput({ method, example, input_schema: declared }: Route): JsonObject {
  return {
    type: 'http',
    method,
    ...(WITH_BODY.has(method) && { bodyType: typeof example?.body === 'string' ? 'text' : 'json' }),
    ...(example?.query && { queryParams: readTyped(example.query, getPart(declared, 'queryParams')) }),
    ...(example?.body !== undefined && { body: example.body }),
    ...(example?.headers && { headers: example.headers }),
  };
}

function buildInputSchema({ method, input_schema: declared }: Route): JsonObject {
  const parts = PARTS.flatMap((part) => {
    const stated = getPart(declared, part);
    return stated === undefined ? [] : [[part, stated] as const];
  });
  const hasBody = WITH_BODY.has(method);
  return {
    type: 'object',
    properties: {
      type: { type: 'string', const: 'http' },
      method: { type: 'string', enum: [method] },
      ...(hasBody && { bodyType: { type: 'string', enum: ['json', 'form-data', 'text'] } }),
      ...Object.fromEntries(parts),
    },
    required: hasBody ? ['type', 'method', 'bodyType'] : ['type', 'method'],
  };
}

function getPart(declared: JsonObject | null, part: (typeof PARTS)[number]): unknown {
  return isObject(declared?.properties) ? declared.properties[part] : undefined;
}

/** A query is text on the wire and on record; the declaration has its values as the schema types them. */
function readTyped(query: Readonly<Record<string, string>>, schema: unknown): JsonObject {
  const fields = isObject(schema) && isObject(schema.properties) ? schema.properties : {};
  return Object.fromEntries(
    Object.entries(query).map(([name, text]) => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      return [name, isObject(field) ? readValue(text, field.type) : text];
    }),
  );
}

function readValue(text: string, type: unknown): unknown {
  if ((type === 'number' || type === 'integer') && /^-?\d{1,15}(\.\d{1,15})?$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

/** The answer's schema carries an example of it in `examples`; the extension has them apart. */
function buildOutput({ output_schema: declared, mime_type }: Route): { info: JsonObject; schema: JsonObject } | null {
  if (declared === null) return null;
  const { examples, ...schema } = declared;
  const example: unknown = Array.isArray(examples) ? examples[0] : undefined;
  return {
    info: { type: getContentKind(mime_type), ...(example !== undefined && { example }) },
    schema: {
      type: 'object',
      properties: { type: { type: 'string' }, ...(Object.keys(schema).length > 0 && { example: schema }) },
      required: ['type'],
    },
  };
}

/** Says in the extension's words what an answer is: `json`, `text`, else its media type. */
function getContentKind(mimeType: string | null): string {
  const type = mimeType?.split(';', 1)[0]?.trim() ?? 'application/json';
  if (/[/+]json$/.test(type)) return 'json';
  return type.startsWith('text/') ? 'text' : type;
}
