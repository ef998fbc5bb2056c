import { z } from 'zod';
import { jsonObject } from '../../model/json-object.ts';
import { PATHS } from '../../views/links.ts';
import { buildDocument } from '../document.ts';
import { defineRead, NO_QUERY } from './define.ts';

const NO_SUPPORT = { kinds: [], extensions: [], signers: {} };
const NO_BUNDLES = { bundles: [] };

/** The kinds of payment that are settled here, which x402 clients ask every facilitator for: none. */
export const discoverySupportedEndpoint = defineRead({
  id: 'listSupportedPayments',
  path: PATHS.discoverySupported,
  summary: 'What a facilitator settles, which is nothing here',
  description: 'For x402 clients that ask every facilitator. This service is for discovery alone.',
  query: NO_QUERY,
  answer: {
    description: 'Empty lists',
    schema: z
      .object({ kinds: z.array(jsonObject).max(0), extensions: z.array(z.string()).max(0), signers: jsonObject })
      .meta({ id: 'DiscoverySupported' }),
    example: () => NO_SUPPORT,
  },
  build: (_query, { snapshot: { revision } }) => buildDocument(JSON.stringify(NO_SUPPORT), { revision }),
});

/** The bundles of routes that Coinbase's client lists: none. */
export const discoveryBundlesEndpoint = defineRead({
  id: 'listBundles',
  path: PATHS.discoveryBundles,
  summary: "Bundles of routes, as Coinbase's client lists them, of which there are none",
  description: 'For clients that ask which bundles there are. No routes are bundled here.',
  query: NO_QUERY,
  answer: {
    description: 'An empty list',
    schema: z.object({ bundles: z.array(jsonObject).max(0) }).meta({ id: 'DiscoveryBundles' }),
    example: () => NO_BUNDLES,
  },
  build: (_query, { snapshot: { revision } }) => buildDocument(JSON.stringify(NO_BUNDLES), { revision }),
});
