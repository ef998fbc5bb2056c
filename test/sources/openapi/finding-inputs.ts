import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceError } from '../../../src/errors.ts';
import type { Finding } from '../../../src/model/declaration.ts';
import type { FindingCode } from '../../../src/sources/findings.ts';
import { readWholeDocument } from '../../../src/sources/host-documents.ts';
import { makeFolder } from '../../builders.ts';
import { NOW } from '../../records.ts';
import { listFindings, makeDocument, makeDocumentOf, makeOperation, takeMerged, URL_OF_DOCUMENT } from './documents.ts';

function ofPayment(info: unknown): Finding[] {
  return listFindings(makeDocumentOf({ 'x-payment-info': info }));
}

function ofPrice(price: unknown): Finding[] {
  return ofPayment({ price, protocols: ['x402'] });
}

function ofSchema(schema: unknown, document: Record<string, unknown> = {}): Finding[] {
  return listFindings(
    makeDocumentOf({ requestBody: { content: { 'application/json': { schema } } } }, 'post', document),
  );
}

function makePaths(count: number, operation: (at: number) => Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`/v1/${at}`, { post: operation(at) }]));
}

/** A schema of some 11 KB. */
const LARGE = { type: 'object', properties: { a: { description: 'x'.repeat(11_000) } } };

/** One document for each code that reading one can report. */
export const DOCUMENT_INPUTS = {
  document_unreadable: () => listFindings('{"openapi": '),
  document_too_large: () => listFindings(' '.repeat(10 * 1024 * 1024 + 1)),
  document_html: () => listFindings('<!doctype html><title>Tides</title>'),
  not_api_document: () => listFindings({ hello: 'world' }),
  other_list: () => listFindings({ $schema: 'https://static.modelcontextprotocol.io/schemas/server.schema.json' }),
  openapi_version: () => listFindings({ swagger: '2.0', paths: {} }),
  no_server: () => listFindings(makeDocument({ servers: undefined }), { url: null }),
  no_payable_operation: () => listFindings(makeDocument({ paths: {} })),
  too_many_operations: () => listFindings(makeDocument({ paths: makePaths(2001, () => makeOperation()) })),
  schemas_left_out: () => {
    const schema = { $ref: '#/components/schemas/Large' };
    const requestBody = { content: { 'application/json': { schema } } };
    const paths = makePaths(400, () => makeOperation({ requestBody }));
    return listFindings(makeDocument({ paths, components: { schemas: { Large: LARGE } } }));
  },
  other_origin: () =>
    listFindings(makeDocument({ servers: [{ url: 'https://other.tides-of-tests.com' }] }), {
      speaker: URL_OF_DOCUMENT,
    }),
  stand_in_server: () => listFindings(makeDocument({ servers: [{ url: 'http://localhost:3000' }] })),
  many_servers: () =>
    listFindings(
      makeDocument({ servers: [{ url: 'https://api.tides-of-tests.com' }, { url: 'https://b.tides-of-tests.com' }] }),
    ),
  no_payment_info: () => listFindings(makeDocumentOf({ 'x-payment-info': undefined })),
  outside_base_address: () => listFindings(makeDocument(), { base_url: 'https://api.tides-of-tests.com/v2' }),
  bad_reference: () => ofSchema({ type: 'object', properties: { a: { $ref: 'https://other.example/schema.json' } } }),
  schema_cut: () => {
    const properties = { a: { $ref: '#/components/schemas/Large' } };
    return ofSchema(
      { type: 'object', properties },
      { components: { schemas: { Large: { ...LARGE, properties: { ...LARGE.properties, b: LARGE } } } } },
    );
  },
  resource_without_terms: () => listFindings({ version: 1, resources: ['https://api.tides-of-tests.com/v1/heights'] }),
  openapi_not_read: async () => {
    const client = { fetch: () => Promise.reject(new ServiceError('unavailable', 'Nothing is there.')) };
    const options = { name: URL_OF_DOCUMENT, base_url: null, allowPrivateNetworks: false, now: NOW };
    const context = { client, resolver: { listTexts: async () => [] }, signal: new AbortController().signal };
    const path = join(makeFolder(), 'x402.json');
    writeFileSync(
      path,
      JSON.stringify({ resources: ['https://a.example/x'], openapi: 'https://a.example/openapi.json' }),
    );
    const read = await readWholeDocument(path, options, context);
    return 'code' in read ? [] : read.findings;
  },
  ambiguous_price: () => listFindings({ resources: [{ url: 'https://a.example/x', price: '10000' }] }),
  prices_differ: async () => {
    const file = { items: [{ url: '/v1/heights', method: 'GET', price: '0.03' }] };
    return (await takeMerged(file, makeDocumentOf({}))).findings;
  },
  price_of_file: () => listFindings({ price: '$0.01', resources: ['https://a.example/x'] }),
  not_x402: () => ofPayment({ amount: '1000', currency: 'usd', intent: 'charge', method: 'tempo' }),
  protocol_assumed: () => ofPayment({ price: { amount: '0.02' } }),
  network_assumed: () => listFindings(makeDocument()),
  usd_as_usdc: () => ofPrice({ mode: 'fixed', currency: 'USD', amount: '0.02' }),
  other_currency: () => ofPrice({ mode: 'fixed', currency: 'EUR', amount: '0.02' }),
  dynamic_price: () => ofPrice({ mode: 'dynamic', currency: 'USD', min: '0.01', max: '0.10' }),
  unknown_price: () => ofPrice({ mode: 'fixed', currency: 'USD', amount: 'a little' }),
} satisfies Partial<Record<FindingCode, () => Finding[] | Promise<Finding[]>>>;
