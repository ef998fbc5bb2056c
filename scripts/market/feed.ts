import type { JsonObject } from '../../src/model/json.ts';
import { openServer, type Serving } from './loopback.ts';
import { decodeHeader } from './providers/facilitation.ts';
import type { Provider } from './providers/provider.ts';
import type { PayableRoute } from './providers/route.ts';

/** Opens a Bazaar feed of all that the providers sell, built from their 402 answers, and of other items; with pages by `limit` and `offset`. */
export async function openFeed(
  providers: readonly Provider[],
  others: readonly JsonObject[] = [],
): Promise<Serving & { readonly feedUrl: string }> {
  const lastUpdated = new Date().toISOString();
  const pairs = providers.flatMap((provider) => provider.plan.routes.map((route) => ({ provider, route })));
  const routes = await Promise.all(
    pairs.map(async ({ provider, route }) => ({ ...(await readItem(provider, route)), type: 'http', lastUpdated })),
  );
  const items = [...routes, ...others.map((item) => ({ ...item, lastUpdated }))];
  const server = await openServer((request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname !== '/discovery/resources') return Response.json({ error: 'not found' }, { status: 404 });
    const limit = Number(searchParams.get('limit') ?? 100);
    const offset = Number(searchParams.get('offset') ?? 0);
    const pagination = { limit, offset, total: items.length };
    return Response.json({ x402Version: 2, items: items.slice(offset, offset + limit), pagination });
  });
  return { ...server, feedUrl: `${server.url}/discovery/resources` };
}

/** Reads the item of a route. A feed names a resource without its query; its input is in its description. */
async function readItem({ url, plan }: Provider, route: PayableRoute) {
  const resource = `${url}${route.path}`;
  const metadata = { serviceName: plan.title, serviceDescription: plan.summary };
  const answer = await fetchExample(url, route);
  if (plan.version === 1) {
    const { accepts } = (await answer.json()) as { accepts: Record<string, unknown>[] };
    return { x402Version: 1, resource, accepts: accepts.map((offer) => ({ ...offer, resource })), metadata };
  }
  const { accepts, extensions } = decodeHeader(answer.headers.get('payment-required') ?? '') ?? {};
  return { x402Version: 2, resource, accepts, extensions, description: route.summary, metadata };
}

/** Sends a route's example request, without payment unless `headers` have one. */
export function fetchExample(url: string, route: PayableRoute, headers: Record<string, string> = {}) {
  return fetch(...buildExample(url, route, headers));
}

/** Builds a route's example request. */
export function buildExample(
  url: string,
  { method, path, exampleInput }: PayableRoute,
  headers: Record<string, string> = {},
): [string, RequestInit] {
  if (method === 'POST') {
    const body = JSON.stringify(exampleInput);
    return [`${url}${path}`, { method, headers: { ...headers, 'content-type': 'application/json' }, body }];
  }
  const query = new URLSearchParams(Object.entries(exampleInput).map(([name, value]) => [name, String(value)]));
  return [`${url}${path}?${query}`, { method, headers }];
}
