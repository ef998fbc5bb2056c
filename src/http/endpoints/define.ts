import type { Hono } from 'hono';
import type { OpenAPIV3, OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import { slug } from '../../model/listing.ts';
import type { AtRevision, Reading } from '../../published/reading.ts';
import { listPaths } from '../../views/links.ts';
import { buildFailureRefs, type FailureName, getSchemaRef, simplifySchema } from '../../views/openapi/components.ts';
import { EXAMPLE_SLUG } from '../../views/openapi/example.ts';
import type { Site } from '../../views/site.ts';
import type { Document, JoinedDocument } from '../document.ts';
import { parseQuery } from '../parameters.ts';
import type { Env } from '../request.ts';
import { answerLive } from '../sending.ts';
import { answerPosted, type Hints, limitQuestion } from './posted.ts';

/** An OpenAPI operation, typed for 3.0 and 3.1 at once, as openapi-types demands in a path. */
export type Operation = NonNullable<OpenAPIV3_1.PathItemObject['get']>;

/** The app that an endpoint is added to, and the source of its answers. */
export interface Mount {
  readonly app: Hono<Env>;
  readonly reading: Reading;
}

/** An endpoint of the service: its operation in the OpenAPI document, and its route in the app. */
export interface Endpoint {
  /** Path in the form of the document: `/agent/receipts/{id}`. */
  readonly path: string;
  readonly method: 'get' | 'post';
  /** The methods of the path, if it takes others than GET, HEAD and OPTIONS. */
  readonly allow?: readonly string[];
  /** Builds its operation. Absent for an endpoint that the document leaves out. */
  readonly describe?: (site: Site) => Operation;
  /** Schema of its answer. The id of the schema is the name of a component. */
  readonly answer?: z.ZodType;
  /** Adds its route. Absent for an endpoint that is answered as a page, and for MCP. */
  readonly mount?: (to: Mount) => void;
}

/** Texts about an endpoint in the document. */
interface Words {
  /** Its operation id. */
  readonly id: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string;
}

/** An example, or several by name. */
interface WithExamples {
  readonly example?: (site: Site) => unknown;
  readonly examples?: (site: Site) => Readonly<Record<string, { summary: string; value: unknown }>>;
}

/** A JSON answer; its schema has an id. */
interface JsonAnswer extends WithExamples {
  readonly description: string;
  readonly schema: z.ZodType;
}

/** Parameters of a path, each with a description and an example. */
type Params = Readonly<Record<string, z.ZodType>>;

/** Route in the app for a path that Hono cannot express, such as `/badge/{slug}.svg`. */
interface RoutePattern {
  readonly path: string;
  /** Pattern that paths must match besides `path`. Its named groups are parameters. */
  readonly only: RegExp;
}

/** Sources of a document, with the parameters of its path. */
interface From extends AtRevision {
  readonly params: Readonly<Record<string, string>>;
  /** Path and query in a canonical form. */
  readonly asked: string;
}

/** Finds a stored document by one query; undefined if it has to be built. */
type Find<Query> = (query: Query, reading: Reading, params: Readonly<Record<string, string>>) => Document | undefined;

/**
 * Makes a document by several reads, between which other requests are answered. Throws a `ServiceError` if there is no such
 * document.
 */
type Make<Query> = (query: Query, from: Omit<From, 'snapshot'>) => Promise<Document | JoinedDocument>;

/** The function that makes the answer: `build` at one revision of the published catalogue, or `make` by several reads. */
type Answering<Query> =
  | { readonly build: (query: Query, from: From) => Document; readonly make?: undefined }
  | { readonly make: Make<Query>; readonly build?: undefined };

/** Methods of a path that also takes questions by POST. */
export const READ_AND_POST = ['GET', 'HEAD', 'POST', 'OPTIONS'] as const;

/** Media type of a text for people. */
export const PLAIN_TEXT = 'text/plain; charset=utf-8';

/** The query of an endpoint that takes no parameters. */
export const NO_QUERY = z.strictObject({});
type NoQuery = z.output<typeof NO_QUERY>;

/** The slug of a listing as a parameter of a path. */
export const SLUG_PARAM = {
  slug: slug.meta({ description: 'Slug of the listing: the name of its tag', example: EXAMPLE_SLUG }),
};

/** Failures of all live endpoints, and of those that answer GET or POST. */
const COMMON = ['BadRequest', 'MethodNotAllowed', 'TooManyRequests', 'Unavailable'] as const;
const OF_GET = [...COMMON, 'NotModified'] as const;
const OF_POST = [...COMMON, 'ContentTooLarge', 'UnsupportedMediaType'] as const;

/** Headers of documents that are made for each request from one revision of the catalogue. */
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

/** Defines an endpoint that answers GET with a JSON document. `build` throws a `ServiceError` if there is no such document. */
export function defineRead<Query extends z.ZodObject>({
  params = {},
  query,
  examples = {},
  answer,
  failures = [],
  find,
  build,
  make,
  ...words
}: Words & {
  readonly params?: Params;
  /** Schema that checks and describes the parameters. */
  readonly query: Query;
  /** An example of each parameter of the query. */
  readonly examples?: Partial<z.input<Query>>;
  readonly answer: JsonAnswer;
  /** Failures besides those of all endpoints. */
  readonly failures?: readonly FailureName[];
  readonly find?: Find<z.output<Query>>;
} & Answering<z.output<Query>>): Endpoint {
  const { path } = words;
  const answering = build ? { build } : { make };
  return {
    path,
    method: 'get',
    answer: answer.schema,
    describe: (site) => ({
      ...describeWords(words, [...describeParams(params), ...describeQuery(query, examples)]),
      responses: {
        '200': describeAnswer(answer, site, REVISION_HEADERS),
        ...buildFailureRefs([...OF_GET, ...failures]),
      },
    }),
    mount: (to) => mountGet(to, path.replace(/\{(\w+)\}/g, ':$1'), query, { find, ...answering }),
  };
}

/** Defines an endpoint whose question is posted as JSON, because it is too long for an address. Its answer is never cached. */
export function defineQuestion<Question extends z.ZodObject>({
  body,
  hints,
  answer,
  translate = (error) => error,
  build,
  ...words
}: Words & {
  readonly body: WithExamples & { readonly schema: Question };
  readonly hints: Hints;
  readonly answer: JsonAnswer;
  /** Translates a thrown error into the one to throw instead. */
  readonly translate?: (error: unknown) => unknown;
  /** Builds the answer; `text` is the question as it was sent. */
  readonly build: (question: z.output<Question>, from: AtRevision & { readonly text: string }) => Document;
}): Endpoint {
  const { path } = words;
  return {
    path,
    method: 'post',
    allow: READ_AND_POST,
    answer: answer.schema,
    describe: (site) => ({
      ...describeWords(words),
      requestBody: {
        required: true,
        content: { 'application/json': { schema: buildInputSchema(body.schema), ...describeExamples(body, site) } },
      },
      responses: { '200': describeAnswer(answer, site), ...buildFailureRefs(OF_POST) },
    }),
    mount: ({ app, reading }) =>
      app.post(path, limitQuestion(hints), async (c) => {
        try {
          return await answerPosted(c, body.schema, {
            hints,
            build: (question, text) => reading.readAtOnce((snapshot) => build(question, { reading, snapshot, text })),
          });
        } catch (error) {
          throw translate(error);
        }
      }),
  };
}

/** Defines an endpoint that answers GET with a file that other software looks for here. */
export function defineFile({
  at,
  params = {},
  content,
  failures = [],
  responses = {},
  build,
  make,
  ...words
}: Words & {
  readonly deprecated?: boolean;
  readonly at?: RoutePattern;
  readonly params?: Params;
  /** Its content: the media type as it is sent, and an example (an object for JSON). */
  readonly content: {
    readonly description: string;
    readonly type: string;
    readonly example: (site: Site) => string | object;
  };
  readonly failures?: readonly FailureName[];
  /** Responses besides the common ones. */
  readonly responses?: OpenAPIV3_1.ResponsesObject;
} & Answering<NoQuery>): Endpoint {
  const [type = ''] = content.type.split(';');
  return {
    path: words.path,
    method: 'get',
    describe: (site) => {
      const example = content.example(site);
      const schema = { type: typeof example === 'string' ? ('string' as const) : ('object' as const) };
      return {
        ...describeWords(words, describeParams(params)),
        responses: {
          '200': { description: content.description, content: { [type]: { schema, example } } },
          ...responses,
          ...buildFailureRefs([...OF_GET, ...failures]),
        },
      };
    },
    mount: (to) =>
      mountGet(to, at?.path ?? words.path, NO_QUERY, {
        only: at?.only,
        ...(build ? { build } : { make }),
      }),
  };
}

/** Adds a route that answers GET with a document, at each path of the endpoint. */
function mountGet<Query extends z.ZodObject>(
  { app, reading }: Mount,
  path: string,
  query: Query,
  {
    only,
    find,
    ...answering
  }: {
    readonly only?: RegExp | undefined;
    readonly find?: Find<z.output<Query>> | undefined;
  } & Answering<z.output<Query>>,
): void {
  app.on('GET', listPaths(path), (c, next) => {
    const named = only?.exec(c.req.path);
    if (named === null) return next();
    const params = { ...c.req.param(), ...named?.groups };
    const question = parseQuery(query, new URL(c.req.url).searchParams);
    const found = find && reading.readOne(() => find(question, reading, params));
    if (found) return answerLive(c, () => found);
    const { build, make } = answering;
    const from = { reading, params, asked: `${c.req.path} ${JSON.stringify(question)}` };
    return answerLive(c, () =>
      build ? reading.readAtOnce((snapshot) => build(question, { ...from, snapshot })) : make(question, from),
    );
  });
}

function describeWords({ id, path: _path, ...words }: Words, parameters: OpenAPIV3.ParameterObject[] = []) {
  return { operationId: id, ...words, ...(parameters.length > 0 && { parameters }) };
}

function describeAnswer(
  { description, schema, ...shown }: JsonAnswer,
  site: Site,
  headers?: OpenAPIV3_1.ResponseObject['headers'],
) {
  const { id = '' } = z.globalRegistry.get(schema) ?? {};
  const content = { schema: getSchemaRef(id), ...describeExamples(shown, site) };
  return { description, ...(headers && { headers }), content: { 'application/json': content } };
}

function describeExamples({ example, examples }: WithExamples, site: Site) {
  return { ...(example && { example: example(site) }), ...(examples && { examples: examples(site) }) };
}

/** Describes the parameters of a query by the schema that also checks them. */
function describeQuery(query: z.ZodObject, examples: Readonly<Record<string, unknown>>): OpenAPIV3.ParameterObject[] {
  const { properties = {}, required = [] } = buildInputSchema(query);
  return Object.entries(properties).map(([name, property]) => {
    const { description = name, ...schema } = property as OpenAPIV3.SchemaObject;
    const example = name in examples && { example: examples[name] };
    return { name, in: 'query', required: required.includes(name), description, schema, ...example };
  });
}

/** Describes the parameters of a path; each schema carries its example. */
export function describeParams(params: Params): OpenAPIV3.ParameterObject[] {
  return Object.entries(params).map(([name, param]) => {
    const { description = name, example, ...schema } = buildInputSchema(param);
    return { name, in: 'path', required: true, description, schema, example };
  });
}

/** Builds the JSON Schema of a request body, in the 3.0 type that openapi-types demands, although the document is 3.1. */
function buildInputSchema(schema: z.ZodType): OpenAPIV3.SchemaObject {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ jsonSchema }) => simplifySchema(jsonSchema),
  });
  return json as OpenAPIV3.SchemaObject;
}
