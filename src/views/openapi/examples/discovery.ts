import { BASE_USDC_DOMAIN, NETWORKS } from '../../../model/network.ts';
import type { DiscoveryFindings, DiscoveryResource, DiscoveryResources } from '../../discovery-resource.ts';
import { EXAMPLE_PAYEE, EXAMPLE_SEEN, EXAMPLE_SLUG } from './catalogue.ts';

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
