import type { OpenAPIV3_1 } from 'openapi-types';
import { buildUrl, PATHS } from '../links.ts';
import { buildDocumentFrame, type DocumentFrame } from '../openapi/document.ts';
import type { Site } from '../site.ts';
import { buildReferenceField, type ReferenceField } from './reference-field.ts';
import { listTagFields, type TagField } from './reference-tags.ts';

/** What an operation can answer. */
export interface ReferenceAnswer {
  readonly status: string;
  readonly description: string;
  /** Media types, comma-separated; empty where there is no body. */
  readonly types: string;
}

/** One operation of the service, as a person reads and tries it. */
export interface ReferenceOperation {
  /** Id of its section, which is its operation id. */
  readonly id: string;
  readonly method: 'GET' | 'POST';
  /** `/agent/listings/{slug}`. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly fields: readonly ReferenceField[];
  /** The body of the request, to start from; null where it has none. */
  readonly body: string | null;
  readonly answers: readonly ReferenceAnswer[];
  /** The body of a success; null where none is given. */
  readonly example: string | null;
  /** A call on a command line, with the example values. */
  readonly curl: string;
  /** A plain form can send it: it reads, and nothing of its address is to be filled in. */
  readonly is_form: boolean;
}

/** The reference of the service's endpoints. */
export interface ReferencePage {
  readonly groups: readonly {
    readonly id: string;
    readonly title: string;
    readonly operations: readonly ReferenceOperation[];
  }[];
  readonly tag_fields: readonly TagField[];
}

/** Longer examples say no more. */
const EXAMPLE_LENGTH = 4000;

type Part = OpenAPIV3_1.ReferenceObject | object;

/** Builds the reference from the very parts that the OpenAPI document is made of. */
export function buildReferencePage(site: Site): ReferencePage {
  const frame = buildDocumentFrame(site);
  const operations = Object.entries(frame.paths ?? {}).flatMap(([path, item]) =>
    (['get', 'post'] as const).flatMap((method) => {
      const operation = item?.[method];
      return operation ? [buildOperation(path, method, operation, { frame, site })] : [];
    }),
  );
  const belongs = (group: (typeof GROUPS)[number], { path }: ReferenceOperation) =>
    GROUPS.find(({ starts }) =>
      starts.some((start) => path === start || (start.endsWith('/') && path.startsWith(start))),
    ) === group;
  return {
    groups: GROUPS.map((group) => ({
      ...{ id: group.id, title: group.title },
      operations: operations.filter((operation) => belongs(group, operation)),
    })).filter((group) => group.operations.length > 0),
    tag_fields: listTagFields(),
  };
}

/** What is shown together: whole paths, and how those begin that end in a stroke. The last takes the rest. */
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
  { frame, site }: { frame: DocumentFrame; site: Site },
): ReferenceOperation {
  const find = <Found extends object>(part: Part): Found => findComponent(frame, part) as Found;
  const fields = (operation.parameters ?? []).map((parameter) =>
    buildReferenceField(find<OpenAPIV3_1.ParameterObject>(parameter)),
  );
  const request = operation.requestBody && find<OpenAPIV3_1.RequestBodyObject>(operation.requestBody);
  const body = request ? writeJson(getExample(Object.values(request.content)[0]) ?? {}) : null;
  const answers = Object.entries(operation.responses ?? {}).map(([status, response]) => {
    const { description, content = {} } = find<OpenAPIV3_1.ResponseObject>(response);
    return { status, description, types: Object.keys(content).join(', '), content };
  });
  const success = getExample(Object.values(answers.find(({ status }) => status === '200')?.content ?? {})[0]);
  const example = success === undefined ? null : typeof success === 'string' ? success : writeJson(success);
  return {
    ...{ id: operation.operationId ?? path, method: method === 'get' ? 'GET' : 'POST', path },
    ...{ summary: operation.summary ?? '', description: operation.description ?? '', fields, body },
    answers: answers.map(({ status, description, types }) => ({ status, description, types })),
    example: example && (example.length > EXAMPLE_LENGTH ? `${example.slice(0, EXAMPLE_LENGTH)}\n…` : example),
    curl: writeCurl(buildUrl(site.baseUrl, path), fields, body),
    is_form: method === 'get' && fields.every(({ place }) => place === 'query'),
  };
}

/** Gives what a part of the document says, itself or in the component that it refers to. */
function findComponent({ components }: DocumentFrame, part: Part): object {
  if (!('$ref' in part)) return part;
  const [, kind = '', name = ''] = /^#\/components\/(\w+)\/(\w+)$/.exec(part.$ref) ?? [];
  const found: unknown = Reflect.get(Reflect.get(components ?? {}, kind) ?? {}, name);
  if (typeof found === 'object' && found !== null) return found;
  throw new Error(`The document refers to ${part.$ref}, which it lacks.`);
}

/** The example of a body, or the first of several. */
function getExample(media: OpenAPIV3_1.MediaTypeObject | undefined): unknown {
  if (media?.example !== undefined) return media.example;
  const [first] = Object.values(media?.examples ?? {});
  return first && 'value' in first ? first.value : undefined;
}

function writeJson(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/** Quotes for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function writeCurl(url: string, fields: readonly ReferenceField[], body: string | null): string {
  const filled = fields
    .filter(({ place }) => place === 'path')
    .reduce((address, { name, value }) => address.replace(`{${name}}`, encodeURIComponent(value)), url);
  const query = new URLSearchParams(
    fields.filter(({ place, value }) => place === 'query' && value !== '').map(({ name, value }) => [name, value]),
  ).toString();
  const address = quote(query === '' ? filled : `${filled}?${query}`);
  if (body === null) return `curl ${address}`;
  const headers = ['Content-Type: application/json', 'Accept: application/json, text/event-stream'];
  return `curl ${address} ${headers.map((header) => `-H ${quote(header)}`).join(' ')} -d ${quote(JSON.stringify(JSON.parse(body)))}`;
}
