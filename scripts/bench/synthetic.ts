import { type Catalogue, openCatalogue } from '../../src/catalogue/database.ts';
import { recordDeclaration } from '../../src/catalogue/declarations.ts';
import { writeCatalogue } from '../../src/catalogue/write.ts';
import type { Declaration } from '../../src/model/declaration.ts';
import { NETWORKS } from '../../src/model/network.ts';
import type { DeclaredRoute } from '../../src/model/route.ts';
import { pickWord } from './words.ts';

const SUBJECTS =
  'weather stock token wallet domain address invoice flight recipe image document podcast article company patent satellite traffic energy air-quality currency election match player song book job property vehicle parcel medicine'.split(
    ' ',
  );
const ACTIONS =
  'search lookup convert translate summarise classify verify score forecast compare extract render monitor rank'.split(
    ' ',
  );
const QUALITIES = 'live historical regional daily bulk detailed anonymous licensed open enriched'.split(' ');
const SEEN = Date.parse('2026-11-01T00:00:00.000Z');
const AMOUNTS = [1000, 2000, 5000, 10_000, 20_000, 50_000, 250_000];

/** A small seeded generator of pseudo-random numbers in [0, 1): the same seed gives the same listings everywhere. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Builds the nth synthetic listing: invented, but of the shape and size of real ones. */
export function buildSyntheticDeclaration(index: number, seed = 1): Declaration {
  const random = createRandom(seed * 1_000_003 + index);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const [subject, action, quality] = [pick(SUBJECTS), pick(ACTIONS), pick(QUALITIES)];
  const name = `${subject}-${action}-${index}`;
  const routes = Array.from({ length: 1 + Math.floor(random() * random() * 16) }, (_, number) =>
    buildRoute({ subject: pick(SUBJECTS), action: pick(ACTIONS), number, amount: pick(AMOUNTS), random }),
  );
  return {
    source: { kind: 'bazaar', name: 'synthetic', observed_at: new Date(SEEN + index * 1000).toISOString() },
    base_url: `https://${name}.example.com`,
    slug: null,
    service_name: name,
    title: `${subject} ${action} ${index}`,
    tagline: `${quality} ${subject} data to ${action}, one request at a time.`,
    description: Array.from(
      { length: 2 + Math.floor(random() * 6) },
      () =>
        `Takes a ${pickWord(random)} and ${pickWord(random)} ${pick(ACTIONS)} ${pickWord(random)} for the ${pickWord(random)}.`,
    ).join(' '),
    provider_name: `${subject} works ${index % 997}`,
    category: null,
    mcp_endpoint: random() < 0.1 ? `https://${name}.example.com/mcp` : null,
    docs_url: null,
    price: null,
    networks: [],
    routes: routes.filter((route, at) => routes.findIndex(({ path }) => path === route.path) === at),
  };
}

function buildRoute(options: {
  subject: string;
  action: string;
  number: number;
  amount: number;
  random: () => number;
}): DeclaredRoute {
  const { subject, action, number, amount, random } = options;
  const offer = {
    scheme: 'exact',
    amount,
    max_timeout_seconds: 60,
    x402_version: random() < 0.6 ? (2 as const) : (1 as const),
  };
  const base = { ...offer, network: 'base' as const, asset: NETWORKS.base.usdc, pay_to: `0x${'1'.repeat(40)}` };
  const solana = { ...offer, network: 'solana' as const, asset: NETWORKS.solana.usdc, pay_to: null };
  return {
    method: random() < 0.7 ? 'GET' : 'POST',
    path: `/v1/${subject}/${action}${number === 0 ? '' : `/${number}`}`,
    description: `Asks the ${subject} service to ${action} ${pickWord(random)} ${pickWord(random)} as JSON.`,
    mime_type: 'application/json',
    input_schema: null,
    output_schema: null,
    example: null,
    terms: random() < 0.15 ? [base, solana] : [base],
  };
}

/** Fills a new catalogue with `count` synthetic listings, a thousand a transaction, and leaves it open for writing. */
export function createSyntheticCatalogue(file: string, count: number, seed = 1): Catalogue {
  const at = new Date(SEEN).toISOString();
  const catalogue = openCatalogue(file, { identity: '7c0d5c6e-55a2-4a52-8a5e-3f3c1d2b4a60', at });
  for (let start = 0; start < count; start += 1000) {
    writeCatalogue(catalogue, at, (writing) => {
      for (let index = start; index < Math.min(start + 1000, count); index += 1) {
        recordDeclaration(writing, buildSyntheticDeclaration(index, seed));
      }
    });
  }
  return catalogue;
}
