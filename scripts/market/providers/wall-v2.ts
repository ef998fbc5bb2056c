import { HTTPFacilitatorClient, x402ResourceServer } from '@x402/core/server';
import { ExactEvmScheme } from '@x402/evm/exact/server';
import { paymentMiddlewareFromHTTPServer, x402HTTPResourceServer } from '@x402/hono';
import { ExactSvmScheme } from '@x402/svm/exact/server';
import type { MiddlewareHandler } from 'hono';
import { isEvm, NETWORKS, type NetworkKey } from '../../../src/model/network.ts';
import { formatUsdc } from '../../../src/model/usdc.ts';
import { buildDiscovery, MAX_TIMEOUT_SECONDS, type Payees } from './offers.ts';
import type { ProviderPlan } from './route.ts';

/** Opens the middleware that asks for payment by x402 version 2: the SDK's own for Hono. */
export async function openWallV2(
  plan: ProviderPlan,
  { facilitatorUrl, payees }: { facilitatorUrl: string; payees: Payees },
): Promise<MiddlewareHandler> {
  const server = new x402ResourceServer(new HTTPFacilitatorClient({ url: facilitatorUrl }));
  for (const network of plan.networks) {
    server.register(getId(network), isEvm(network) ? new ExactEvmScheme() : new ExactSvmScheme());
  }
  const routes = plan.routes.map((route) => [
    `${route.method} ${route.path}`,
    {
      accepts: plan.networks.map((network) => ({
        scheme: 'exact',
        network: getId(network),
        payTo: payees[network],
        price: `$${formatUsdc(route.price)}`,
        maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
        ...(plan.settlesFirst ? { extra: { paymentFlow: 'upfront' } } : {}),
      })),
      description: route.summary,
      mimeType: 'application/json',
      serviceName: plan.title,
      extensions: { bazaar: buildDiscovery(route) },
    },
  ]);
  const http = new x402HTTPResourceServer(server, Object.fromEntries(routes));
  await http.initialize();
  return paymentMiddlewareFromHTTPServer(http, undefined, undefined, false);
}

function getId(network: NetworkKey) {
  return NETWORKS[network].id as `${string}:${string}`;
}
