import { isObject, writeScalar } from '../../model/json.ts';
import { httpMethod } from '../../model/request.ts';
import type { DeclaredRoute } from '../../model/route.ts';
import { cutText } from '../../model/text.ts';
import { removeInvisible } from '../clean-string.ts';
import {
  type ApiDocument,
  type ApiDocumentOptions,
  buildDocumentDeclarations,
  type RouteAtAddress,
} from '../document-declarations.ts';
import type { DocumentProblem } from '../document-text.ts';
import {
  type DocumentFindings,
  FINDING_CODES,
  type FindingCode,
  formatPointer,
  type Note,
  noteBelow,
  openDocumentFindings,
  type Refusal,
} from '../findings.ts';
import { findMember, findText } from '../json-value.ts';
import { findPathBelow, hasWildcard, parseListedUrl, parseResourceUrl } from '../outside-address.ts';
import { readPayment } from '../payment-info.ts';
import { cleanText, readText } from '../provider-text.ts';
import { type DocumentReader, followReference, openDocumentReader, readRequest, readResponse } from './request.ts';

type Raw = Record<string, unknown>;

/**
 * Reads an OpenAPI 3 document whose operations have payment information (`x-payment-info`) into one declaration for
 * each base address. Operations without it are counted, not listed. Messages of problems begin with `subject`.
 */
export function readOpenApi(
  document: Raw,
  subject: string,
  options: ApiDocumentOptions,
): ApiDocument | DocumentProblem {
  if (typeof document.openapi !== 'string' || !/^3\.\d/.test(document.openapi)) {
    const version = removeInvisible(writeScalar(document.openapi ?? document.swagger).slice(0, 20));
    return {
      code: 'openapi_version',
      message: `${subject} has OpenAPI version ${version}.`,
      hint: 'Give a document of version 3.0 or 3.1; there are converters for older ones.',
    };
  }
  const findings = openDocumentFindings(options.name);
  const operations = listPayableOperations(document, options, findings);
  if ('code' in operations) return { ...operations, message: `${subject} ${operations.message}` };
  const { routes, items } = readOperations(document, operations, options, findings);
  const info = isObject(document.info) ? document.info : {};
  const words = {
    title: info.title,
    tagline: info.summary,
    description: info.description,
    docs_url: findDocsUrl(document),
    categories: findMember(document, 'x-service-info', 'categories'),
  };
  const declarations = buildDocumentDeclarations('openapi', routes, words, options, findings, items);
  return { kind: 'openapi', declarations, findings: findings.list(), items, openapi_url: null };
}

/** Finds the documentation address: of OpenAPI itself, else of payment discovery (`x-service-info`). */
function findDocsUrl(document: Raw): unknown {
  const places = [
    findMember(document, 'externalDocs', 'url'),
    findMember(document, 'x-service-info', 'docs', 'homepage'),
    findMember(document, 'x-service-info', 'docs', 'apiReference'),
  ];
  return places.find((place) => typeof place === 'string');
}

function readOperations(
  document: Raw,
  operations: readonly Operation[],
  { allowPrivateNetworks }: ApiDocumentOptions,
  findings: DocumentFindings,
): Pick<ApiDocument, 'items'> & { routes: RouteAtAddress[] } {
  const reader = openDocumentReader(document);
  const routes = new Map<string, RouteAtAddress>();
  const items = { received: operations.length, taken: 0, duplicates: 0, refused: 0 };
  for (const operation of operations) {
    const found = findings.openItem(getName(operation));
    const note = noteBelow(found.note, operation.place);
    const read = readOperation(operation, { reader, allowPrivateNetworks, note });
    if ('code' in read) {
      items.refused += 1;
      found.refuse(read.code, read.message, `${operation.place}${read.place ?? ''}`);
      continue;
    }
    const { base_url, route } = read;
    const key = `${route.method} ${base_url}${route.path}`;
    if (routes.has(key)) {
      items.duplicates += 1;
      findings.count('duplicate');
      continue;
    }
    items.taken += 1;
    routes.set(key, read);
    found.keep();
  }
  return { routes: [...routes.values()], items };
}

/** Returns the name of an operation in findings: its whole address, by which the command `why` finds them. */
function getName({ method, server, path }: Operation): string {
  return cutText(removeInvisible(`${method} ${server.replace(/\/+$/, '')}${path}`), 300);
}

/** Most payable operations that are taken from one document. */
const MAX_OPERATIONS = 2_000;

/** Members of a path item that are operations (OpenAPI 3.1, "Path Item Object"). */
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

const NO_SERVER = {
  code: 'no_server',
  message: 'does not say at which address its operations are.',
  hint: 'Give it with --base-url https://…, or add "servers" to the document.',
} as const;

/**
 * Lists the operations of a document with payment information, and counts the others. Returns a problem, whose message
 * lacks its subject, if the document names no server.
 */
function listPayableOperations(
  document: Record<string, unknown>,
  place: DocumentPlace,
  findings: DocumentFindings,
): Operation[] | DocumentProblem {
  const operations: Operation[] = [];
  for (const [path, entry] of Object.entries(isObject(document.paths) ? document.paths : {})) {
    const pathItem = followReference(document, entry);
    if (!isObject(pathItem)) continue;
    for (const method of METHODS) {
      const raw = Object.hasOwn(pathItem, method) ? pathItem[method] : undefined;
      if (!isObject(raw)) continue;
      if (raw['x-payment-info'] === undefined || raw['x-payment-info'] === null) {
        findings.count('no_payment_info', 1, formatPointer('paths', path, method));
        continue;
      }
      if (operations.length === MAX_OPERATIONS) {
        findings.note('too_many_operations', undefined, '/paths');
        return operations;
      }
      const found = findServerUrl([raw.servers, pathItem.servers, document.servers], place);
      if (!found) return NO_SERVER;
      const { server, isReplaced } = found;
      if (isReplaced) findings.count('stand_in_server', 1, '/servers');
      const pointer = formatPointer('paths', path, method);
      operations.push({ method: method.toUpperCase(), path, server, pathItem, raw, place: pointer });
    }
  }
  if (Array.isArray(document.servers) && document.servers.length > 1)
    findings.note('many_servers', undefined, '/servers');
  return operations;
}

/** One operation as the document has it. */
interface Operation {
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

interface OperationContext {
  reader: DocumentReader;
  allowPrivateNetworks: boolean;
  note: Note;
}

/** Reads a payable operation into a route, or returns why it is refused. Never throws, whatever it contains. */
function readOperation(operation: Operation, context: OperationContext): RouteAtAddress | Refusal {
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
  const [summary, description] = [findText([raw.summary, pathItem.summary]), findText([raw.description])];
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
  const base_url = `${base.origin}${base.pathname.replace(/\/+$/, '')}`;
  if (!path.startsWith('/')) return { code: 'bad_url', message: 'The path does not begin with a slash.' };
  const url = parseListedUrl(`${base_url}${path}`, { allowPrivateNetworks });
  if (!(url instanceof URL)) return url;
  if (hasWildcard(url)) note('wildcard_path');
  const below = findPathBelow(base, url);
  return below === undefined ? buildRefusal('outside_base_address') : { method: method.data, path: below, base_url };
}

function buildRefusal(code: FindingCode): Refusal {
  return { code, message: FINDING_CODES[code] };
}

/** The address of a document, and the base address that the user asked for. */
type DocumentPlace = Pick<ApiDocumentOptions, 'url' | 'base_url' | 'allowPrivateNetworks'>;

/** Most servers of one list that are looked at. */
const MAX_SERVERS = 20;

/**
 * Finds the base address of an operation among the servers of the innermost list that has some: the one that the user
 * asked for, else the first that can be listed (many documents begin with a local one), else the first. Variables are at
 * their defaults, and addresses relative to the document (OpenAPI 3.1, "Server Object"). Without servers it is the
 * address that the user asked for, else the document's origin; undefined without these. A stand-in (`isStandIn`) gives
 * way to that host, and so does any server that cannot be listed if the user asked for an address: `isReplaced`.
 */
function findServerUrl(
  lists: readonly unknown[],
  place: DocumentPlace,
): { server: string; isReplaced: boolean } | undefined {
  const servers = lists.find((list): list is unknown[] => Array.isArray(list) && list.length > 0) ?? [];
  const addresses = servers.slice(0, MAX_SERVERS).flatMap((server) => readServer(server, place) ?? []);
  const { url, base_url } = place;
  const real = addresses.filter((address) => !isStandIn(address, place));
  const wanted = base_url === null ? undefined : addresses.find((address) => isSameBase(address, base_url));
  const found =
    wanted ?? real.find((address) => isListable(address, place)) ?? (base_url === null ? real[0] : undefined);
  if (found !== undefined) return { server: found, isReplaced: false };
  const own = base_url ?? (url === null ? undefined : new URL(url).origin);
  return own === undefined ? undefined : { server: moveToHost(addresses[0], own), isReplaced: addresses.length > 0 };
}

/** Hosts that a document's template or generator wrote: names of examples (RFC 2606), and those that a reader fills in. */
const TEMPLATE_HOST = /(?:^|\.)example\.(?:com|net|org)$|^(?:[\w-]+\.)*your[_-]?(?:api|app|domain|host|server|site)\b/i;

/** Hosts of the machine itself. */
const LOOPBACK_HOST = /^(?:127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\]|(?:.+\.)?localhost)$/i;

/** Returns whether an address stands for one that its author did not write: the machine itself, or a template's host. */
function isStandIn(address: string, { allowPrivateNetworks }: DocumentPlace): boolean {
  const hostname = URL.parse(address)?.hostname ?? '';
  return TEMPLATE_HOST.test(hostname) || (LOOPBACK_HOST.test(hostname) && !allowPrivateNetworks);
}

/** Returns a base address, with the path of a stand-in if it has none of its own. */
function moveToHost(standIn: string | undefined, own: string): string {
  const path = (standIn === undefined ? null : URL.parse(standIn))?.pathname ?? '/';
  const isBare = new URL(own).pathname === '/';
  return isBare && path !== '/' && !/%7B/i.test(path) ? `${new URL(own).origin}${path}` : own;
}

/** Returns whether one of two base addresses is the other, or below it. */
function isSameBase(address: string, baseUrl: string): boolean {
  const [a, b] = [address, baseUrl].map((text) => `${text.replace(/\/+$/, '')}/`);
  return a !== undefined && b !== undefined && (a.startsWith(b) || b.startsWith(a));
}

function isListable(address: string, options: DocumentPlace): boolean {
  return !/\{[^{}]*\}/.test(address) && parseResourceUrl(address, options, () => undefined) instanceof URL;
}

function readServer(server: unknown, { url, base_url }: DocumentPlace): string | undefined {
  if (!isObject(server) || typeof server.url !== 'string') return undefined;
  const address = fillVariables(server.url.trim(), server.variables);
  if (/^[a-z][a-z0-9+.-]*:/i.test(address)) return address;
  return URL.parse(address, url ?? base_url ?? undefined)?.href;
}

function fillVariables(address: string, variables: unknown): string {
  if (!isObject(variables)) return address;
  return address.replace(/\{([^{}]{1,80})\}/g, (whole, name: string) => {
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
    const value = isObject(variable) ? variable.default : undefined;
    return typeof value === 'string' || typeof value === 'number' ? String(value) : whole;
  });
}
