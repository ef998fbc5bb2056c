import { describe, expect, it } from 'vitest';
import { findListing } from '../../src/catalogue/read/listings.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { delistListing, relistListing } from '../../src/catalogue/write/decisions.ts';
import { recordReceipt } from '../../src/catalogue/write/receipts.ts';
import { createApp } from '../../src/http/app.ts';
import { buildChanges } from '../../src/http/endpoints/agent-changes.ts';
import { parseQuery } from '../../src/http/parameters.ts';
import { NETWORKS } from '../../src/model/network.ts';
import { parseUsdc } from '../../src/model/usdc.ts';
import { type AgentChanges, agentChanges, changesQuery } from '../../src/views/changes.ts';
import type { AgentList } from '../../src/views/listing/query.ts';
import { makeCatalogue, makeDeclaration, makeRoute, makeTerms } from '../builders.ts';
import { openTestReading } from '../reading.ts';
import { recordDeclaration } from '../written.ts';

const LISTINGS = 6;
const PATHS_OF_EACH = ['/a', '/b'];

/** Gives whole numbers below a bound, the same ones for the same seed (mulberry32). */
function makeRandom(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

/** What a follower knows of a listing. */
interface Known {
  live: boolean;
  price: unknown;
  verified: string[];
}

/** Applies a change as a reader of the feed would, from what the change says alone. */
function applyChange(known: Map<string, Known>, { slug, kind, detail }: AgentChanges['changes'][number]): void {
  const state = known.get(slug) ?? { live: false, price: undefined, verified: [] };
  known.set(slug, state);
  if (kind === 'listed' || kind === 'relisted') state.live = true;
  if (kind === 'held' || kind === 'delisted') state.live = false;
  if (kind === 'priced') state.price = detail.to;
  const others = state.verified.filter((route) => route !== detail.route);
  if (kind === 'verified') state.verified = [...others, String(detail.route)];
  if (kind === 'unverified') state.verified = others;
}

async function makeMarket(seed: number, kept: number) {
  const catalogue = await makeCatalogue();
  const random = makeRandom(seed);
  const reading = await openTestReading(catalogue);
  const app = createApp({ reading });
  let hour = 0;
  const write = async () => {
    hour += 1;
    const at = new Date(Date.parse('2026-01-01T00:00:00.000Z') + hour * 3_600_000).toISOString();
    await writeCatalogue(catalogue, at, async (writing) => {
      for (let times = 1 + random(3); times > 0; times -= 1) {
        const slug = `api-${random(LISTINGS)}`;
        const listing = await findListing(writing.catalogue, { slug });
        const what = listing ? random(8) : 0;
        if (what === 6) await delistListing(writing, slug, { by: 'operator', reason: 'tried out' });
        else if (what === 7) await relistListing(writing, slug, { by: 'operator' });
        else if (what === 5) {
          const route = listing?.routes[random(PATHS_OF_EACH.length)];
          if (!route) continue;
          const { asset, amount, pay_to } = route.terms[0] ?? makeTerms();
          await recordReceipt(writing, {
            ...{ id: crypto.randomUUID(), route_id: route.id, network: 'base', asset, amount, pay_to: pay_to ?? '' },
            ...{
              payer: '0x2222222222222222222222222222222222222222',
              transaction: `0x${crypto.randomUUID().replaceAll('-', '').repeat(2)}`,
            },
            ...{ genesis: NETWORKS.base.genesis, request: null, settled_at: at },
            ...{ settled: true, delivered: true, conforming: 'undeclared', unrecognised: null, correction: null },
          });
        } else {
          const terms =
            random(7) === 0
              ? []
              : [makeTerms({ amount: 1000 * (1 + random(9)), pay_to: `0x${String(1 + random(2)).repeat(40)}` })];
          await recordDeclaration(
            writing,
            makeDeclaration({
              source: { kind: 'manifest', name: `${slug}.yaml`, observed_at: null },
              base_url: `https://${slug}.example-provider.com`,
              slug,
              routes: PATHS_OF_EACH.map((path) => makeRoute({ path, terms })),
            }),
          );
        }
      }
    });
  };
  const read = async (query: string): Promise<AgentChanges> =>
    agentChanges.parse(
      JSON.parse(
        Buffer.from(
          reading.readAtOnce((snapshot) => {
            const asked = parseQuery(changesQuery, new URLSearchParams(query));
            return buildChanges(reading, asked, snapshot, kept);
          }).body,
        ).toString(),
      ),
    );
  const getTruth = async () => {
    const { listings } = (await (await app.request('/agent/list?limit=1000')).json()) as AgentList;
    return listings.map(({ slug, price_min_usdc, price_max_usdc, verified_route_count }) => [
      ...[slug, parseUsdc(String(price_min_usdc)), parseUsdc(String(price_max_usdc)), verified_route_count],
    ]);
  };
  return { catalogue, random, write, read, getTruth };
}

function tellKnown(known: ReadonlyMap<string, Known>): unknown[] {
  return [...known]
    .filter(([, { live }]) => live)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([slug, { price, verified }]) => {
      const { min, max } = price as { min: number; max: number };
      return [slug, min, max, verified.length];
    });
}

describe('a follower of the changes', () => {
  it.each(Array.from({ length: 8 }, (_, seed) => [seed, [0, 3, 8, 40][seed % 4] ?? 0]))(
    'comes to what the catalogue is, from any revision, while it is written to (seed %i, the latest %i told one by one)',
    async (seed, kept) => {
      const { random, write, read, getTruth } = await makeMarket(seed, kept);
      for (let times = random(40); times >= 0; times -= 1) await write();
      // What it knew when it last looked, at some revision: read whole, with all that was superseded.
      const known = new Map<string, Known>();
      const first = await read('history=all&limit=1000');
      const since = random(first.revision + 1);
      for (const change of first.changes) if (change.revision <= since) applyChange(known, change);
      let query = `since=${since}`;
      for (let idle = 0; idle < 3; ) {
        const page = await read(`${query}&limit=${1 + random(6)}`);
        for (const change of page.changes) applyChange(known, change);
        query = `cursor=${page.next_cursor ?? page.resume_cursor}`;
        if (page.next_cursor === undefined) idle += 1;
        if (idle < 3 && random(2) === 0) await write();
      }
      for (let page = await read(query); ; page = await read(`cursor=${page.next_cursor}`)) {
        for (const change of page.changes) applyChange(known, change);
        if (page.next_cursor === undefined) break;
      }
      expect(tellKnown(known)).toEqual(await getTruth());
    },
  );

  it('from far back reads what became of each listing, each route and each kind, not all that they went through', async () => {
    const { write, read, getTruth } = await makeMarket(7, 10);
    for (let times = 0; times < 120; times += 1) await write();
    const [compact, whole] = [await read('limit=1000'), await read('limit=1000&history=all')];
    expect(whole.compacted_up_to).toBeUndefined();
    expect(compact.compacted_up_to).toBe(whole.changes.at(-11)?.revision);
    expect(compact.changes.slice(-10)).toEqual(whole.changes.slice(-10));
    expect(compact.changes.length).toBeLessThan(whole.changes.length / 2);
    const known = new Map<string, Known>();
    for (const change of compact.changes) applyChange(known, change);
    expect(tellKnown(known)).toEqual(await getTruth());
    const states = compact.changes.slice(0, -10).filter(({ kind }) => /listed|held/.test(kind));
    expect(new Set(states.map(({ slug }) => slug)).size).toBe(states.length);
  });
});
