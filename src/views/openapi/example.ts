import type { z } from 'zod';
import { RELIABILITY_METHOD } from '../../evidence/reliability.ts';
import { CATEGORIES, type CatalogueSummary } from '../../model/catalogue.ts';
import type { Change } from '../../model/change.ts';
import type { Listing } from '../../model/listing.ts';
import { buildUrl, PATHS } from '../links.ts';
import type { AgentItem } from '../listing/item.ts';
import type { goneProblem } from '../listing/record.ts';
import type { Site } from '../site.ts';

/** The one invented listing, with its one route, of every example. */
export const EXAMPLE_SLUG = 'example-prices';
const EXAMPLE_ID = '2d5cd0e6-9c1b-5f2e-8d8e-6f0d4e1b7a10';
export const EXAMPLE_ROUTE_ID = '6a4bdc0c-5b5f-5d3e-9a44-0f3f6f1c2d31';
export const EXAMPLE_SEEN = '2026-11-01T00:00:00.000Z';
export const EXAMPLE_PAYEE = '0x1111111111111111111111111111111111111111';

/** A base URL for links to the invented listing, so that no example links to a real page. */
export const NOWHERE = 'https://catalogue.invalid';

/** The invented listing as an item of a list. */
export const EXAMPLE_ITEM: AgentItem = {
  slug: EXAMPLE_SLUG,
  id: EXAMPLE_ID,
  title: 'Example Prices',
  tagline: 'Latest price of one symbol.',
  category: 'Finance',
  provider_name: 'Example Inc',
  base_url: 'https://api.prices.example',
  host: 'api.prices.example',
  page_url: `${NOWHERE}${PATHS.listing(EXAMPLE_SLUG)}`,
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

/** The reliability of the invented listing. */
export const EXAMPLE_RELIABILITY: Listing['reliability'] = {
  band: 'unscored',
  score: null,
  samples: 0,
  window_days: 30,
  method: RELIABILITY_METHOD.version,
  last_sample_at: null,
  days: [],
};

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
  return {
    revision,
    at: EXAMPLE_SEEN,
    slug: EXAMPLE_SLUG,
    listing_id: EXAMPLE_ID,
    kind: 'listed',
    reason: 'declared_by_manifest',
    detail: { sources: [{ kind: 'manifest', name: `${EXAMPLE_SLUG}.yaml`, observed_at: EXAMPLE_SEEN }] },
  };
}

/** Builds the problem for the listing after its removal. */
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
