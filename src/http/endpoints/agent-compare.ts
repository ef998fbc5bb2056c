import { findComparedRoutes } from '../../published/compared-routes.ts';
import {
  type AgentComparison,
  agentComparison,
  buildComparedRoute,
  type ComparedRoute,
  compareQuery,
} from '../../views/compare.ts';
import { PATHS } from '../../views/links.ts';
import { buildSummaryExample, EXAMPLE_ITEM, EXAMPLE_SEEN } from '../../views/openapi/example.ts';
import { buildSummed } from '../document.ts';
import { defineRead } from './define.ts';

const EXAMPLE_ROUTES = ['example-prices GET /v1/price/{symbol}', 'other-prices GET /price'] as const;

/** Routes of any listings, side by side. */
export const compareEndpoint = defineRead({
  id: 'compareRoutes',
  path: PATHS.agentCompare,
  summary: 'Two to four routes side by side, of any listings',
  description:
    'Prices, networks, input, output, latency, reliability, proof and cautions of each. Give routes once for each ' +
    `route. One that is unknown or removed says so in its place. ${PATHS.compare} is the same as a page.`,
  query: compareQuery,
  examples: { routes: [...EXAMPLE_ROUTES] },
  answer: {
    description: 'The routes, in the order asked for',
    schema: agentComparison,
    example: (site): AgentComparison => ({
      catalogue: buildSummaryExample(site),
      revision: 1,
      routes: buildRouteExamples(),
    }),
  },
  build: ({ routes: names }, { reading, snapshot }) => {
    const { published } = reading;
    const asOf = reading.now().toISOString();
    const routes = findComparedRoutes(published, names).map((found) => buildComparedRoute(found, asOf));
    return buildSummed(reading, snapshot, { rest: JSON.stringify({ routes }).slice(1) });
  },
});

function buildRouteExamples(): ComparedRoute[] {
  const { slug, title, host, page_url, reliability_band, reliability_score } = EXAMPLE_ITEM;
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
