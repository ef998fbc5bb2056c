import { speaksFor } from '../evidence/domains.ts';
import type { Declaration } from '../model/declaration.ts';
import { isObject } from '../model/json.ts';
import { compareRoutes, getRouteUrl } from '../model/route.ts';
import type { ApiDocument, ApiDocumentOptions } from './document-declarations.ts';
import { type DocumentProblem, parseDocumentText } from './document-text.ts';
import { buildFinding } from './findings.ts';
import { readOpenApi } from './openapi/read.ts';
import { describeOtherList } from './other-lists.ts';
import { findPathBelow } from './outside-address.ts';
import { readX402File } from './x402-file/read.ts';

/**
 * Reads a provider's own document into declarations: OpenAPI 3 with payment information, or a list of x402 resources
 * (`/.well-known/x402`), whichever it is. Returns a problem if the whole document cannot be taken, as that of another
 * protocol. Never throws, whatever the bytes.
 */
export function readApiDocument(bytes: Uint8Array, options: ApiDocumentOptions): ApiDocument | DocumentProblem {
  const subject = `The document ${options.name}`;
  const parsed = parseDocumentText(bytes, subject);
  if ('code' in parsed) return parsed;
  const read = readValue(parsed.value, subject, options);
  if ('code' in read) return read;
  const twice = parsed.duplicateKeys.map((place) =>
    buildFinding('noted', 'duplicate_key', options.name, undefined, place),
  );
  const document = twice.length > 0 ? { ...read, findings: [...twice, ...read.findings] } : read;
  return options.base_url === null ? document : rebaseDeclarations(document, options.base_url);
}

function readValue(value: unknown, subject: string, options: ApiDocumentOptions): ApiDocument | DocumentProblem {
  if (isObject(value) && isOpenApi(value)) {
    return readOpenApi(value, subject, options);
  }
  const other = describeOtherList(value, subject, options.url);
  if (other !== undefined) return { code: 'other_list', message: other, hint: OTHER_HINT };
  const file = readX402File(value, options);
  if (file) return file;
  return {
    code: 'not_api_document',
    message: `${subject} is neither an OpenAPI 3 document nor a list of x402 resources.`,
    hint: 'OpenAPI has "openapi": "3…" at its top; a /.well-known/x402 file has "resources" or "items".',
  };
}

const OTHER_HINT = 'Give the OpenAPI document or the /.well-known/x402 file of the same provider.';

/** Returns whether JSON is an OpenAPI document. An x402 file may name the address of one by the same member. */
function isOpenApi(value: Record<string, unknown>): boolean {
  return value.swagger !== undefined || (typeof value.openapi === 'string' && /^\s*v?\d/.test(value.openapi));
}

/**
 * Moves all routes of a document under one base address, by which the catalogue lists them. Routes below that address
 * keep their full address, so their path changes; others are refused. `baseUrl` is in canonical form.
 */
function rebaseDeclarations(document: ApiDocument, baseUrl: string): ApiDocument {
  const base = new URL(baseUrl);
  const findings = [...document.findings];
  const routes = new Map<string, Declaration['routes'][number]>();
  const { received } = document.items;
  let { taken, duplicates, refused } = document.items;
  for (const { base_url, routes: own } of document.declarations) {
    for (const route of own) {
      const path = findPathBelow(base, new URL(getRouteUrl(base_url, route.path)));
      const key = `${route.method} ${path}`;
      if (path === undefined) {
        taken -= 1;
        refused += 1;
        const item = `${route.method} ${getRouteUrl(base_url, route.path)}`;
        findings.push(buildFinding('refused', 'outside_base_address', item));
      } else if (routes.has(key)) {
        taken -= 1;
        duplicates += 1;
      } else routes.set(key, { ...route, path });
    }
  }
  const [first] = document.declarations;
  const sorted = [...routes.values()].sort(compareRoutes);
  const declare = ({ source, ...rest }: Declaration): Declaration => ({
    ...rest,
    // The word of the operator who named it counts for an address that the document cannot speak for.
    source: source.speaker && !speaksFor(source.speaker, baseUrl) ? { ...source, speaker: null } : source,
    base_url: baseUrl,
    routes: sorted,
  });
  return {
    ...document,
    declarations: first && sorted.length > 0 ? [declare(first)] : [],
    findings,
    items: { received, taken, duplicates, refused },
  };
}
