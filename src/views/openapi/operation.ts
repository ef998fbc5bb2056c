import type { OpenAPIV3, OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import { slug } from '../../model/listing.ts';
import { NETWORKS } from '../../model/network.ts';
import { type FailureName, getResponseRef, getSchemaRef, simplifySchema } from './components.ts';
import { EXAMPLE_PAYEE, EXAMPLE_ROUTES } from './examples.ts';

/** An operation as openapi-types has one in a path: by its 3.0 type and its 3.1 type at once. */
export type Operation = NonNullable<OpenAPIV3_1.PathItemObject['get']>;

/** What is particular to one endpoint that answers a GET with JSON. */
interface JsonRead {
  operationId: string;
  summary: string;
  description: string;
  parameters?: OpenAPIV3_1.ParameterObject[];
  /** What a success holds, in words, as a schema of the document and by example. */
  answer: { description: string; schema: Parameters<typeof getSchemaRef>[0]; example: unknown };
  /** How it can fail beside what every endpoint does. */
  failures?: readonly FailureName[];
}

const PROBLEM_TYPE = 'application/problem+json';

/** Codes of the shared failures. */
const STATUS: Readonly<Record<FailureName, string>> = {
  NotModified: '304',
  BadRequest: '400',
  NotFound: '404',
  MethodNotAllowed: '405',
  Gone: '410',
  HistoryReplaced: '410',
  ContentTooLarge: '413',
  UnsupportedMediaType: '415',
  TooManyRequests: '429',
  Unavailable: '503',
};

/** How every live endpoint can fail. */
const COMMON = ['BadRequest', 'MethodNotAllowed', 'TooManyRequests', 'Unavailable'] as const;

/** Headers of the documents that are made per request from one revision of the catalogue. */
const REVISION_HEADERS: NonNullable<OpenAPIV3_1.ResponseObject['headers']> = {
  ETag: {
    description: 'Send it back as If-None-Match: 304 while nothing changed',
    schema: { type: 'string' },
    example: 'W/"1x2y-3z"',
  },
  'X-Catalogue-Revision': {
    description: 'Revision of the catalogue that the answer is of',
    schema: { type: 'integer', minimum: 0 },
    example: 42,
  },
};

/** Builds the operation of an endpoint that answers a GET with JSON. */
export function buildJsonRead({ answer, failures = [], ...operation }: JsonRead): Operation {
  return {
    ...operation,
    responses: {
      '200': {
        description: answer.description,
        headers: REVISION_HEADERS,
        content: { 'application/json': { schema: getSchemaRef(answer.schema), example: answer.example } },
      },
      ...buildFailureRefs(['NotModified', ...COMMON, ...failures]),
    },
  };
}

/** What a file holds: in words, its media type, a schema and an example. */
export interface FileAnswer {
  description: string;
  type: string;
  schema: { type: 'object' | 'string' };
  example: unknown;
}

/** Builds the operation of a file that is served live: its id, its summary and its description, then what it holds. */
export function buildFileRead(
  [operationId, summary, description]: readonly [string, string, string],
  { type, schema, example, ...answer }: FileAnswer,
  failures: readonly FailureName[] = [],
): Operation {
  return {
    operationId,
    summary,
    description,
    responses: {
      '200': { description: answer.description, content: { [type]: { schema, example } } },
      ...buildFailureRefs(['NotModified', ...COMMON, ...failures]),
    },
  };
}

/** What a page is, in words, and the media types in which it can be asked for. */
interface TextAnswer<Types> {
  description: string;
  types: Types;
}

/** Builds the operation of a page: text made ahead, by its types with an example of each. */
export function buildTextRead(
  operation: Pick<JsonRead, 'operationId' | 'summary' | 'description' | 'parameters'>,
  { description, types }: TextAnswer<Readonly<Record<string, string>>>,
  failures: Readonly<Record<string, TextAnswer<readonly string[]>>> = {},
): Operation {
  const text = { type: 'string' as const };
  const examples = Object.entries(types).map(([type, example]) => [type, { schema: text, example }]);
  const refuse = (failure: TextAnswer<readonly string[]>) => ({
    description: failure.description,
    content: Object.fromEntries(
      failure.types.map((type) => [type, { schema: type === PROBLEM_TYPE ? getSchemaRef('Problem') : text }]),
    ),
  });
  return {
    ...operation,
    responses: {
      '200': { description, content: Object.fromEntries(examples) },
      ...Object.fromEntries(Object.entries(failures).map(([status, failure]) => [status, refuse(failure)])),
      ...buildFailureRefs(['NotModified', 'MethodNotAllowed', 'TooManyRequests']),
    },
  };
}

/** Refers to shared failures by their codes, in their order. */
export function buildFailureRefs(names: readonly FailureName[]): OpenAPIV3_1.ResponsesObject {
  const refs = names.map((name) => [STATUS[name], getResponseRef(name)] as const);
  return Object.fromEntries(refs.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const EXAMPLES: Readonly<Record<string, unknown>> = {
  q: 'convert a pdf to text',
  category: 'Finance',
  network: 'base',
  verified: true,
  band: 'established',
  max_price_usdc: '0.01',
  can: 'v2,evm,exact,eip3009',
  host: 'api.prices.example',
  path: '/v1/price/{symbol}',
  provider: 'Example Inc',
  updated_since: '2026-11-01',
  sort: 'price',
  facets: true,
  since: 41,
  limit: 20,
  query: 'convert a pdf to text',
  type: 'http',
  scheme: 'exact',
  payTo: EXAMPLE_PAYEE,
  extensions: 'bazaar',
  history: 'all',
  offset: 100,
  url: 'https://api.prices.example/v1/price/x',
  method: 'GET',
  asset: NETWORKS.base.usdc,
  pay_to: EXAMPLE_PAYEE,
  amount: '1000',
  price_usdc: '0.001',
  cursor: 'bm90LXJlYWw',
  routes: EXAMPLE_ROUTES,
};

/** Builds the query parameters of an endpoint from the very schema that checks them. */
export function buildQueryParameters(query: z.ZodObject): OpenAPIV3_1.ParameterObject[] {
  const { properties = {}, required = [] } = z.toJSONSchema(query, {
    io: 'input',
    override: ({ jsonSchema }) => simplifySchema(jsonSchema),
  });
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = property as { description?: string };
    return {
      name,
      in: 'query',
      required: required.includes(name),
      description: description ?? name,
      schema: asParameterSchema(schema),
      ...(name in EXAMPLES ? { example: EXAMPLES[name] } : {}),
    };
  });
}

/** The slug of a listing as a path parameter. */
export function buildSlugParameter(): OpenAPIV3_1.ParameterObject {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(slug);
  return {
    name: 'slug',
    in: 'path',
    required: true,
    description: 'Slug of the listing: the name of its tag',
    schema: asParameterSchema(schema),
    example: 'example-prices',
  };
}

/** The id of a receipt as a path parameter. */
export function buildReceiptParameter(): OpenAPIV3_1.ParameterObject {
  return {
    name: 'id',
    in: 'path',
    required: true,
    description: "Id of the receipt: a verified route's proof.receipt_id",
    schema: { type: 'string', format: 'uuid' },
    example: '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01',
  };
}

/** A JSON Schema as openapi-types has parameters carry it: in its 3.0 type, although the document is 3.1. */
function asParameterSchema(schema: object): OpenAPIV3.SchemaObject {
  return schema;
}
