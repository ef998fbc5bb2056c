export const PULLED_AT = '2026-11-20T12:00:00.000Z';
export const OPTIONS = {
  feed: 'https://feed.example/discovery/resources',
  pulledAt: PULLED_AT,
  allowPrivateNetworks: false,
};

export const BASE_USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
export const SOLANA_USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
export const SELLER = '0x1111111111111111111111111111111111111abc';
export const SOLANA_SELLER = 'So11111111111111111111111111111111111111112';

type Raw = Record<string, unknown>;

/** An offer of version 2 on Base for 0.003 USDC. */
export function makeOffer(overrides: Raw = {}): Raw {
  return {
    scheme: 'exact',
    network: 'eip155:8453',
    amount: '3000',
    asset: BASE_USDC,
    payTo: SELLER,
    maxTimeoutSeconds: 60,
    extra: { name: 'USD Coin', version: '2' },
    ...overrides,
  };
}

/** The same offer on Solana. */
export function makeSolanaOffer(overrides: Raw = {}): Raw {
  const network = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
  return makeOffer({ network, asset: SOLANA_USDC, payTo: SOLANA_SELLER, extra: {}, ...overrides });
}

/** An item as version 2 feeds carry it today. */
export function makeItem(overrides: Raw = {}): Raw {
  return {
    resource: 'https://api.tides.example/v1/height',
    type: 'http',
    x402Version: 2,
    accepts: [makeOffer()],
    description: 'Height of the tide. Takes a harbour.',
    lastUpdated: '2026-11-01T08:00:00.000Z',
    extensions: {
      bazaar: {
        info: {
          input: { type: 'http', method: 'GET', queryParams: { harbour: 'Brest', days: 2 } },
          output: { type: 'json', example: { metres: 4.2 } },
        },
      },
    },
    ...overrides,
  };
}

/** An item as version 1 feeds carry it: everything in its offers. */
export function makeVersion1Item(overrides: Raw = {}, offer: Raw = {}): Raw {
  const resource = 'https://api.tides.example/v1/alert';
  return {
    resource,
    type: 'http',
    x402Version: 1,
    lastUpdated: '2026-10-01T08:00:00Z',
    metadata: {},
    accepts: [
      {
        scheme: 'exact',
        network: 'base',
        maxAmountRequired: '10000',
        asset: BASE_USDC.toLowerCase(),
        payTo: SELLER,
        resource,
        description: 'Sends an alert before high water.',
        mimeType: 'application/json',
        maxTimeoutSeconds: 300,
        outputSchema: {
          input: {
            type: 'http',
            method: 'POST',
            bodyType: 'json',
            bodyFields: {
              harbour: { type: 'string', description: 'Name of the harbour', required: true },
              metres: { type: 'number', required: false },
            },
          },
          output: { id: { type: 'string', description: 'Number of the alert' } },
        },
        extra: { name: 'USD Coin', version: '2' },
        ...offer,
      },
    ],
    ...overrides,
  };
}
