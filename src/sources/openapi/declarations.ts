import type { DeclaredRoute } from '../../model/route.ts';
import { cutText } from '../../model/text.ts';
import { type ApiDocument, type ApiDocumentOptions, buildDocumentDeclarations } from '../document-declarations.ts';
import { type DocumentFindings, openDocumentFindings } from '../document-findings.ts';
import { removeInvisible } from '../invisible.ts';
import { isObject } from '../json-value.ts';
import { openDocumentReader } from './document-reader.ts';
import type { DocumentProblem } from './document-text.ts';
import { listPayableOperations } from './list-operations.ts';
import { type Operation, readOperation } from './operation.ts';

type Raw = Record<string, unknown>;

/**
 * Reads an OpenAPI 3 document whose operations state their payment (`x-payment-info`): one declaration for each base
 * address. Operations that state none are counted, not listed. `subject` begins the messages of problems.
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
      message: `${subject} is of OpenAPI version ${version}.`,
      hint: 'Give one of version 3.0 or 3.1; converters from older ones are common.',
    };
  }
  const findings = openDocumentFindings(options.name);
  const operations = listPayableOperations(document, options, findings);
  if ('code' in operations) return { ...operations, message: `${subject} ${operations.message}` };
  const { routes, items } = readOperations(document, operations, options, findings);
  const info = isObject(document.info) ? document.info : {};
  const docs = isObject(document.externalDocs) ? document.externalDocs.url : undefined;
  const words = { title: info.title, tagline: info.summary, description: info.description, docs_url: docs };
  const declarations = buildDocumentDeclarations(routes, words, options, findings);
  return { kind: 'openapi', declarations, findings: findings.list(), items };
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
    const read = readOperation(operation, { reader, allowPrivateNetworks, note: found.note });
    if ('code' in read) {
      items.refused += 1;
      found.refuse(read.code, read.message);
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

/** Names an operation by its whole address, by which `why` finds what was said of it. */
function getName({ method, server, path }: Operation): string {
  return cutText(removeInvisible(`${method} ${server.replace(/\/+$/, '')}${path}`), 300);
}
