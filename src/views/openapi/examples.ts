import type { z } from 'zod';
import { RELIABILITY_METHOD } from '../../evidence/reliability.ts';
import { CATEGORIES } from '../../model/catalogue.ts';
import type { Caution } from '../../model/caution.ts';
import type { Change } from '../../model/change.ts';
import { BASE_USDC_DOMAIN, NETWORKS } from '../../model/network.ts';
import type { RecordedTerms, Terms } from '../../model/terms.ts';
import { type AgentChanges, POLL_AFTER_SECONDS } from '../changes.ts';
import { type AgentCheck, buildAgentCheck, type TermsCheck } from '../check.ts';
import type { AgentComparison, ComparedRoute } from '../compare.ts';
import type { DiscoveryFindings, DiscoveryResource, DiscoveryResources } from '../discovery.ts';
import { buildUrl, PATHS } from '../links.ts';
import type { AgentItem } from '../listing/item.ts';
import type { AgentList } from '../listing/query.ts';
import type { AgentListing, goneProblem } from '../listing/record.ts';
import { type AgentReceipt, buildAgentReceipt } from '../receipt.ts';
import {
  buildListingEntry,
  buildRegistryAnswer,
  type RegistryAnswer,
  type RegistryEntry,
  registryQuestion,
} from '../registry.ts';
import type { Site } from '../site.ts';

/** The one invented listing and route of every example. */
const EXAMPLE_SLUG = 'example-prices';
/** Names of two routes, the first of the invented listing. */
export const EXAMPLE_ROUTES = ['example-prices GET /v1/price/{symbol}', 'other-prices GET /price'] as const;
const EXAMPLE_ID = '2d5cd0e6-9c1b-5f2e-8d8e-6f0d4e1b7a10';
const EXAMPLE_ROUTE_ID = '6a4bdc0c-5b5f-5d3e-9a44-0f3f6f1c2d31';
export const EXAMPLE_SEEN = '2026-11-01T00:00:00.000Z';
export const EXAMPLE_PAYEE = '0x1111111111111111111111111111111111111111';

const UNSEEN: Caution = {
  code: 'never_seen',
  severity: 'notice',
  since: EXAMPLE_SEEN,
  evidence: { declared_at: EXAMPLE_SEEN },
  reply: null,
};

/** The examples of the catalogue's own endpoints: one invented listing, shown in each answer's shape. */
export function buildCatalogueExamples(site: Site): {
  list: AgentList;
  changes: AgentChanges;
  listing: AgentListing;
  comparison: AgentComparison;
} {
  const item: AgentItem = {
    slug: EXAMPLE_SLUG,
    id: EXAMPLE_ID,
    title: 'Example Prices',
    tagline: 'Latest price of one symbol.',
    category: 'Finance',
    provider_name: 'Example Inc',
    base_url: 'https://api.prices.example',
    host: 'api.prices.example',
    // Not an address of this service: there is no such listing, and no document of ours links to nothing.
    page_url: 'https://catalogue.invalid/api/example-prices',
    price_min_usdc: 0.001,
    price_max_usdc: 0.001,
    networks: ['base'],
    endpoints_count: 1,
    verified_route_count: 0,
    last_verified_at: null,
    payment_verified: false,
    reliability_band: 'unscored',
    reliability_score: null,
    latency: null,
    updated_at: EXAMPLE_SEEN,
    cautions: [
      { code: 'never_seen', severity: 'notice', route: 'GET /v1/price/{symbol}', routes: 1, since: EXAMPLE_SEEN },
    ],
    source_names: ['example-prices.yaml'],
  };
  const catalogue = {
    live_listings: 1,
    settlement_verified: 0,
    categories: [...CATEGORIES],
    generated_at: EXAMPLE_SEEN,
    source: buildUrl(site.baseUrl, PATHS.agentList),
  };
  return {
    list: {
      catalogue,
      revision: 1,
      filters: { q: 'price', sort: 'relevance', limit: 20 },
      total: 1,
      listings: [item],
    },
    changes: {
      ...{
        catalogue,
        revision: 42,
        since: 41,
        resume_cursor: '42-42-mibq1z40-318-1k0v9zc',
        poll_after_seconds: POLL_AFTER_SECONDS,
      },
      ...{ changes: [buildChangeExample(item, 42)], tombstones: [] },
    },
    listing: buildListingExample(item),
    comparison: { catalogue, revision: 1, routes: buildComparedExamples(item) },
  };
}

function buildListingExample(item: AgentItem): AgentListing {
  const { id, label, key, usdc } = NETWORKS.base;
  return {
    ...{ revision: 1, routes_total: 1 },
    listing: {
      ...item,
      description: 'Answers with the latest price of the symbol asked for.',
      category_inferred: false,
      mcp_endpoint: null,
      docs_url: null,
      network_entries: [
        {
          id,
          key,
          label,
          advertised: true,
          settlement_verified: false,
          last_verified_at: null,
          last_seen_at: EXAMPLE_SEEN,
        },
      ],
      reliability: {
        band: 'unscored',
        score: null,
        samples: 0,
        window_days: 30,
        method: RELIABILITY_METHOD.version,
        last_sample_at: null,
        days: [],
      },
      sources: [{ kind: 'manifest', name: 'example-prices.yaml', observed_at: EXAMPLE_SEEN, authority: 'operator' }],
      said_by: { title: 0, tagline: 0, description: 0, category: 0 },
      listed_at: EXAMPLE_SEEN,
      listing_cautions: [],
      corrections: [],
      routes: [
        {
          id: EXAMPLE_ROUTE_ID,
          method: 'GET',
          path: '/v1/price/{symbol}',
          url: 'https://api.prices.example/v1/price/{symbol}',
          description: 'Latest price of one symbol.',
          mime_type: 'application/json',
          input_schema: null,
          output_schema: null,
          example: null,
          said_by: { route: 0, description: 0, price: 0 },
          verification: 'unverified',
          proof: null,
          proofs: [],
          cautions: [UNSEEN],
          undelivered: null,
          payee: null,
          probe: null,
          terms: [
            {
              network: 'base',
              network_id: id,
              scheme: 'exact',
              asset: usdc,
              amount: '1000',
              amount_usdc: '0.001',
              pay_to: EXAMPLE_PAYEE,
              max_timeout_seconds: 60,
              x402_version: 2,
              evidence: 'declared',
              source: 'example-prices.yaml',
              first_seen_at: EXAMPLE_SEEN,
              last_seen_at: EXAMPLE_SEEN,
              current: true,
              needs: ['v2', 'evm', 'exact', 'eip3009'],
            },
          ],
        },
      ],
    },
    decisions: [buildChangeExample(item, 1)],
  };
}

function buildComparedExamples(item: AgentItem): ComparedRoute[] {
  const { slug, title, host, page_url, reliability_band, reliability_score } = item;
  return [
    {
      name: EXAMPLE_ROUTES[0],
      state: 'live',
      listing: { slug, title, host, page_url, reliability_band, reliability_score },
      route: {
        method: 'GET',
        path: '/v1/price/{symbol}',
        url: 'https://api.prices.example/v1/price/{symbol}',
        description: 'Latest price of one symbol.',
        offers: [{ network: 'base', price_usdc: 0.001, needs: ['v2', 'evm', 'exact', 'eip3009'] }],
        verified: false,
        verified_at: null,
        cautions: [{ code: 'never_seen', severity: 'notice', since: EXAMPLE_SEEN }],
        inputs: ['symbol'],
        input: 'path {symbol: string}',
        outputs: ['price'],
        price_min_usdc: 0.001,
        price_max_usdc: 0.001,
        recorded_price_min_usdc: 0.001,
        recorded_price_max_usdc: 0.002,
        price_evidence: 'declared',
        proof_age_days: null,
        latency: null,
      },
    },
    { name: EXAMPLE_ROUTES[1], state: 'unknown', notice: 'There is no listing "other-prices".' },
  ];
}

function buildChangeExample({ slug, id }: AgentItem, revision: number): Change {
  return {
    revision,
    at: EXAMPLE_SEEN,
    slug,
    listing_id: id,
    kind: 'listed',
    reason: 'declared_by_manifest',
    detail: {},
  };
}

/** The answer for the invented listing, as if it had been removed. */
export function buildGoneExample(): z.infer<typeof goneProblem> {
  const decision: Change = {
    revision: 43,
    at: EXAMPLE_SEEN,
    slug: EXAMPLE_SLUG,
    listing_id: EXAMPLE_ID,
    kind: 'delisted',
    reason: 'delisted_by_provider',
    detail: {},
  };
  return {
    type: 'about:blank',
    title: 'Gone',
    status: 410,
    code: 'gone',
    detail: `The listing ${EXAMPLE_SLUG} was removed on ${EXAMPLE_SEEN.slice(0, 10)}.`,
    tombstone: {
      slug: EXAMPLE_SLUG,
      id: EXAMPLE_ID,
      title: 'Example Prices',
      host: 'api.prices.example',
      delisted_at: EXAMPLE_SEEN,
      delisted_by: 'provider',
      reason: 'shut_down',
    },
    decisions: [decision],
  };
}

export const EXAMPLE_RECEIPT_ID = '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01';

const HASH = 'ab'.repeat(32);

/** A payment for the invented route, as it would be on record had it been made. */
export function buildReceiptExample(site: Site): AgentReceipt {
  const example = buildAgentReceipt(
    {
      id: EXAMPLE_RECEIPT_ID,
      route_id: EXAMPLE_ROUTE_ID,
      network: 'base',
      scheme: 'exact',
      x402_version: 2,
      asset: NETWORKS.base.usdc,
      amount: 1000,
      payer: '0x2222222222222222222222222222222222222222',
      pay_to: EXAMPLE_PAYEE,
      nonce: `0x${HASH}`,
      signature: null,
      from_block: 41_000_000,
      expires_at: EXAMPLE_SEEN,
      expires_block: null,
      delivered: true,
      unrecognised: null,
      conforming: 'undeclared',
      request: {
        method: 'GET',
        url: 'https://api.prices.example/v1/price/x',
        headers: { accept: 'application/json' },
        body: null,
        hash: HASH,
      },
      answer: {
        at: EXAMPLE_SEEN,
        duration_ms: 240,
        status: 200,
        content_type: 'application/json',
        size: 42,
        hash: HASH,
        fields: [{ path: 'price', type: 'number' }],
      },
      seller_receipt: null,
      settlement: {
        transaction: `0x${HASH}`,
        block: 41_000_001,
        block_hash: `0x${HASH}`,
        log_index: 7,
        settled_at: EXAMPLE_SEEN,
        genesis: NETWORKS.base.genesis,
        read_from: 2,
      },
      sent_at: EXAMPLE_SEEN,
    },
    { listing: EXAMPLE_SLUG, route: 'GET /v1/price/{symbol}', revision: 42, site },
  );
  // No document of ours links to nothing: there is no such listing and no such transaction.
  const { receipt, check } = example;
  const nowhere = 'https://catalogue.invalid';
  const links = {
    page_url: `${nowhere}/api/${EXAMPLE_SLUG}`,
    document_url: `${nowhere}/agent/receipts/${EXAMPLE_RECEIPT_ID}`,
    receipt_page_url: `${nowhere}/receipts/${EXAMPLE_RECEIPT_ID}`,
    transaction_url: null,
  };
  const command = check.command.replace(receipt.document_url, links.document_url);
  return { ...example, receipt: { ...receipt, ...links }, check: { ...check, command } };
}

const CALLED = 'https://api.prices.example/v1/price/x';

const ON_RECORD: RecordedTerms = {
  network: 'base',
  scheme: 'exact',
  asset: NETWORKS.base.usdc,
  amount: 1000,
  pay_to: EXAMPLE_PAYEE,
  max_timeout_seconds: 60,
  x402_version: 2,
  evidence: 'observed',
  source: CALLED,
  first_seen_at: EXAMPLE_SEEN,
  last_seen_at: EXAMPLE_SEEN,
  current: true,
};

const OFFER = {
  scheme: 'exact',
  network: NETWORKS.base.id,
  amount: '1000',
  asset: NETWORKS.base.usdc,
  payTo: EXAMPLE_PAYEE,
  maxTimeoutSeconds: 60,
  extra: BASE_USDC_DOMAIN,
};

const CHALLENGE = { x402Version: 2, resource: { url: CALLED }, accepts: [OFFER] };

const { amount: _amount, ...COMMON } = OFFER;
const CHALLENGE_V1 = {
  x402Version: 1,
  accepts: [{ ...COMMON, network: 'base', maxAmountRequired: '1000', resource: CALLED }],
};

/** The ways to ask, each about the invented route. */
export function buildCheckQuestions() {
  const call = { url: CALLED, method: 'GET' };
  const header = Buffer.from(JSON.stringify(CHALLENGE)).toString('base64');
  return {
    header: { summary: 'Version 2: the PAYMENT-REQUIRED header as it came', value: { ...call, challenge: header } },
    decoded: { summary: 'Version 2: the same, decoded', value: { ...call, challenge: CHALLENGE } },
    body: { summary: 'Version 1: the body of the 402', value: { ...call, challenge: CHALLENGE_V1 } },
    fields: {
      summary: 'The fields of one offer',
      value: { ...call, network: OFFER.network, asset: OFFER.asset, pay_to: OFFER.payTo, amount: OFFER.amount },
    },
  };
}

/** The answer for the invented route as it is on record, and for one that asks twice as much. */
export function buildCheckAnswers(site: Site): Record<'match' | 'mismatch', { summary: string; value: AgentCheck }> {
  return {
    match: { summary: 'As on record', value: buildAnswer(site, ON_RECORD) },
    mismatch: { summary: 'Dearer than on record', value: buildAnswer(site, { ...ON_RECORD, amount: 2000 }) },
  };
}

function buildAnswer(site: Site, terms: Terms): AgentCheck {
  const isSame = terms.amount === ON_RECORD.amount;
  const route: NonNullable<TermsCheck['route']> = {
    listing: EXAMPLE_SLUG,
    method: 'GET',
    url: 'https://api.prices.example/v1/price/{symbol}',
    verification: 'unverified',
    payee: 'fixed',
    proofs: [],
    cautions: [],
    terms: [ON_RECORD],
  };
  const check: TermsCheck = {
    asked: { method: 'GET', url: CALLED },
    verdict: isSame ? 'match' : 'mismatch',
    severity: isSame ? 'none' : 'danger',
    reason: isSame ? null : 'terms_differ',
    offers: [
      {
        index: 0,
        network: NETWORKS.base.id,
        asset: NETWORKS.base.usdc,
        offer: { terms },
        standing: isSame ? 'on_record' : 'differs',
        difference: isSame ? null : { kind: 'changed', fields: ['amount'], before: ON_RECORD, after: terms },
        is_cheaper: false,
      },
    ],
    safe_offers: isSame ? [0] : [],
    warnings: [],
    evidence_at: EXAMPLE_SEEN,
    route,
    listing: EXAMPLE_SLUG,
    nearest: [],
    tombstone: null,
    resources: [],
    places: [],
    can: undefined,
  };
  const { catalogue } = buildCatalogueExamples(site).list;
  const answer = { catalogue, revision: 42, ...buildAgentCheck(check, site) };
  // No document of ours links to nothing: there is no such listing.
  const details_url = `https://catalogue.invalid/agent/listings/${EXAMPLE_SLUG}`;
  return answer.route ? { ...answer, route: { ...answer.route, details_url } } : answer;
}

/** The invented route as a page of resources, and as what a search found. */
export function buildDiscoveryExamples(): { list: DiscoveryResources; search: DiscoveryFindings } {
  const resource = buildResourceExample();
  return {
    list: { x402Version: 2, items: [resource], pagination: { limit: 100, offset: 0, total: 1 } },
    search: {
      x402Version: 2,
      resources: [resource],
      partialResults: false,
      pagination: { limit: 1, cursor: null },
    },
  };
}

/** A question to the registry with its answer, and the entry of the invented listing. */
export function buildRegistryExamples(own: Site): { question: object; answer: RegistryAnswer; entry: RegistryEntry } {
  const { listings } = buildCatalogueExamples(own).list;
  // No document of ours links to nothing: there is no such listing.
  const site = { ...own, baseUrl: 'https://catalogue.invalid' };
  const question = { query: { text: 'latest price of a symbol', filter: { tags: ['finance'] } }, pageSize: 1 };
  const items = listings.slice(0, 1).map((item) => ({ ...item, match: 1 }));
  return {
    question,
    answer: buildRegistryAnswer(registryQuestion.parse(question), { items }, site),
    entry: buildListingEntry(listings[0] as AgentItem, site),
  };
}

function buildResourceExample(): DiscoveryResource {
  const method = 'GET';
  return {
    resource: 'https://api.prices.example/v1/price/:symbol',
    type: 'http',
    x402Version: 2,
    accepts: [
      {
        scheme: 'exact',
        network: NETWORKS.base.id,
        asset: NETWORKS.base.usdc,
        amount: '1000',
        payTo: EXAMPLE_PAYEE,
        maxTimeoutSeconds: 60,
        extra: { ...BASE_USDC_DOMAIN },
      },
    ],
    lastUpdated: EXAMPLE_SEEN,
    description: 'Latest price of one symbol.',
    mimeType: 'application/json',
    serviceName: 'Example Prices',
    tags: ['finance'],
    extensions: {
      bazaar: {
        info: { input: { type: 'http', method } },
        schema: {
          $schema: 'https://json-schema.org/draft/2020-12/schema',
          type: 'object',
          properties: {
            input: {
              type: 'object',
              properties: { type: { type: 'string', const: 'http' }, method: { type: 'string', enum: [method] } },
              required: ['type', 'method'],
            },
          },
          required: ['input'],
        },
        routeTemplate: '/v1/price/:symbol',
      },
      'agent-payable': {
        info: {
          slug: EXAMPLE_SLUG,
          // Not addresses of this service: there is no such listing, and no document of ours links to nothing.
          page_url: `https://catalogue.invalid/api/${EXAMPLE_SLUG}`,
          listing_url: `https://catalogue.invalid/agent/listings/${EXAMPLE_SLUG}`,
          verification: 'unverified',
          verified_at: null,
          receipt_url: null,
          undelivered_at: null,
          cautions: [],
          terms: 'declared',
          seen_at: EXAMPLE_SEEN,
          payee: null,
          last_probe: null,
          reliability_band: 'unscored',
          reliability_score: null,
        },
      },
    },
  };
}
