import type { ApiDocumentOptions } from '../document-declarations.ts';
import type { DocumentFindings } from '../document-findings.ts';
import { isObject } from '../json-value.ts';
import type { DocumentProblem } from './document-text.ts';
import type { Operation } from './operation.ts';
import { followReference } from './references.ts';
import { findServerUrl } from './servers.ts';

/** Payable operations taken of one document. */
const MAX_OPERATIONS = 2_000;

/** Members of a path item that are operations (OpenAPI 3.1, "Path Item Object"). */
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

const NO_SERVER = {
  code: 'no_server',
  message: 'does not say at which address its operations are.',
  hint: 'Say it with --base-url https://…, or add "servers" to the document.',
} as const;

/**
 * Lists the operations of a document that state a payment, and counts the others. Returns a problem, whose message
 * lacks its subject, where the document does not say where they are.
 */
export function listPayableOperations(
  document: Record<string, unknown>,
  place: Pick<ApiDocumentOptions, 'url' | 'base_url'>,
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
        findings.count('no_payment_info');
        continue;
      }
      if (operations.length === MAX_OPERATIONS) {
        findings.note('too_many_operations');
        return operations;
      }
      const server = findServerUrl([raw.servers, pathItem.servers, document.servers], place);
      if (server === undefined) return NO_SERVER;
      operations.push({ method: method.toUpperCase(), path, server, pathItem, raw });
    }
  }
  if (Array.isArray(document.servers) && document.servers.length > 1) findings.note('many_servers');
  return operations;
}
