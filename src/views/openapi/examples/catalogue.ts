import { CATEGORIES } from '../../../model/catalogue.ts';
import type { Caution } from '../../../model/caution.ts';
import type { Change } from '../../../model/change.ts';
import { NETWORKS } from '../../../model/network.ts';
import { type AgentChanges, POLL_AFTER_SECONDS } from '../../agent-changes.ts';
import { buildUrl, PATHS } from '../../links.ts';
import type { AgentItem } from '../../listing/item.ts';
import type { AgentList } from '../../listing/query.ts';
import type { AgentListing } from '../../listing/record.ts';
import type { Site } from '../../site.ts';

/** The one invented listing and route of every example. */
export const EXAMPLE_SLUG = 'example-prices';
export const EXAMPLE_ID = '2d5cd0e6-9c1b-5f2e-8d8e-6f0d4e1b7a10';
export const EXAMPLE_ROUTE_ID = '6a4bdc0c-5b5f-5d3e-9a44-0f3f6f1c2d31';
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
export function buildCatalogueExamples(site: Site): { list: AgentList; changes: AgentChanges; listing: AgentListing } {
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
        resume_cursor: '42-318-1k0v9zc',
        poll_after_seconds: POLL_AFTER_SECONDS,
      },
      ...{ changes: [buildChangeExample(item, 42)], tombstones: [] },
    },
    listing: buildListingExample(item),
  };
}

function buildListingExample(item: AgentItem): AgentListing {
  const { id, label, key, usdc } = NETWORKS.base;
  return {
    revision: 1,
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
        method: 2,
        last_sample_at: null,
        days: [],
      },
      sources: [{ kind: 'manifest', name: 'example-prices.yaml', observed_at: EXAMPLE_SEEN }],
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
            },
          ],
        },
      ],
    },
    decisions: [buildChangeExample(item, 1)],
  };
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
