import { expect, it } from 'vitest';
import { makeDeclaration, makeFolder, makeRoute, makeTerms } from '../builders.ts';
import { recordProbed } from '../sampled.ts';
import { makeSiteFixture } from '../site/site-fixture.ts';
import { declareListings } from '../written.ts';
import { ask, serveSiteFixture } from './running.ts';

const TEMPLATE = '/price/{symbol}';
const SYMBOLS = ['btc', 'eth', 'sol'];
const ALIKE = 20;

const COINS = makeDeclaration({
  slug: 'coins',
  base_url: 'https://api.coins.example-provider.com',
  routes: [
    ...Array.from({ length: ALIKE }, (_, at) => makeRoute({ path: `/call/${at}`, description: 'One text for all.' })),
    ...SYMBOLS.map((symbol) => makeRoute({ path: `/price/${symbol}`, description: 'Price of a coin.' })),
    makeRoute({ path: TEMPLATE, description: 'Price of a coin.' }),
    makeRoute({ path: '/status', description: 'State of the market.', terms: [makeTerms({ amount: 7000 })] }),
  ],
});

async function serveCoins() {
  const fixture = await makeSiteFixture(makeFolder(), { count: 0 });
  await declareListings(fixture.catalogue, [COINS]);
  const server = await serveSiteFixture({ fixture, written: false });
  const read = async (path: string) => (await ask(server, path)).text;
  const readRoutes = async () =>
    JSON.parse(await read('/agent/listings/coins')).listing.routes.map(
      ({ path, folded_under: under }: { path: string; folded_under?: { route: string; because: string } }) =>
        under ? `${path}: ${under.because} of ${under.route}` : path,
    );
  return { ...server, read, readRoutes };
}

it('the document of a listing has each route, those that another stands for last', async () => {
  const { readRoutes, fixture, catchUp } = await serveCoins();
  const folded = (row: string) => [
    ...Array.from({ length: ALIKE }, (_, at) => `/call/${at}`).filter((path) => path !== row),
    ...SYMBOLS.map((symbol) => `/price/${symbol}`),
  ];
  const name = (row: string) =>
    folded(row)
      .map((path) =>
        path.startsWith('/call') ? `${path}: same_text of GET ${row}` : `${path}: template of GET ${TEMPLATE}`,
      )
      .sort();
  const before = await readRoutes();
  expect(before).toHaveLength(COINS.routes.length);
  expect(before.slice(0, 3)).toEqual([TEMPLATE, '/status', '/call/0']);
  expect(before.slice(3).sort()).toEqual(name('/call/0'));
  await recordProbed(fixture.catalogue, 'coins', [{ at: '2026-11-21T12:00:00.000Z' }], '/call/7');
  await catchUp();
  const after = await readRoutes();
  expect(after.slice(0, 3)).toEqual(['/call/7', TEMPLATE, '/status']);
  expect(after.slice(3).sort()).toEqual(name('/call/7'));
});

it('the page and its Markdown have the other routes below the one that stands for them, each with its own address', async () => {
  const { read } = await serveCoins();
  const page = await read('/api/coins');
  expect(page).toContain(`Routes <span class="count">${COINS.routes.length}</span>`);
  const folds = [...page.matchAll(/<details class="route-fold">(.*?)<\/details>/gs)].map(([, fold = '']) => fold);
  const labels = folds.map((fold) => /<summary>(.*?)<\/summary>/.exec(fold)?.[1]);
  expect(labels).toEqual(['3 more routes of this template', '19 more routes of this text']);
  expect(folds.map((fold) => fold.match(/<a href="\/api\/coins\/get-[^"]+">/g)?.length)).toEqual([3, 19]);
  expect(page.match(/<span class="route-words" dir="auto">One text for all/g)?.length).toBe(1);
  expect(folds.join('')).not.toContain('One text for all');
  const texts = (await read('/api/coins.md')).split(/(?=`GET [^`]*` stands for )/);
  expect(texts.slice(1).map((text) => text.split('\n')[0])).toEqual([
    '`GET /price/{symbol}` stands for 3 more routes of this template:',
    '`GET /call/0` stands for 19 more routes of this text:',
  ]);
  expect(texts.slice(1).map((text) => text.match(/- `GET [^`]+`: 0.001 USDC/g)?.length)).toEqual([3, 19]);
});

it('a search answers with the template rather than with an address that says the same', async () => {
  const { read } = await serveCoins();
  const search = async (path: string) => JSON.parse(await read(path));
  const list = await search('/agent/list?q=price%20of%20a%20coin');
  expect(list.listings[0].route.path).toBe(TEMPLATE);
});
