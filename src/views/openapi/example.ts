import type { z } from 'zod';
import { UNSCORED } from '../../evidence/reliability.ts';
import { CATEGORIES, type CatalogueSummary } from '../../model/catalogue.ts';
import type { Change } from '../../model/change.ts';
import type { LiveListing } from '../../model/listing.ts';
import { NETWORKS } from '../../model/network.ts';
import { buildUrl, PATHS } from '../links.ts';
import { type AgentItem, buildAgentItem } from '../listing/item.ts';
import { buildPublicListing, findTombstone, type goneProblem, type PublicListing } from '../listing/record.ts';
import type { Site } from '../site.ts';

export const EXAMPLE_SLUG = 'example-prices';
export const EXAMPLE_ROUTE_ID = '6a4bdc0c-5b5f-5d3e-9a44-0f3f6f1c2d31';
export const EXAMPLE_SEEN = '2026-11-01T00:00:00.000Z';
export const EXAMPLE_PAYEE = '0x1111111111111111111111111111111111111111';

/** A base URL for links to the invented listing, so that no example links to a real page. */
export const NOWHERE = 'https://catalogue.invalid';

const { base } = NETWORKS;

/** The one invented listing, with its one route, of every example: a manifest declares it, and nothing was probed or paid yet. */
const EXAMPLE_LISTING: LiveListing = {
  id: '2d5cd0e6-9c1b-5f2e-8d8e-6f0d4e1b7a10',
  slug: EXAMPLE_SLUG,
  base_url: 'https://api.prices.example',
  title: 'Example Prices',
  tagline: 'Latest price of one symbol.',
  description: 'Answers with the latest price of the symbol asked for.',
  provider_name: 'Example Inc',
  category: 'Finance',
  category_inferred: false,
  mcp_endpoint: null,
  docs_url: null,
  state: 'live',
  state_reason: null,
  state_by: null,
  state_at: null,
  price_min: 1000,
  price_max: 1000,
  primary_network: base.key,
  networks: [
    {
      id: base.id,
      key: base.key,
      label: base.label,
      advertised: true,
      settlement_verified: false,
      last_verified_at: null,
      last_seen_at: EXAMPLE_SEEN,
    },
  ],
  routes: [
    {
      id: EXAMPLE_ROUTE_ID,
      method: 'GET',
      path: '/v1/price/{symbol}',
      description: 'Latest price of one symbol.',
      mime_type: 'application/json',
      input_schema: null,
      output_schema: null,
      example: null,
      said_by: { route: 0, description: 0, price: 0 },
      verification: 'unverified',
      proof: null,
      proofs: [],
      cautions: [
        {
          code: 'never_seen',
          severity: 'notice',
          since: EXAMPLE_SEEN,
          evidence: { declared_at: EXAMPLE_SEEN },
          reply: null,
        },
      ],
      undelivered: null,
      payee: null,
      probe: null,
      terms: [
        {
          network: base.key,
          scheme: 'exact',
          asset: base.usdc,
          amount: 1000,
          pay_to: EXAMPLE_PAYEE,
          max_timeout_seconds: 60,
          x402_version: 2,
          evidence: 'declared',
          source: `${EXAMPLE_SLUG}.yaml`,
          first_seen_at: EXAMPLE_SEEN,
          last_seen_at: EXAMPLE_SEEN,
          current: true,
        },
      ],
    },
  ],
  reliability: UNSCORED,
  latency: null,
  cautions: [],
  corrections: [],
  sources: [{ kind: 'manifest', name: `${EXAMPLE_SLUG}.yaml`, observed_at: EXAMPLE_SEEN, authority: 'operator' }],
  said_by: { title: 0, tagline: 0, description: 0, category: 0 },
  listed_at: EXAMPLE_SEEN,
  updated_at: EXAMPLE_SEEN,
  revision: 1,
};

/** Builds the public form of the invented listing. */
export function buildListingExample(): PublicListing {
  return buildPublicListing(EXAMPLE_LISTING, { baseUrl: NOWHERE });
}

/** Builds the invented listing as an item of a list. */
export function buildItemExample(): AgentItem {
  return buildAgentItem(EXAMPLE_LISTING, { baseUrl: NOWHERE });
}

/** Builds the summary of a catalogue with only the invented listing. */
export function buildSummaryExample(site: Site): CatalogueSummary {
  return {
    live_listings: 1,
    settlement_verified: 0,
    categories: [...CATEGORIES],
    generated_at: EXAMPLE_SEEN,
    source: buildUrl(site.baseUrl, PATHS.agentList),
  };
}

/** Builds the change that added the listing. */
export function buildChangeExample(revision: number): Change {
  const { slug, id: listing_id, sources, listed_at: at } = EXAMPLE_LISTING;
  const declared = sources.map(({ authority: _authority, ...source }) => source);
  return {
    revision,
    at,
    slug,
    listing_id,
    kind: 'listed',
    reason: 'declared_by_manifest',
    detail: { sources: declared },
  };
}

/** Builds the problem for the listing after its removal. */
export function buildGoneExample(): z.infer<typeof goneProblem> {
  const removed = {
    state: 'delisted',
    state_at: EXAMPLE_SEEN,
    state_by: 'provider',
    state_reason: 'shut_down',
  } as const;
  const tombstone = findTombstone({ ...EXAMPLE_LISTING, ...removed });
  if (!tombstone) throw new Error('a removed listing has a tombstone');
  const { slug, id: listing_id } = EXAMPLE_LISTING;
  return {
    type: 'about:blank',
    title: 'Gone',
    status: 410,
    code: 'gone',
    detail: `The listing ${slug} was removed on ${EXAMPLE_SEEN.slice(0, 10)}.`,
    tombstone,
    decisions: [
      {
        revision: 43,
        at: EXAMPLE_SEEN,
        slug,
        listing_id,
        kind: 'delisted',
        reason: 'delisted_by_provider',
        detail: {},
      },
    ],
  };
}
