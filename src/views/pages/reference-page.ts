import { isDeepStrictEqual } from 'node:util';
import type { OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import { toSlug } from '../../evidence/slug.ts';
import { isObject } from '../../model/json.ts';
import { quoteForShell } from '../call/code.ts';
import { buildSecurityTxt } from '../conventions.ts';
import { buildUrl, PATHS } from '../links.ts';
import type { ListingTag } from '../listing/tag.ts';
import type { DocumentFrame } from '../openapi/document.ts';
import type { Site } from '../site.ts';

/** An answer of an operation. */
export interface ReferenceAnswer {
  readonly status: string;
  readonly description: string;
  /** Media types, comma-separated; empty if there is no body. */
  readonly types: string;
}

/** One operation of the service, for a person to read and try. */
export interface ReferenceOperation {
  /** Its operation id. */
  readonly id: string;
  /** Anchor of its section: `get-agent-list`. */
  readonly anchor: string;
  readonly method: 'GET' | 'POST';
  /** `/agent/listings/{slug}`. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly fields: readonly ReferenceField[];
  /** An example body of the request; null if it has none. */
  readonly body: string | null;
  /** Every status it can answer with. */
  readonly statuses: readonly string[];
  /** Its answers beyond `shared_answers`. */
  readonly answers: readonly ReferenceAnswer[];
  /** Body of a success; null without an example, and if a reader can get a real one by opening or sending the request. */
  readonly example: string | null;
  /** A call on a command line, with the example values. */
  readonly curl: string;
  /**
   * Way to try it: a `document` is a link, a `form` sends a request that only reads by its query, and a `call` has a path to fill
   * in or a body.
   */
  readonly kind: 'document' | 'form' | 'call';
}

/** The reference of the service's endpoints. */
export interface ReferencePage {
  readonly groups: readonly {
    readonly id: string;
    readonly title: string;
    readonly operations: readonly ReferenceOperation[];
  }[];
  /** Answers that most endpoints can give. */
  readonly shared_answers: readonly ReferenceAnswer[];
  readonly tag_fields: readonly TagField[];
}

/** Longest example, in UTF-16 units; longer ones add nothing. */
const EXAMPLE_LENGTH = 700;

type Part = OpenAPIV3_1.ReferenceObject | object;

/** Values from the current catalogue for example calls; missing ones stay placeholders. */
export interface ReferenceSamples {
  readonly listing?: { readonly slug: string; readonly identifier: string; readonly domain: string } | undefined;
  /** Id of a receipt. */
  readonly receipt?: string | undefined;
  readonly route?: { readonly method: string; readonly url: string } | undefined;
}

/** Builds the reference from the parts of the OpenAPI document, with calls that work now. */
export function buildReferencePage(site: Site, frame: DocumentFrame, samples: ReferenceSamples): ReferencePage {
  const all = Object.entries(frame.paths ?? {}).flatMap(([path, item]) =>
    (['get', 'post'] as const).flatMap((method) => {
      const operation = item?.[method];
      return operation ? [buildOperation(path, method, operation, { frame, site, samples })] : [];
    }),
  );
  const shared_answers = listShared(all);
  const isShared = (answer: ReferenceAnswer) => shared_answers.some((shared) => isDeepStrictEqual(shared, answer));
  const operations = all.map((operation) => ({
    ...operation,
    answers: operation.answers.filter((answer) => !isShared(answer)),
  }));
  const belongs = (group: (typeof GROUPS)[number], { path }: ReferenceOperation) =>
    GROUPS.find(({ starts }) =>
      starts.some((start) => path === start || (start.endsWith('/') && path.startsWith(start))),
    ) === group;
  return {
    groups: GROUPS.map((group) => ({
      id: group.id,
      title: group.title,
      operations: operations.filter((operation) => belongs(group, operation)),
    })).filter((group) => group.operations.length > 0),
    shared_answers,
    tag_fields: listTagFields(),
  };
}

/** Lists the answers that most of the operations can give, by status. */
function listShared(operations: readonly ReferenceOperation[]): ReferenceAnswer[] {
  const given = Map.groupBy(
    operations.flatMap(({ answers }) => answers),
    (answer) => JSON.stringify(answer),
  );
  return [...given.values()]
    .flatMap(([answer, ...others]) => (answer && others.length >= operations.length / 2 ? [answer] : []))
    .sort((one, other) => Number(one.status) - Number(other.status));
}

/** Groups of operations by path: whole paths, and prefixes that end in a slash. The last group takes the rest. */
const GROUPS = [
  { id: 'agents', title: 'For agents', starts: ['/agent/'] },
  {
    id: 'documents',
    title: 'Documents and MCP',
    starts: [PATHS.openapi, PATHS.guide, PATHS.guideFull, '/api/', PATHS.mcp],
  },
  { id: 'discovery', title: 'For x402 clients', starts: ['/discovery/'] },
  { id: 'conventions', title: 'Conventions', starts: ['/'] },
] as const;

function buildOperation(
  path: string,
  method: 'get' | 'post',
  operation: NonNullable<OpenAPIV3_1.PathItemObject['get']>,
  { frame, site, samples }: { frame: DocumentFrame; site: Site; samples: ReferenceSamples },
): ReferenceOperation {
  const find = <Found extends object>(part: Part): Found => findComponent(frame, part) as Found;
  const fields = (operation.parameters ?? []).map((parameter) =>
    buildReferenceField(find<OpenAPIV3_1.ParameterObject>(parameter), samples),
  );
  const request = operation.requestBody && find<OpenAPIV3_1.RequestBodyObject>(operation.requestBody);
  const example = request && getExample(Object.values(request.content)[0]);
  const isOfRoute = isObject(example) && 'url' in example && 'method' in example;
  const body = request ? writeJson({ ...(isObject(example) && example), ...(isOfRoute && samples.route) }) : null;
  const answers = Object.entries(operation.responses ?? {}).map(([status, response]) => {
    const { description, content = {} } = find<OpenAPIV3_1.ResponseObject>(response);
    return { status, description, types: Object.keys(content).join(', '), content };
  });
  const success = getExample(Object.values(answers.find(({ status }) => status === '200')?.content ?? {})[0]);
  const isRead = method === 'get' && fields.every(({ place }) => place === 'query');
  // Without a contact there is no security.txt, so a link would lead nowhere.
  const isThere = path !== PATHS.securityTxt || buildSecurityTxt(site, new Date(0)) !== undefined;
  const kind = !isRead ? 'call' : fields.length === 0 && isThere ? 'document' : 'form';
  const answer = kind !== 'call' || success === undefined ? null : writeExample(success);
  return {
    id: operation.operationId ?? path,
    anchor: toSlug(`${method} ${path}`),
    method: method === 'get' ? 'GET' : 'POST',
    path,
    summary: operation.summary ?? '',
    description: operation.description ?? '',
    fields,
    body,
    statuses: answers.map(({ status }) => status),
    answers: answers.map(({ status, description, types }) => ({ status, description, types })),
    example: answer,
    curl: writeCurl(buildUrl(site.baseUrl, path), fields, body),
    kind,
  };
}

/** Returns a part of the document, or the component that it refers to. */
function findComponent({ components }: DocumentFrame, part: Part): object {
  if (!('$ref' in part)) return part;
  const [, kind = '', name = ''] = /^#\/components\/(\w+)\/(\w+)$/.exec(part.$ref) ?? [];
  const found: unknown = Reflect.get(Reflect.get(components ?? {}, kind) ?? {}, name);
  if (typeof found === 'object' && found !== null) return found;
  throw new Error(`The document refers to ${part.$ref}, which it lacks.`);
}

/** Returns the example of a body, or the first of several. */
function getExample(media: OpenAPIV3_1.MediaTypeObject | undefined): unknown {
  if (media?.example !== undefined) return media.example;
  const [first] = Object.values(media?.examples ?? {});
  return first && 'value' in first ? first.value : undefined;
}

function writeJson(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

function writeExample(value: unknown): string {
  const text = typeof value === 'string' ? value : writeJson(value);
  if (text.length <= EXAMPLE_LENGTH) return text;
  return `${text.slice(0, text.lastIndexOf('\n', EXAMPLE_LENGTH))}\n…`;
}

function writeCurl(url: string, fields: readonly ReferenceField[], body: string | null): string {
  const filled = fields
    .filter(({ place, value }) => place === 'path' && value !== '')
    .reduce((address, { name, value }) => address.replace(`{${name}}`, encodeURIComponent(value)), url);
  const query = new URLSearchParams(
    fields.filter(({ place, value }) => place === 'query' && value !== '').map(({ name, value }) => [name, value]),
  ).toString();
  const address = quoteForShell(query === '' ? filled : `${filled}?${query}`);
  if (body === null) return `curl ${address}`;
  const headers = ['Content-Type: application/json', 'Accept: application/json, text/event-stream'];
  const given = headers.map((header) => `-H ${quoteForShell(header)}`).join(' ');
  return `curl ${address} ${given} -d ${quoteForShell(JSON.stringify(JSON.parse(body)))}`;
}

/** One parameter of an operation, as a field of a form. */
export interface ReferenceField {
  readonly name: string;
  readonly place: 'query' | 'path';
  readonly is_required: boolean;
  readonly description: string;
  /** Type and limits in words: `whole number, 1 to 1000, 100 by default`. */
  readonly type: string;
  /** Values to choose from; empty for free text. */
  readonly choices: readonly string[];
  /** Initial value in a form: an example if it is useful, else empty. */
  readonly value: string;
  /** Hint for readers who do not know what to enter. */
  readonly placeholder: string;
  readonly is_number: boolean;
}

/** Parts of a parameter's JSON Schema that are put into words. */
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

/** Parameters whose form fields start with an example. The others narrow the results, and start empty. */
const PREFILLED = ['q', 'query', 'limit', 'slug', 'id', 'part', 'url', 'method'];

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': 'time in ISO 8601',
  date: 'date in ISO 8601',
  uuid: 'UUID',
  uri: 'address',
};

/** Finds a value from the catalogue for a parameter; undefined for a parameter that names nothing in the catalogue. */
function findSample(name: string, { listing, receipt, route }: ReferenceSamples): string | undefined {
  const samples = new Map([
    ['slug', listing?.slug],
    ['identifier', listing?.identifier],
    ['domain', listing?.domain],
    ['id', receipt],
    ['url', route?.url],
    ['method', route?.method],
  ]);
  return samples.has(name) ? (samples.get(name) ?? '') : undefined;
}

/** Builds the field of a parameter. */
function buildReferenceField(parameter: OpenAPIV3_1.ParameterObject, samples: ReferenceSamples): ReferenceField {
  const example = parameter.example === undefined ? '' : String(parameter.example);
  const schema = fieldSchema.parse(parameter.schema ?? {});
  const is_prefilled = parameter.required === true || PREFILLED.includes(parameter.name);
  return {
    name: parameter.name,
    place: parameter.in === 'path' ? 'path' : 'query',
    is_required: parameter.required === true,
    description: parameter.description ?? '',
    type: describeType(schema),
    choices: schema.type === 'boolean' ? ['true', 'false'] : (schema.enum ?? []).map(String),
    value: is_prefilled ? (findSample(parameter.name, samples) ?? example) : '',
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

/** A field of a listing's tag, and its meaning. */
interface TagField {
  readonly name: string;
  readonly meaning: string;
}

/** Every field of a tag in words. The type ensures that none is left out. */
const MEANINGS: Readonly<Record<keyof ListingTag, string>> = {
  name: 'Slug of the listing',
  description: 'Text of the provider, cut where it is long; then, in brackets, what this catalogue says of it',
  externalDocs: 'Base address of the provider, and what it is called',
  'x-payment-verified': 'Whether at least one route is settlement-verified',
  'x-verified-route-count': 'How many routes are',
  'x-reliability-score': 'How reliable it was found to be, 0 to 100; null while unscored',
  'x-reliability-band': 'How much is known: established, thin or unscored',
  'x-price-min-usdc': 'Lowest price of a request, in USDC',
  'x-price-max-usdc': 'Highest price of a request; the same where the price is flat',
  'x-network': 'Primary network',
  'x-endpoints-count': 'How many routes it has; 0 where the provider names none',
  'x-category': 'One of five categories',
  'x-provider-name': 'Name of the provider, in its own words',
  'x-base-url': 'Where the provider is called; never through this service',
  'x-mcp-endpoint': 'The provider’s own MCP server; null where it has none',
  'x-marketplace-url': 'Page of the listing here',
  'x-listing-id': 'Identifier that stays, whatever the listing is called',
  'x-network-id': 'Identifier of the primary network (CAIP-2)',
  'x-networks': 'Each network: whether payment is advertised there now, and whether it was proved',
};

/** Lists the fields of a tag in their order. */
function listTagFields(): TagField[] {
  return Object.entries(MEANINGS).map(([name, meaning]) => ({ name, meaning }));
}
