import type { Finding } from '../../../src/model/declaration.ts';
import { readApiDocument } from '../../../src/sources/api-document.ts';
import type { ApiDocument, ApiDocumentOptions } from '../../../src/sources/document-declarations.ts';
import type { DocumentProblem } from '../../../src/sources/document-text.ts';
import { readDocument as readWithNamed } from '../../../src/sources/host-documents.ts';
import { NOW } from '../../records.ts';

export const URL_OF_DOCUMENT = 'https://api.tides-of-tests.com/openapi.json';

type Raw = Record<string, unknown>;

/** Makes an operation that costs 0.02 USD by x402, in the shape most documents have. */
export function makeOperation(overrides: Raw = {}): Raw {
  return {
    summary: 'Heights of a day',
    'x-payment-info': { price: { mode: 'fixed', currency: 'USD', amount: '0.02' }, protocols: [{ x402: {} }] },
    responses: { 200: { description: 'ok', content: { 'application/json': {} } } },
    ...overrides,
  };
}

/** Makes a document with one payable operation, `GET /v1/heights`. */
export function makeDocument(overrides: Raw = {}): Raw {
  return {
    openapi: '3.1.0',
    info: { title: 'Tides of Tests', version: '1', summary: 'Heights of tides.', description: 'Heights. For tests.' },
    servers: [{ url: 'https://api.tides-of-tests.com' }],
    paths: { '/v1/heights': { get: makeOperation() } },
    ...overrides,
  };
}

/** Makes a document of one operation, which is otherwise as `makeOperation` has it. */
export function makeDocumentOf(operation: Raw, method = 'get', document: Raw = {}): Raw {
  return makeDocument({ paths: { '/v1/heights': { [method]: makeOperation(operation) } }, ...document });
}

const OPTIONS = {
  name: URL_OF_DOCUMENT,
  // Whose word it is has tests of its own.
  speaker: null,
  base_url: null,
  allowPrivateNetworks: false,
  now: NOW,
};

function toBytes(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
}

export function readDocument(value: unknown, options: Partial<ApiDocumentOptions> = {}): ApiDocument | DocumentProblem {
  return readApiDocument(toBytes(value), { ...OPTIONS, url: URL_OF_DOCUMENT, ...options });
}

/** Reads an x402 file together with the OpenAPI document that it names. */
export async function takeMerged(file: Raw, openapi: unknown): Promise<ApiDocument> {
  const whole = { bytes: toBytes({ ...file, openapi: URL_OF_DOCUMENT }), url: URL_OF_DOCUMENT };
  const read = await readWithNamed(whole, OPTIONS, async (url) => ({ bytes: toBytes(openapi), url }));
  if ('code' in read) throw new Error(`${read.code}: ${read.message}`);
  return read;
}

/** Reads a document that is to be taken. */
export function takeDocument(value: unknown, options: Partial<ApiDocumentOptions> = {}): ApiDocument {
  const read = readDocument(value, options);
  if ('code' in read) throw new Error(`${read.code}: ${read.message}`);
  return read;
}

/** Lists what reading a document finds; what is wrong with it as a whole counts as a finding of it. */
export function listFindings(value: unknown, options: Partial<ApiDocumentOptions> = {}): Finding[] {
  const read = readDocument(value, options);
  if (!('code' in read)) return read.findings;
  return [{ code: read.code, severity: 'refused', item: URL_OF_DOCUMENT, message: read.message }];
}

/** The only route of a document. */
export function takeRoute(value: unknown, options: Partial<ApiDocumentOptions> = {}) {
  const [route] = takeDocument(value, options).declarations.flatMap(({ routes }) => routes);
  if (!route) throw new Error('the document yields no route');
  return route;
}
