import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { parseListing } from '../../src/catalogue/read/listings.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { recordDeclarations, withdrawDeclarations } from '../../src/catalogue/write/declarations.ts';
import { buildFeedDeclarations } from '../../src/sources/bazaar/feed.ts';
import { parseFeedPage } from '../../src/sources/bazaar/pull.ts';
import { makeCatalogue } from '../builders.ts';

const FEED = join(import.meta.dirname, '../../../shared/corpus/bazaar-2026-03/resources.json');

type Item = Record<string, unknown>;

/** Returns numbers from 0 to 1 that look random and are the same in every run. */
function makeRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Returns an item without its texts: its own, and those of its offers. */
function dropWords(item: Item): Item {
  const { description: _own, serviceName: _name, metadata: _more, ...rest } = item;
  const accepts = (item.accepts as Item[]).map(({ description: _text, extra, ...offer }) => ({ ...offer, extra }));
  return { ...rest, accepts };
}

function changeWords(item: Item, change: (text: string) => string): Item {
  const accepts = (item.accepts as Item[]).map((offer) =>
    typeof offer.description === 'string' ? { ...offer, description: change(offer.description) } : offer,
  );
  return { ...item, accepts };
}

const CHANGES: ((item: Item, random: () => number) => Item)[] = [
  (item) => item,
  dropWords,
  (item, random) => (random() < 0.5 ? dropWords(item) : item),
  (item) => changeWords(item, (text) => text.slice(0, Math.ceil(text.length / 2))),
  (item) => changeWords(item, (text) => `Updated. ${text}`),
  (item) => changeWords(item, () => 'An endpoint of this service.'),
  (item, random) =>
    changeWords(item, (text) =>
      text
        .split(' ')
        .sort(() => random() - 0.5)
        .join(' '),
    ),
];

/** Makes a dated variation of a feed: words dropped or changed, items dropped, in another order, some as they were. */
function vary(items: readonly Item[], seed: number): Item[] {
  const random = makeRandom(seed);
  const lastUpdated = new Date(Date.UTC(2026, 3, 1 + seed)).toISOString();
  const change = CHANGES[seed % CHANGES.length] as (typeof CHANGES)[number];
  const [dropped, mixed] = [[0, 0.1, 0.4][seed % 3] as number, [0, 0.5][seed % 2] as number];
  return items
    .filter(() => random() >= dropped)
    .map((item) => (random() < mixed ? item : { ...change(item, random), lastUpdated }))
    .sort(() => random() - 0.5);
}

/** Tests that so many variations of the feed, one after the other, change no title, no category, no id and no slug. */
export async function testVariations(variations: number): Promise<void> {
  const catalogue = await makeCatalogue();
  // The feed names no services, so those of every third host get a name.
  const items = (parseFeedPage(readFileSync(FEED), 'The feed').items as Item[]).map((item) => {
    const { host } = new URL(String(item.resource));
    return host.length % 3 === 0 ? { ...item, serviceName: `Service of ${host.length} letters` } : item;
  });
  const pull = async (given: readonly Item[], pulledAt: string) => {
    const { declarations } = buildFeedDeclarations(given, { feed: 'feed', pulledAt, allowPrivateNetworks: false });
    await writeCatalogue(catalogue, pulledAt, async (writing) => {
      const recorded = await recordDeclarations(writing, declarations);
      const held = new Set(recorded.map(({ identity }) => identity.id));
      await withdrawDeclarations(writing, { kind: 'bazaar', name: 'feed' }, held);
    });
  };
  const list = async () => {
    const rows = await catalogue.query.selectFrom('listings').select('document').orderBy('id').execute();
    return rows.flatMap(({ document }) => {
      const listing = parseListing(document);
      if (!listing) return [];
      const { id, slug, title, category, routes } = listing;
      return [{ id, names: `${id} ${slug} ${title}`, category, routes: routes.length }];
    });
  };
  await pull(items, '2026-04-01T00:00:00.000Z');
  const before = await list();
  const lost = new Set<string>();
  expect(before).toHaveLength(149);
  for (let seed = 1; seed <= variations; seed++) {
    await pull(vary(items, seed), new Date(Date.UTC(2026, 3, 2 + seed)).toISOString());
    for (const now of await list()) {
      const first = before.find(({ id }) => id === now.id);
      expect(now.names).toBe(first?.names);
      // Of a listing that lost routes for a while, the rest may be about something else.
      if (now.routes !== first?.routes) lost.add(now.id);
      if (!lost.has(now.id)) expect(now).toEqual(first);
    }
  }
}
