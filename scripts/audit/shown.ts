import type { Declaration } from '../../src/model/declaration.ts';
import { isEvm, NETWORKS, type NetworkKey } from '../../src/model/network.ts';
import type { ProbeSample } from '../../src/model/probe.ts';
import type { DeclaredRoute } from '../../src/model/route.ts';
import type { Terms } from '../../src/model/terms.ts';

/** Slug of the listing that has everything that a page can show. */
export const SHOWN_SLUG = 'example-everything';
export const PAY_TO = `0x${'1'.repeat(40)}`;

const SUBJECTS = ['price', 'weather', 'company', 'address'];
const ACTIONS = ['latest', 'history', 'search', 'compare', 'check', 'forecast'];
/** Numbers of the probes that got no answer. */
const SILENT = [17, 18, 41];
/** Number of the first probe that saw a higher price. */
const DEARER_FROM = 45;

/** Builds the declaration of that listing. */
export function buildShown(at: string): Declaration {
  return {
    source: { kind: 'manifest', name: `${SHOWN_SLUG}.yaml`, observed_at: at },
    base_url: 'https://api.everything.example.com',
    slug: SHOWN_SLUG,
    service_name: null,
    title: 'Example Everything',
    tagline: 'Prices, weather, companies and addresses, one request at a time.',
    description:
      'Answers what things cost, how the weather is and will be, who owns a company and whether an address exists. Every answer is JSON. Input is checked before payment is asked for.',
    provider_name: 'Example Works',
    category: 'Data',
    mcp_endpoint: 'https://api.everything.example.com/mcp',
    docs_url: 'https://everything.example.com/docs',
    price: null,
    networks: [],
    routes: SUBJECTS.flatMap((subject) => ACTIONS.map((action) => buildRoute(subject, action))),
  };
}

function buildRoute(subject: string, action: string): DeclaredRoute {
  return {
    method: action === 'search' ? 'POST' : 'GET',
    path: `/v1/${subject}/${action}`,
    description: `Gives the ${action} of one ${subject}, with its source.`,
    mime_type: 'application/json',
    input_schema: null,
    output_schema: null,
    example: action === 'search' ? { body: { words: 'copper' } } : { query: { of: 'copper' } },
    terms: [buildTerms('base', 1000), ...(action === 'latest' ? [buildTerms('solana', 1000)] : [])],
  };
}

function buildTerms(network: NetworkKey, amount: number): Terms {
  const pay_to = isEvm(network) ? PAY_TO : null;
  const rest = { scheme: 'exact', max_timeout_seconds: 60, x402_version: 2 as const };
  return { network, asset: NETWORKS[network].usdc, amount, pay_to, ...rest };
}

/** Builds the sample of the probe with a number, of a route with these terms on record. */
export function buildSample({
  at,
  url,
  number,
  terms,
}: {
  at: string;
  url: string;
  number: number;
  terms: readonly Pick<Terms, 'network'>[];
}): ProbeSample {
  const isSilent = SILENT.includes(number);
  const amount = number >= DEARER_FROM ? 2500 : 1000;
  const networks = new Set(terms.map(({ network }) => network));
  return {
    at,
    url,
    method: 'GET',
    duration_ms: 120,
    outcome: isSilent ? 'timeout' : 'payable',
    cause: null,
    status: isSilent ? null : 402,
    latency_ms: isSilent ? null : 60 + (number % 7) * 15,
    x402_version: isSilent ? null : 2,
    terms: isSilent ? [] : [...networks].map((network) => buildTerms(network, amount)),
    differences: [],
    payee_rotates: null,
    retry_after_seconds: null,
    detail: {},
  };
}
