import type { Declaration } from '../model/declaration.ts';
import type { Finding } from '../model/finding.ts';
import { isObject } from './json-value.ts';
import { readOpenApi } from './openapi/declarations.ts';
import { type DocumentProblem, parseDocumentText } from './openapi/document-text.ts';
import { rebaseDeclarations } from './rebase.ts';
import { listResources, readX402File } from './x402-file/declarations.ts';

export interface ApiDocumentOptions {
  /** The source's name on record, as `getSourceName` gives it. */
  name: string;
  /** Address that the document came from, after redirects; null for a file. */
  url: string | null;
  /** List everything under this address, and nothing that does not lie below it; null: where the document says. */
  base_url: string | null;
  allowPrivateNetworks: boolean;
  /** Now, ISO 8601 UTC. */
  now: string;
}

/** What a document came to. */
export interface ApiDocument {
  kind: 'openapi' | 'x402_file';
  /** One for each base address, in their order. A document is a bare claim: nothing in it was seen to be so. */
  declarations: Declaration[];
  /** Exactly one `refused` finding for each operation or resource that is refused. */
  findings: Finding[];
  /** Payable operations or resources: how many there are, became routes, came again, and were refused. */
  items: { received: number; taken: number; duplicates: number; refused: number };
}

/**
 * Reads a provider's own document into declarations: OpenAPI 3 with payment information, or a list of x402 resources
 * (`/.well-known/x402`), whichever it is. Gives a problem where the document as a whole cannot be taken. Never throws
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
