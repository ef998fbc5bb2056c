import type { JsonObject } from '../../model/json.ts';
import { httpMethod } from '../../model/request.ts';
import type { DeclaredRoute } from '../../model/route.ts';
import { FINDING_CODES, type FindingCode, type Note, noteBelow } from '../finding-codes.ts';
import { cleanJson, isObject } from '../json-value.ts';
import { getTemplatePath, hasWildcard, parseListedUrl, parseResourceUrl } from '../outside-address.ts';
import { cleanText, readMimeType, readText } from '../provider-text.ts';
import { findContent } from './contents.ts';
import type { DocumentReader } from './document-reader.ts';
import { findNamedExample } from './examples.ts';
import { type Refusal, readPayment } from './payment.ts';
import { followReference } from './references.ts';
import { readRequest } from './request.ts';
import { getBaseAddress } from './servers.ts';

/** One operation as the document has it. */
export interface Operation {
  method: string;
  /** Its key in `paths`. */
  path: string;
  /** Its base address in the document. */
  server: string;
  pathItem: Record<string, unknown>;
  raw: Record<string, unknown>;
  /** JSON pointer in the document. */
  place: string;
}

export interface OperationContext {
  reader: DocumentReader;
  allowPrivateNetworks: boolean;
  note: Note;
}

/** The route of an operation, and the base address of its listing. */
export interface OperationRoute {
  base_url: string;
  route: DeclaredRoute;
}

/** Reads a payable operation into a route, or returns why it is refused. Never throws, whatever it contains. */
export function readOperation(operation: Operation, context: OperationContext): OperationRoute | Refusal {
  const { raw, pathItem } = operation;
  const { note, reader } = context;
  const place = readAddress(operation, context);
  if ('code' in place) return place;
  const payment = readPayment(raw['x-payment-info'], noteBelow(note, '/x-payment-info'));
  if ('code' in payment) return { ...payment, place: `/x-payment-info${payment.place ?? ''}` };
  const { method, base_url, path } = place;
  const parameters = [pathItem.parameters, raw.parameters].flatMap((list) => (Array.isArray(list) ? list : []));
  const request = { reader, parameters, requestBody: raw.requestBody, method };
  const answer = readResponse(reader, raw.responses, note);
  const [summary, description] = [findText(raw.summary, pathItem.summary), findText(raw.description)];
  const name = cleanText(summary, 'title');
  return {
    base_url,
    route: {
      method,
      path,
      description: readText(description ?? summary, 'route_description', note),
      ...(name && { item: { name } }),
      mime_type: answer.mime_type,
      ...readRequest(request, note),
      output_schema: answer.output_schema,
      ...payment,
    },
  };
}

function readAddress(
  { method: name, path, server }: Operation,
  { allowPrivateNetworks, note }: OperationContext,
): (Pick<DeclaredRoute, 'method' | 'path'> & { base_url: string }) | Refusal {
  const method = httpMethod.safeParse(name.toUpperCase());
  if (!method.success) return buildRefusal('bad_method');
  if (/\{[^{}]*\}/.test(server)) return { code: 'bad_url', message: 'The server has a variable without a default.' };
  const base = parseResourceUrl(server, { allowPrivateNetworks }, note);
  if (!(base instanceof URL)) return base;
  const base_url = getBaseAddress(base);
  if (!path.startsWith('/')) return { code: 'bad_url', message: 'The path does not begin with a slash.' };
  const url = parseListedUrl(`${base_url}${path}`, { allowPrivateNetworks });
  if (!(url instanceof URL)) return url;
  if (hasWildcard(url)) note('wildcard_path');
  const prefix = base.pathname.replace(/\/+$/, '');
  const whole = getTemplatePath(url);
  if (!whole.startsWith(`${prefix}/`)) return buildRefusal('outside_base_address');
  return { method: method.data, path: whole.slice(prefix.length), base_url };
}

function buildRefusal(code: FindingCode): Refusal {
  return { code, message: FINDING_CODES[code] };
}

function findText(...places: unknown[]): unknown {
  return places.find((place) => typeof place === 'string' && place.trim() !== '');
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
  const described = schema && !isBare(schema) ? schema : null;
  const { example: own, examples } = content.media;
  const example = own === undefined ? findNamedExample(reader, examples) : reader.omitIfLarge(own);
  const whole = example === undefined ? undefined : cleanJson({ ...described, examples: [example] });
  return {
    mime_type: readMimeType(content.mime_type, note),
    output_schema: isObject(whole) ? whole : described,
  };
}

/** Returns whether a schema says nothing, as `{type: 'object'}` and `{}`. */
function isBare(schema: JsonObject): boolean {
  return Object.keys(schema).every((key) => key === 'type' || key === 'format');
}
