import type { DeclaredRoute } from '../../model/route.ts';
import { cutText } from '../../model/text.ts';
import { removeInvisible } from '../clean-string.ts';
import { type ApiDocument, type ApiDocumentOptions, buildDocumentDeclarations } from '../document-declarations.ts';
import { type DocumentFindings, openDocumentFindings } from '../document-findings.ts';
import { formatPointer, noteBelow } from '../finding-codes.ts';
import { findMember, isObject } from '../json-value.ts';
import { openDocumentReader } from './document-reader.ts';
import type { DocumentProblem } from './document-text.ts';
import { type Operation, readOperation } from './operation.ts';
import { followReference } from './references.ts';
import { findServerUrl } from './servers.ts';

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
    const version = removeInvisible(String(document.openapi ?? document.swagger).slice(0, 20));
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
): Pick<ApiDocument, 'items'> & { routes: { base_url: string; route: DeclaredRoute }[] } {
  const reader = openDocumentReader(document);
  const routes = new Map<string, { base_url: string; route: DeclaredRoute }>();
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
export function listPayableOperations(
  document: Record<string, unknown>,
  place: Pick<ApiDocumentOptions, 'url' | 'base_url' | 'allowPrivateNetworks'>,
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
