import type { OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import { buildProblemBody } from '../problem.ts';
import { buildGoneExample } from './example.ts';

/** Returns a reference to a component schema, whose name is the id of the schema. */
export function getSchemaRef(id: string): OpenAPIV3_1.ReferenceObject {
  return { $ref: `#/components/schemas/${id}` };
}

/** Builds the component schemas: the given ones and all schemas with an id inside them, which refer to each other by id. */
export function buildSchemas(given: readonly z.ZodType[]): Record<string, OpenAPIV3_1.SchemaObject> {
  const { $defs } = z.toJSONSchema(z.union(given), {
    io: 'output',
    override: ({ jsonSchema }) => simplifySchema(jsonSchema),
  });
  const sorted = Object.fromEntries(Object.entries($defs ?? {}).sort(([one], [other]) => (one < other ? -1 : 1)));
  return JSON.parse(JSON.stringify(sorted).replaceAll('#/$defs/', getSchemaRef('').$ref));
}

/**
 * Removes the long pattern next to a format, and the format `starts_with`, which JSON Schema does not have and whose pattern says
 * the same.
 */
export function removeDoubleBound(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.format === 'starts_with') delete schema.format;
  if (schema.format !== undefined) delete schema.pattern;
}

/** Removes what a format already says, and what would forbid future fields, since a document is made to be read. */
export function simplifySchema(schema: z.core.JSONSchema.BaseSchema): void {
  removeDoubleBound(schema);
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.additionalProperties === false) delete schema.additionalProperties;
}

interface Failure {
  description: string;
  status: number;
  code: string;
  detail: string;
  hint: string;
  headers?: OpenAPIV3_1.ResponseObject['headers'];
}

/** Requests that a client has left (draft-ietf-httpapi-ratelimit-headers-10). All answers have this header, not only this one. */
const WAITING: NonNullable<Failure['headers']> = {
  RateLimit: {
    description: 'What is left of the window: requests (r) and seconds (t)',
    schema: { type: 'string' },
    example: '"client";r=0;t=12',
  },
  'RateLimit-Policy': {
    description: 'Requests (q) a client may send in a window of seconds (w)',
    schema: { type: 'string' },
    example: '"client";q=600;w=60',
  },
  'Retry-After': { description: 'Seconds to wait', schema: { type: 'integer', minimum: 0 }, example: 12 },
};

/** Failures that endpoints share. Each is a component that operations refer to. */
const FAILURES = {
  BadRequest: {
    description: 'Something about the request is unknown or has a value it cannot take; the hint says what is valid',
    status: 400,
    code: 'unknown_parameter',
    detail: 'There is no parameter "categroy" here.',
    hint: 'Did you mean category?',
  },
  NotFound: {
    description: 'There is nothing of that name',
    status: 404,
    code: 'not_found',
    detail: 'There is no live listing "example-price".',
    hint: 'GET /agent/list?q=… searches the catalogue.',
  },
  MethodNotAllowed: {
    description: 'Another method than those that Allow names',
    status: 405,
    code: 'method_not_allowed',
    detail: 'DELETE is not answered here.',
    hint: 'Use GET, HEAD, OPTIONS.',
    headers: { Allow: { description: 'The methods that are answered', schema: { type: 'string' }, example: 'GET' } },
  },
  HistoryReplaced: {
    description: 'The history that the cursor is of was replaced; start again',
    status: 410,
    code: 'history_replaced',
    detail: 'The history that the cursor is of was replaced by another one.',
    hint: 'Start again with since=0.',
  },
  ContentTooLarge: {
    description: 'The body is larger than this endpoint reads',
    status: 413,
    code: 'too_large',
    detail: 'The body is larger than 65536 bytes.',
    hint: 'Send the challenge alone, or its fields as parameters of GET.',
  },
  UnsupportedMediaType: {
    description: 'The body is not said to be JSON',
    status: 415,
    code: 'unsupported_media_type',
    detail: 'The body is not said to be JSON.',
    hint: 'Send Content-Type: application/json.',
  },
  TooManyRequests: {
    description: 'Too many requests from this client',
    status: 429,
    code: 'rate_limited',
    detail: 'This client has asked more often than the service answers.',
    hint: 'Wait as many seconds as Retry-After says.',
    headers: WAITING,
  },
  Unavailable: {
    description: 'The catalogue cannot be read at the moment',
    status: 503,
    code: 'unavailable',
    detail: 'The catalogue cannot be read at the moment.',
    hint: 'Try again in a moment.',
  },
} satisfies Record<string, Failure>;

export type FailureName = keyof typeof FAILURES | 'Gone' | 'NotModified';

/** Refers to shared responses by their statuses. */
export function buildFailureRefs(names: readonly FailureName[]): OpenAPIV3_1.ResponsesObject {
  return Object.fromEntries(names.map((name) => [getStatus(name), { $ref: `#/components/responses/${name}` }]));
}

function getStatus(name: FailureName): number {
  return name === 'Gone' ? 410 : name === 'NotModified' ? 304 : FAILURES[name].status;
}

/** Builds the shared responses: the failures, which are the same for every endpoint. */
export function buildResponses(): Record<FailureName, OpenAPIV3_1.ResponseObject> {
  const failures = Object.entries<Failure>(FAILURES).map(([name, failure]) => [name, buildFailure(failure)]);
  return {
    ...(Object.fromEntries(failures) as Record<keyof typeof FAILURES, OpenAPIV3_1.ResponseObject>),
    Gone: {
      description: 'The listing was removed; a tombstone says when, by whom and why',
      content: { 'application/problem+json': { schema: getSchemaRef('GoneProblem'), example: buildGoneExample() } },
    },
    NotModified: { description: 'Not changed since the ETag that was sent' },
  };
}

function buildFailure({ description, status, code, detail, hint, headers }: Failure): OpenAPIV3_1.ResponseObject {
  const example = buildProblemBody({ status, code, detail, hint });
  return {
    description,
    ...(headers && { headers }),
    content: { 'application/problem+json': { schema: getSchemaRef('Problem'), example } },
  };
}
