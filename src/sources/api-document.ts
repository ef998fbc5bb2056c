import type { ApiDocument, ApiDocumentOptions } from './document-declarations.ts';
import { isObject } from './json-value.ts';
import { readOpenApi } from './openapi/declarations.ts';
import { type DocumentProblem, parseDocumentText } from './openapi/document-text.ts';
import { rebaseDeclarations } from './rebase.ts';
import { listResources, readX402File } from './x402-file/declarations.ts';

/**
 * Reads a provider's own document into declarations: OpenAPI 3 with payment information, or a list of x402 resources
 * (`/.well-known/x402`), whichever it is. Returns a problem where the document as a whole cannot be taken. Never throws
 * for what the bytes hold.
 */
export function readApiDocument(bytes: Uint8Array, options: ApiDocumentOptions): ApiDocument | DocumentProblem {
  const subject = `The document ${options.name}`;
  const parsed = parseDocumentText(bytes, subject);
  if ('code' in parsed) return parsed;
  const read = readValue(parsed.value, subject, options);
  if ('code' in read || options.base_url === null) return read;
  return rebaseDeclarations(read, options.base_url);
}

function readValue(value: unknown, subject: string, options: ApiDocumentOptions): ApiDocument | DocumentProblem {
  if (isObject(value) && (typeof value.openapi === 'string' || value.swagger !== undefined)) {
    return readOpenApi(value, subject, options);
  }
  const resources = listResources(value);
  if (resources) return readX402File(value, resources, options);
  return {
    code: 'not_api_document',
    message: `${subject} is neither an OpenAPI 3 document nor a list of x402 resources.`,
    hint: 'OpenAPI has "openapi": "3…" at its top; a /.well-known/x402 file has "resources" or "items".',
  };
}
