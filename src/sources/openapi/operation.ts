import { httpMethod } from '../../model/http-method.ts';
import type { DeclaredRoute } from '../../model/route.ts';
import { FINDING_CODES, type FindingCode, type Note } from '../finding-codes.ts';
import { getTemplatePath, parseListedUrl } from '../outside-address.ts';
import { readText } from '../provider-text.ts';
import { readAnswerSide } from './answer-side.ts';
import type { DocumentReader } from './document-reader.ts';
import { type Refusal, readPayment } from './payment.ts';
import { readRequestSide } from './request-side.ts';
import { getBaseAddress } from './servers.ts';

/** One operation as it stands in a document. */
export interface Operation {
  method: string;
  /** Its key in `paths`. */
  path: string;
  /** Its base address as the document says it. */
  server: string;
  pathItem: Record<string, unknown>;
  raw: Record<string, unknown>;
}

export interface OperationContext {
  reader: DocumentReader;
  allowPrivateNetworks: boolean;
  note: Note;
}

/** An operation that becomes a route of the listing at `base_url`. */
export interface ReadOperation {
  base_url: string;
  route: DeclaredRoute;
}

/** Reads a payable operation into a route, or says why it cannot be one. Never throws for what it holds. */
export function readOperation(operation: Operation, context: OperationContext): ReadOperation | Refusal {
  const { raw, pathItem } = operation;
  const { note, reader } = context;
  const place = readPlace(operation, context);
  if ('code' in place) return place;
  const terms = readPayment(raw['x-payment-info'], note);
  if (!Array.isArray(terms)) return terms;
  const { method, base_url, path } = place;
  const parameters = [pathItem.parameters, raw.parameters].flatMap((list) => (Array.isArray(list) ? list : []));
  const request = { reader, parameters, requestBody: raw.requestBody, method };
  const answer = readAnswerSide(reader, raw.responses, note);
  return {
    base_url,
    route: {
      method,
      path,
      description: readText(findText(raw.description, raw.summary, pathItem.summary), 'route_description', note),
      mime_type: answer.mime_type,
      ...readRequestSide(request, note),
      output_schema: answer.output_schema,
      terms,
    },
  };
}

function readPlace(
  { method: name, path, server }: Operation,
  { allowPrivateNetworks }: OperationContext,
): (Pick<DeclaredRoute, 'method' | 'path'> & { base_url: string }) | Refusal {
  const method = httpMethod.safeParse(name.toUpperCase());
  if (!method.success) return buildRefusal('bad_method');
  if (/\{[^{}]*\}/.test(server)) return { code: 'bad_url', message: 'The server has a variable without a default.' };
  const base = parseListedUrl(server, { allowPrivateNetworks });
  if (!(base instanceof URL)) return base;
  const base_url = getBaseAddress(base);
  if (!path.startsWith('/')) return { code: 'bad_url', message: 'The path does not begin with a slash.' };
  const url = parseListedUrl(`${base_url}${path}`, { allowPrivateNetworks });
  if (!(url instanceof URL)) return url;
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
