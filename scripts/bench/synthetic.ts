import { type Catalogue, openCatalogue } from '../../src/catalogue/database.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { recordDeclarations } from '../../src/catalogue/write/declarations.ts';
import type { Declaration } from '../../src/model/declaration.ts';
import { getListingId } from '../../src/model/ids.ts';
import { NETWORKS } from '../../src/model/network.ts';
import type { DeclaredRoute } from '../../src/model/route.ts';

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

/** The most frequent words of descriptions, the first the most frequent. All others are invented. */
const COMMON_WORDS =
  `data price api token market search wallet score report list history image text chain news risk check trend
  address analysis summary daily live result company domain email weather stock video flight map route address balance
  volume forecast rating review profile social signal audio language document page record index alert ranking`.split(
    /\s+/,
  );
const SYLLABLES = 'ba co da fe gi ha lo ma ne ori pa qui ra sto ta ul vi wen xo zan kel mor tin dra sel'.split(' ');
const WORDS = 20_000;

/**
 * Number of listings above which the others are copies, because writing one with its evidence takes two milliseconds.
 */
export const WRITTEN_MAX = 10_000;

/** Creates a generator of pseudo-random numbers in [0, 1). The same seed gives the same numbers everywhere. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Picks a word with the frequencies of real text (Zipf's law): the word of rank n comes 1/n times as often as the first. */
function pickWord(random: () => number): string {
  const rank = Math.floor(WORDS ** random()) - 1;
  const common = COMMON_WORDS[rank];
  if (common !== undefined) return common;
  let word = '';
  for (let left = rank; left > 0; left = Math.floor(left / SYLLABLES.length)) {
    word += SYLLABLES[left % SYLLABLES.length];
  }
  return word;
}

/** Picks a number of words, separated by blanks. */
export function pickWords(random: () => number, count: number): string {
  return Array.from({ length: count }, () => pickWord(random)).join(' ');
}

/** Builds the synthetic listing of a number: invented, but of the shape and size of real ones. */
export function buildSyntheticDeclaration(index: number): Declaration {
  const random = createRandom(1_000_003 + index);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const [subject, action, quality] = [pick(SUBJECTS), pick(ACTIONS), pick(QUALITIES)];
  const name = `${subject}-${action}-${index}`;
  const routes = Array.from({ length: 1 + Math.floor(random() * random() * 16) }, (_, number) =>
    buildRoute({ subject: pick(SUBJECTS), action: pick(ACTIONS), number, amount: pick(AMOUNTS), random }),
  );
  return {
    source: { kind: 'bazaar', name: 'synthetic', observed_at: new Date(SEEN + index * 1000).toISOString() },
    base_url: `https://${name}.example`,
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
    mcp_endpoint: random() < 0.1 ? `https://${name}.example/mcp` : null,
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

/**
 * Creates a catalogue of `count` synthetic listings, a thousand in each transaction, and returns it open for writing. Above
 * 10,000 the count is rounded to a multiple of that.
 */
export async function createSyntheticCatalogue(
  file: string,
  count: number,
  identity = '7c0d5c6e-55a2-4a52-8a5e-3f3c1d2b4a60',
): Promise<Catalogue> {
  const at = new Date(SEEN).toISOString();
  // It is made at a time that is always the same, and may be written to at any other.
  const catalogue = await openCatalogue(file, { identity, at }, { checksClock: false });
  const written = Math.min(count, WRITTEN_MAX);
  for (let start = 0; start < written; start += 1000) {
    await writeCatalogue(catalogue, at, async (writing) => {
      for (let index = start; index < Math.min(start + 1000, written); index += 1) {
        await recordDeclarations(writing, [buildSyntheticDeclaration(index)]);
      }
    });
  }
  copyListings(catalogue, Math.round(count / written) - 1);
  return catalogue;
}

/** Copies each listing as readers see it several times under other names. The evidence is not copied. */
function copyListings({ engine: { sqlite } }: Catalogue, copies: number): void {
  sqlite.function('listing_id', { deterministic: true }, (base_url) => getListingId(String(base_url)));
  const copyListing = sqlite.prepare(`
    INSERT INTO listings (id, slug, origin, base_url, state, verified, was_live, routes, revision, document)
    SELECT json_extract(copy, '$.id'), json_extract(copy, '$.slug'), json_extract(copy, '$.base_url'),
      json_extract(copy, '$.base_url'), state, verified, was_live, routes, revision, copy
    FROM (
      SELECT state, verified, was_live, routes, revision, json_set(document,
        '$.id', listing_id(replace(base_url, 'https://', 'https://' || @prefix || '-')), '$.slug', slug || '-' || @prefix,
        '$.title', json_extract(document, '$.title') || ' ' || @prefix,
        '$.base_url', replace(base_url, 'https://', 'https://' || @prefix || '-')) AS copy
      FROM listings WHERE number <= @last
    )`);
  const last = sqlite.prepare('SELECT max(number) FROM listings').pluck().get();
  sqlite.transaction(() => {
    for (let copy = 0; copy < copies; copy += 1) {
      copyListing.run({ prefix: `copy-${copy + 1}`, last });
    }
  })();
}
