import { buildUrl, PATHS } from '../../src/views/links.ts';
import type { Asked } from './rounds.ts';
import { buildSyntheticDeclaration, createRandom } from './synthetic.ts';
import { pickWord } from './words.ts';

/** How answers are asked for: as they are, or compressed as nearly every client has it. */
export const ENCODINGS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  plain: {},
  gzip: { 'accept-encoding': 'gzip' },
};

/** How many different requests of a kind are asked in turn. */
const VARIETY = 100;

/** Lists the slugs of some listings, as the service lists them. */
export async function listSlugs(url: string): Promise<string[]> {
  const answer = await fetch(`${url}${PATHS.agentList}?limit=${VARIETY}`);
  const { listings }: { listings: { slug: string }[] } = await answer.json();
  return listings.map(({ slug }) => slug);
}

/** Builds questions whether terms are those on record, one for each of some listings: the fields of its first offer. */
export function buildChecks(listings: number): string[] {
  return Array.from({ length: Math.min(VARIETY, listings) }, (_, index) => {
    const { base_url, routes } = buildSyntheticDeclaration(index);
    const route = routes[0];
    const terms = route?.terms[0];
    if (!route || !terms) throw new Error('a synthetic listing has a route with terms');
    const { network, asset, pay_to, amount } = terms;
    const fields = { url: buildUrl(base_url, route.path), method: route.method, network, asset, amount };
    const query = new URLSearchParams({ ...mapText(fields), ...(pay_to !== null && { pay_to }) });
    return `${PATHS.agentCheck}?${query}`;
  });
}

/** Builds searches in words as people use them; the same ones each time. */
export function buildSearches(count = VARIETY): string[] {
  const random = createRandom(11);
  return Array.from({ length: count }, () => `${pickWord(random)} ${pickWord(random)} ${pickWord(random)}`);
}

/** Builds the request that calls a tool over MCP, the search tool where no other is named. */
export function buildToolCall(args: Readonly<Record<string, string | number>>, name = 'search_listings'): Asked {
  const params = { name, arguments: args };
  return {
    path: PATHS.mcp,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  };
}

function mapText(fields: Readonly<Record<string, string | number | null>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));
}
