import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Catalogue, openCatalogue } from '../src/catalogue/database.ts';
import type { Declaration } from '../src/model/declaration.ts';
import { NETWORKS } from '../src/model/network.ts';
import type { DeclaredRoute } from '../src/model/route.ts';
import type { Terms } from '../src/model/terms.ts';

/** The fixed time of tests. */
export const NOW = '2026-11-20T12:00:00.000Z';
export const IDENTITY = '0d7f4f2e-3c1b-4b6f-9a51-0c2f5f9f2a11';

/** Makes a folder that goes when the test that asked for it is over. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'catalogue-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Opens a new catalogue in a folder of its own, closed and removed after the test. */
export function makeCatalogue(file = join(makeFolder(), 'catalogue.sqlite')): Catalogue {
  const catalogue = openCatalogue(file, { identity: IDENTITY, at: NOW });
  onTestFinished(() => catalogue.close());
  return catalogue;
}

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
