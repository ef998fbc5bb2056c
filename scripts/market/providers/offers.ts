import { NETWORKS, type NetworkKey } from '../../../src/model/network.ts';
import { formatUsdc } from '../../../src/model/usdc.ts';
import type { MarketNetwork, PayableRoute, ProviderPlan } from './route.ts';

/** Time for which a payment may be open, in seconds. */
export const MAX_TIMEOUT_SECONDS = 60;

/** The payee on each network of the market. */
export type Payees = Readonly<Record<MarketNetwork, string>>;

/** Returns the `extra` of terms: on EVM the EIP-712 domain, on Solana the account that pays the fee. */
export function getExtra(network: NetworkKey, feePayer: string | undefined): Record<string, unknown> {
  const chain = NETWORKS[network];
  return chain.family === 'evm' ? { ...chain.domain } : { feePayer };
}

/** Builds the terms of a route for x402 version 1. */
export function buildOfferV1(
  route: PayableRoute,
  {
    network,
    payees,
    feePayer,
    resource,
  }: { network: MarketNetwork; payees: Payees; feePayer: string | undefined; resource: string },
) {
  return {
    scheme: 'exact',
    network,
    maxAmountRequired: String(route.price),
    resource,
    description: route.summary,
    mimeType: 'application/json',
    outputSchema: describeRoute(route),
    payTo: payees[network],
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    asset: NETWORKS[network].usdc,
    extra: getExtra(network, feePayer),
  };
}

/** Builds the description of request and answer for x402 discovery: `outputSchema` of version 1, `info` of version 2. */
function describeRoute({ method, exampleInput, outputSchema }: PayableRoute) {
  const request = method === 'GET' ? { queryParams: exampleInput } : { bodyType: 'json', body: exampleInput };
  return {
    input: { type: 'http', method, discoverable: true, ...request },
    output: { type: 'json', schema: outputSchema },
  };
}

/** Builds the extension `bazaar` of x402 version 2: an example, and its JSON Schema. */
export function buildDiscovery({ method, exampleInput, inputSchema, outputSchema }: PayableRoute) {
  const [name, request] =
    method === 'GET'
      ? (['queryParams', { queryParams: exampleInput }] as const)
      : (['body', { bodyType: 'json', body: exampleInput }] as const);
  const kind = method === 'GET' ? {} : { bodyType: { type: 'string', enum: ['json'] } };
  return {
    info: { input: { type: 'http', method, ...request }, output: { type: 'json' } },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        input: {
          type: 'object',
          properties: {
            type: { type: 'string', const: 'http' },
            method: { type: 'string', enum: [method] },
            ...kind,
            [name]: inputSchema,
          },
          required: ['type', name],
        },
        output: { type: 'object', properties: { type: { type: 'string' }, example: outputSchema } },
      },
      required: ['input'],
    },
  };
}

/** Builds a provider's OpenAPI document, each operation with `x-payment-info`. */
export function buildDocument(plan: ProviderPlan, url: string, payees: Payees) {
  const paths = plan.routes.map((route) => [
    route.path,
    { [route.method.toLowerCase()]: buildOperation(plan, route, payees) },
  ]);
  return {
    openapi: '3.1.0',
    info: { title: plan.title, version: '1.0.0', description: plan.summary },
    servers: [{ url }],
    paths: Object.fromEntries(paths),
  };
}

function buildOperation({ version, networks }: ProviderPlan, route: PayableRoute, payees: Payees) {
  const protocols = networks.map((network) => ({
    x402: {
      version,
      scheme: 'exact',
      network: version === 1 ? network : NETWORKS[network].id,
      asset: NETWORKS[network].usdc,
      payTo: payees[network],
      maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    },
  }));
  const json = (schema: unknown, example?: unknown) => ({
    'application/json': example === undefined ? { schema } : { schema, example },
  });
  return {
    summary: route.summary,
    'x-payment-info': { price: { mode: 'fixed', currency: 'USD', amount: formatUsdc(route.price) }, protocols },
    ...(route.method === 'GET'
      ? { parameters: buildParameters(route) }
      : { requestBody: { required: true, content: json(route.inputSchema, route.exampleInput) } }),
    responses: {
      200: { description: 'The product', content: json(route.outputSchema) },
      402: { description: 'Payment required' },
    },
  };
}

function buildParameters({ inputSchema, exampleInput }: PayableRoute) {
  const { properties = {}, required = [] } = inputSchema as {
    properties?: Record<string, unknown>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
    example: exampleInput[name],
  }));
}
