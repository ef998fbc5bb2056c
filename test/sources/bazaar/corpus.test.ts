import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { declaration } from '../../../src/model/declaration.ts';
import { buildFeedDeclarations } from '../../../src/sources/bazaar/feed.ts';
import { parseFeedPage, pullFeed } from '../../../src/sources/bazaar/pull.ts';
import { formatRawItem } from '../../../src/sources/feed.ts';
import { skipWithout } from '../../skipped.ts';
import { listAll } from '../list-all.ts';

const CORPUS = join(import.meta.dirname, '../../../../shared/corpus');

/** Builds a recorded feed, checks what must hold for any feed, and counts its outcomes. */
function count(items: unknown[], pulledAt: string) {
  const built = buildFeedDeclarations(items, { feed: 'recorded', pulledAt, allowPrivateNetworks: false });
  const again = buildFeedDeclarations(items.toReversed(), { feed: 'recorded', pulledAt, allowPrivateNetworks: false });
  expect(again.declarations).toEqual(built.declarations);
  for (const one of built.declarations) expect(declaration.parse(one)).toEqual(one);
  expect(Object.keys(built.outcomes)).toHaveLength(items.length);
  const counts: Record<string, number> = {};
  for (const outcome of built.outcomes) {
    const name = outcome.outcome === 'refused' ? outcome.code : outcome.outcome;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  expect(Object.values(counts).reduce((sum, one) => sum + one, 0)).toBe(items.length);
  const routes = built.declarations.flatMap((one) => one.routes).length;
  expect(routes).toBe(counts.taken ?? 0);
  for (const raw of items) expect(JSON.parse(formatRawItem(raw))).toEqual(raw);
  return { counts, listings: built.declarations.length };
}

describe('recorded feeds', () => {
  skipWithout('corpus');

  it('of March 2026: each of 1,000 items has an outcome', async () => {
    const [page] = await listAll(pullFeed({ address: join(CORPUS, 'bazaar-2026-03/resources.json') }));
    expect(page).toMatchObject({ total: 1000, end: { complete: true } });
    expect(count(page?.items ?? [], '2026-03-18T00:00:00.000Z')).toEqual({
      counts: { taken: 955, preview_host: 19, test_network: 17, ephemeral_host: 5, no_amount: 4 },
      listings: 149,
    });
  });

  it('of August 2026: four facilitators, each a feed of its own', () => {
    const recorded: unknown = JSON.parse(readFileSync(join(CORPUS, 'bazaar-2026-08/discovery.json'), 'utf8'));
    const counts = Object.entries(recorded as Record<string, unknown>)
      .filter(([, page]) => typeof page === 'object')
      .map(([name, page]) => {
        const { items } = parseFeedPage(Buffer.from(JSON.stringify(page)), name);
        return [name, count(items, '2026-08-16T00:00:00.000Z').counts];
      });
    expect(counts).toEqual([
      ['cdp', { taken: 3 }],
      ['solvador', { unsupported_network: 2 }],
      ['primev', {}],
      ['near', {}],
    ]);
  });

  it('of one provider, whose resources are objects', async () => {
    const [page] = await listAll(pullFeed({ address: join(CORPUS, 'provider-openapi/well-known-x402.json') }));
    expect(count(page?.items ?? [], '2026-08-22T00:00:00.000Z')).toEqual({ counts: { taken: 170 }, listings: 1 });
  });
});
