import type { x402HTTPClient } from '@x402/core/client';
import type { CheckBody } from '../../src/views/check.ts';
import type { Connected } from '../mcp/clients.ts';

/** What an agent needs to know of a route before it calls it. */
export interface Found {
  slug: string;
  method: string;
  url: string;
  price_usdc: string;
  /** All that is told of it: what the call needs is to be in there. */
  needed: string;
}

/** What a check told the agent: all that it decides by. */
type Advice = Pick<CheckBody, 'verdict' | 'severity' | 'safe_offers' | 'summary'>;

/** One way into the catalogue: what an agent asks of it, whichever software it speaks through. */
export interface Door {
  find(request: string): Promise<Found>;
  check(question: { url: string; method: string; challenge: unknown }): Promise<Advice>;
}

/** Opens the catalogue through MCP. */
export function openMcpDoor(client: Connected): Door {
  const call = async <Answer>(name: string, args: Record<string, unknown>): Promise<Answer> => {
    const { isError, text, structured } = await client.call(name, args);
    if (isError) throw new Error(text);
    return structured as Answer;
  };
  return {
    async find(request) {
      const { listings } = await call<{ listings: Found[] }>('search_listings', { q: request, limit: 3 });
      const [best] = listings;
      if (!best) throw new Error('nothing was found');
      const { slug, method, url, price_usdc } = best;
      const needed = JSON.stringify(best);
      return { slug, method, url, price_usdc: price_usdc.split(' ')[0] ?? '', needed };
    },
    check: (question) => call('check_payment_terms', question),
  };
}

/** Opens the catalogue through its plain JSON documents. */
export function openHttpDoor(baseUrl: string): Door {
  const read = async <Answer>(path: string, init?: RequestInit): Promise<Answer> => {
    const response = await fetch(`${baseUrl}${path}`, init);
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as Answer;
  };
  return {
    async find(request) {
      const query = new URLSearchParams({ q: request, limit: '3' });
      const { listings } = await read<{ listings: { slug: string }[] }>(`/agent/list?${query}`);
      const slug = listings[0]?.slug ?? '';
      const { listing } = await read<{ listing: { routes: ListedRoute[] } }>(`/agent/listings/${slug}`);
      const route = chooseRoute(listing.routes, request);
      const { method, url, terms } = route;
      const price_usdc = terms.find(({ current }) => current)?.amount_usdc ?? '';
      return { slug, method, url, price_usdc, needed: JSON.stringify(route) };
    },
    check: (question) =>
      read('/agent/check', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(question),
      }),
  };
}

interface ListedRoute {
  method: string;
  url: string;
  description: string;
  terms: { current: boolean; amount_usdc: string }[];
}

/** Takes the route whose description shares most words with the request: as much as can be had without a model. */
function chooseRoute<Listed extends { description?: string }>(routes: readonly Listed[], request: string): Listed {
  const words = request.toLowerCase().split(/\W+/);
  const count = ({ description = '' }: Listed) =>
    words.filter((word) => description.toLowerCase().split(/\W+/).includes(word)).length;
  const [best] = routes.toSorted((a, b) => count(b) - count(a));
  if (!best) throw new Error('nothing was found');
  return best;
}

/** How a task went: the product and what was paid for it, or the warning for which nothing was. */
export type Outcome = { found: Found; advice: Advice } & ({ product: unknown; receipt: unknown } | { product: null });

/**
 * Does a task as an agent does it: finds an API, calls it, is asked for money, checks what is asked, pays only an offer
 * that is on record, and gives what came back.
 */
export async function doTask(
  door: Door,
  wallet: x402HTTPClient,
  { request, query }: { request: string; query: Record<string, string> },
): Promise<Outcome> {
  const found = await door.find(request);
  const url = `${found.url}?${new URLSearchParams(query)}`;
  const asked = await fetch(url, { method: found.method });
  if (asked.status !== 402) throw new Error(`expected to be asked for money, got ${asked.status}`);
  const header = asked.headers.get('payment-required');
  const body = header === null ? await asked.json() : undefined;
  const advice = await door.check({ url, method: found.method, challenge: header ?? body });
  if (advice.safe_offers.length === 0 || advice.severity === 'danger') return { found, advice, product: null };
  const required = wallet.getPaymentRequiredResponse((name) => asked.headers.get(name), body);
  const safe = { ...required, accepts: advice.safe_offers.flatMap((index) => required.accepts[index] ?? []) };
  const payment = await wallet.createPaymentPayload(safe);
  const headers = wallet.encodePaymentSignatureHeader(payment);
  const answer = await fetch(url, { method: found.method, headers });
  if (!answer.ok) throw new Error(`paid, and got ${answer.status}`);
  const receipt = wallet.getPaymentSettleResponse((name) => answer.headers.get(name));
  return { found, advice, product: await answer.json(), receipt };
}
