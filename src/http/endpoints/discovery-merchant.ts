import { walkResources } from '../../published/resources.ts';
import type { Walk } from '../../published/walk.ts';
import {
  buildDiscoveryResource,
  DISCOVERY_LIMITS,
  type DiscoveryMerchant,
  discoveryMerchant,
  discoveryMerchantQuery,
} from '../../views/discovery.ts';
import { PATHS } from '../../views/links.ts';
import { EXAMPLE_PAYEE } from '../../views/openapi/example.ts';
import { makeWalked } from '../document.ts';
import { defineRead } from './define.ts';
import { buildResourceExample } from './discovery-resources.ts';

/** The routes that pay one account, in the form of Coinbase's facilitator. */
export const discoveryMerchantEndpoint = defineRead({
  id: 'listMerchantResources',
  path: PATHS.discoveryMerchant,
  summary: 'Every route that pays one account, as x402 facilitators list them',
  description: 'The routes that ask to be paid to this account, in the order of /discovery/resources.',
  query: discoveryMerchantQuery,
  examples: { payTo: EXAMPLE_PAYEE, limit: 20, offset: 100 },
  answer: {
    description: 'A page of resources',
    schema: discoveryMerchant,
    example: (): DiscoveryMerchant => ({
      x402Version: 2,
      payTo: EXAMPLE_PAYEE,
      resources: [buildResourceExample()],
      pagination: { limit: 20, offset: 0, total: 1 },
    }),
  },
  make: async ({ payTo, offset, limit: asked }, { reading }) => {
    const limit = Math.min(asked, DISCOVERY_LIMITS.merchant.max);
    return makeWalked(reading, {
      isLong: false,
      *walk(held): Walk<DiscoveryMerchant> {
        const { total, resources } = yield* walkResources(held.published, held.snapshot, { payTo, offset, limit });
        return {
          x402Version: 2,
          payTo,
          resources: resources.map(({ listing, route }) => buildDiscoveryResource(listing, route, reading.site)),
          pagination: { limit, offset, total },
        };
      },
    });
  },
});
