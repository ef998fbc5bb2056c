import type { Catalogue } from '../src/catalogue/database.ts';
import { findListing } from '../src/catalogue/read/listings.ts';
import { writeCatalogue } from '../src/catalogue/transaction.ts';
import { recordReceipt } from '../src/catalogue/write/receipts.ts';
import type { Declaration } from '../src/model/declaration.ts';
import { NETWORKS } from '../src/model/network.ts';
import type { Receipt } from '../src/model/payment.ts';
import { isPayable, type ProbeSample } from '../src/model/probe.ts';
import type { DeclaredRoute } from '../src/model/route.ts';
import type { Terms } from '../src/model/terms.ts';

/** The fixed time of tests. */
export const NOW = '2026-11-20T12:00:00.000Z';
export const IDENTITY = '0d7f4f2e-3c1b-4b6f-9a51-0c2f5f9f2a11';

export function makeTerms(overrides: Partial<Terms> = {}): Terms {
  return {
    network: 'base',
    scheme: 'exact',
    asset: NETWORKS.base.usdc,
    amount: 1000,
    pay_to: '0x1111111111111111111111111111111111111111',
    max_timeout_seconds: 60,
    x402_version: 2,
    ...overrides,
  };
}

export function makeRoute(overrides: Partial<DeclaredRoute> = {}): DeclaredRoute {
  return {
    method: 'GET',
    path: '/v1/price/:symbol',
    description: 'Latest price of one symbol.',
    mime_type: 'application/json',
    input_schema: null,
    output_schema: null,
    example: null,
    terms: [makeTerms()],
    ...overrides,
  };
}

export function makeDeclaration(overrides: Partial<Declaration> = {}): Declaration {
  return {
    source: { kind: 'manifest', name: 'example-prices.yaml', observed_at: '2026-11-01T00:00:00.000Z' },
    base_url: 'https://api.prices.example-provider.com',
    slug: 'example-prices',
    service_name: null,
    title: 'Example Prices',
    tagline: 'Prices of things, one at a time.',
    description: 'Answers what a thing costs.',
    provider_name: 'Example Provider',
    category: 'Finance',
    mcp_endpoint: null,
    docs_url: null,
    price: null,
    networks: [],
    routes: [makeRoute()],
    ...overrides,
  };
}

/** Makes what one probe saw: a valid 402 with the known terms, unless the outcome says otherwise. */
export function makeSample(overrides: Partial<ProbeSample> = {}): ProbeSample {
  const valid = isPayable(overrides.outcome ?? 'payable');
  return {
    at: NOW,
    duration_ms: 120,
    url: 'https://api.prices.example-provider.com/v1/price/x',
    method: 'GET',
    outcome: 'payable',
    cause: null,
    status: valid ? 402 : null,
    latency_ms: valid ? 90 : null,
    x402_version: valid ? 2 : null,
    terms: valid ? [makeTerms()] : [],
    differences: [],
    payee_rotates: null,
    retry_after_seconds: null,
    detail: {},
    ...overrides,
  };
}

/** Makes the receipt of a paid call that was delivered, for a route. */
export function makeReceipt(overrides: Partial<Receipt> = {}): Receipt {
  return {
    id: '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01',
    route_id: '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b02',
    network: 'base',
    asset: NETWORKS.base.usdc,
    amount: 1000,
    payer: '0x2222222222222222222222222222222222222222',
    pay_to: makeTerms().pay_to ?? '',
    transaction: `0x${'ab'.repeat(32)}`,
    genesis: NETWORKS.base.genesis,
    request: null,
    settled_at: NOW,
    settled: true,
    delivered: true,
    conforming: 'undeclared',
    unrecognised: null,
    correction: null,
    ...overrides,
  };
}

/** Records a paid call for a route of a listing, by default its first: delivered unless said otherwise. Gives its receipt's id. */
export async function recordReceiptFor(
  catalogue: Catalogue,
  slug: string,
  { path, ...receipt }: Partial<Receipt> & { path?: string } = {},
): Promise<string> {
  const routes = (await findListing(catalogue, { slug }))?.routes ?? [];
  const route = routes.find((candidate) => path === undefined || candidate.path === path);
  if (!route) throw new Error(`no route ${path} in ${slug}`);
  const id = crypto.randomUUID();
  // One transaction proves one payment.
  const transaction = receipt.id === undefined ? { transaction: `0x${id.replaceAll('-', '').repeat(2)}` } : {};
  const paid = makeReceipt({ id, route_id: route.id, ...transaction, ...receipt });
  await writeCatalogue(catalogue, paid.settled_at, (writing) => recordReceipt(writing, paid));
  return paid.id;
}

/** Records a settled and delivered payment for the route of a listing with that path. */
export async function recordVerified(catalogue: Catalogue, slug: string, path: string, at = NOW): Promise<void> {
  await recordReceiptFor(catalogue, slug, { id: makeReceipt().id, path, settled_at: at });
}
