import { describe, expect, it } from 'vitest';
import { buildAgentItem } from '../../src/views/listing/item.ts';
import { buildMatchedRoute } from '../../src/views/listing/matched-route.ts';
import { buildRefusedSearchPage, buildSearchPage, buildSearchPath } from '../../src/views/pages/search-page.ts';
import { SITE } from '../http/serving.ts';
import { NOW } from '../records.ts';
import { makeLiveListing } from './listings.ts';

const COUNTS = { live_listings: 1, settlement_verified: 0, as_of: NOW };

describe('the address of a search', () => {
  it('holds what is given, in one order, and nothing that is empty', () => {
    expect(buildSearchPath({})).toBe('/search');
    expect(buildSearchPath({ sort: 'price', network: '', q: 'a&b c' })).toBe('/search?q=a%26b+c&sort=price');
    expect(buildSearchPath({ unknown: 'x' })).toBe('/search');
  });
});

/** What is found where there is nothing to say of the request. */
const FOUND = {
  understood: [],
  notice: undefined,
  answer: undefined,
  next_cursor: undefined,
  counts: COUNTS,
  facets: undefined,
};

describe('the page of a search', () => {
  it('names each filter that is on, with the address without it, which is always of the first page', () => {
    const values = {
      q: 'prices',
      category: 'Finance',
      max_price_usdc: '0.01',
      band: 'thin',
      sort: 'price',
      cursor: 'c',
    };
    const { applied, title } = buildSearchPage(values, { ...FOUND, items: [], total: 0 });
    expect(title).toBe('Search: prices');
    expect(applied).toEqual([
      { text: 'Finance', without: '/search?q=prices&band=thin&max_price_usdc=0.01&sort=price' },
      { text: 'at most 0.01 USDC', without: '/search?q=prices&category=Finance&band=thin&sort=price' },
      { text: 'reliability thin', without: '/search?q=prices&category=Finance&max_price_usdc=0.01&sort=price' },
    ]);
  });

  it('names each filter that the words say, which is off where they stand between quotes', () => {
    const understood = [
      { filter: 'max_price_usdc', value: '0.01', words: ['under 1 cent', 'max $0.01'] },
      { filter: 'sort', value: 'price', words: ['cheapest'] },
    ];
    const q = 'cheapest OCR API under 1 cent, max $0.01';
    const page = buildSearchPage({ q, network: 'base', cursor: 'c' }, { ...FOUND, understood, items: [], total: 0 });
    expect(page.values.q).toBe(q);
    expect(
      page.applied.slice(1).map(({ text, without }) => [text, new URLSearchParams(without.split('?')[1])]),
    ).toEqual([
      [
        'at most 0.01 USDC',
        new URLSearchParams({ q: 'cheapest OCR API "under 1 cent", "max $0.01"', network: 'base' }),
      ],
      ['Lowest price', new URLSearchParams({ q: '"cheapest" OCR API under 1 cent, max $0.01', network: 'base' })],
    ]);
  });

  describe('with counts', () => {
    const list = (...counts: [string, number][]) => counts.map(([value, count]) => ({ value, count }));
    const facets = {
      category: list(['Data', 0], ['Finance', 1200], ['Intelligence', 0], ['Tools', 800], ['Verification', 0]),
      network: list(['base', 2000], ['solana', 300]),
      verified: list(['true', 3], ['false', 1997]),
      band: list(['established', 0], ['thin', 0], ['unscored', 2000]),
      max_price_usdc: list(['0.001', 500], ['0.01', 1500], ['0.1', 1500], ['1', 2000]),
    };
    const found = { ...FOUND, facets, items: [], total: 2000 };

    it('offers each value with how many it leaves, and what leaves fewer as links to the first page of it', () => {
      const { choices, narrowing } = buildSearchPage({ q: 'x', sort: 'price', cursor: 'c' }, found);
      expect(choices.network.map(({ text }) => text)).toEqual(['Base (2,000)', 'Solana (300)']);
      expect(narrowing.map(({ text, count }) => `${text} ${count}`)).toEqual([
        ...['Finance 1,200', 'Tools 800', 'Solana 300', 'Settlement-verified 3', 'Unverified 1,997'],
        ...['at most 0.001 USDC 500', 'at most 0.01 USDC 1,500'],
      ]);
      expect(narrowing[2]?.href).toBe('/search?q=x&network=solana&sort=price');
    });

    it('does not narrow by a filter that is on or said in words, and counts no words', () => {
      const understood = [{ filter: 'network', value: 'solana', words: ['on Solana'] }];
      const { choices, narrowing } = buildSearchPage({ category: 'Tools' }, { ...found, understood });
      expect(choices.category[3]).toEqual({ value: 'Tools', text: 'Tools (800)' });
      expect(choices.network.map(({ text }) => text)).toEqual(['Base', 'Solana']);
      const named = narrowing.map(({ href }) => [...new URLSearchParams(href.split('?')[1]).keys()][1]);
      expect([...new Set(named)]).toEqual(['verified', 'max_price_usdc']);
    });

    it('counts nothing where nothing fits', () => {
      const answer = { isWeak: true, unmatched: [] };
      const { choices, narrowing } = buildSearchPage({ q: 'x' }, { ...found, answer });
      expect([choices.network[0]?.text, narrowing]).toEqual(['Base', []]);
    });
  });

  it('says where nothing fits well, and which words were found nowhere', async () => {
    const items = [buildAgentItem(await makeLiveListing(), SITE)];
    const getDoubts = (answer: { isWeak: boolean; unmatched: string[] }, shown = items) =>
      buildSearchPage({ q: 'x' }, { ...FOUND, items: shown, total: shown.length, answer }).doubts;
    expect(getDoubts({ isWeak: true, unmatched: ['pizza', '<b>'] })).toEqual([
      'Nothing fits all of this; the nearest are listed.',
      'Nothing was found for: pizza, <b>.',
    ]);
    expect(getDoubts({ isWeak: false, unmatched: [] })).toEqual([]);
    expect(getDoubts({ isWeak: true, unmatched: ['pizza'] }, [])).toEqual(['Nothing was found for: pizza.']);
  });

  it('names on each card the route that answers, with its price, and what speaks gravely against it', async () => {
    const listing = await makeLiveListing();
    const [first] = listing.routes;
    if (!first) throw new Error('no route');
    const caution = { code: 'undelivered', severity: 'danger', since: NOW } as const;
    const route = {
      ...{ ...buildMatchedRoute(listing, first), cautions: [caution] },
      ...{ input: 'query {city: string, units?}', outputs: ['temperature', 'wind'] },
    };
    const items = [{ ...buildAgentItem(listing, SITE), route }];
    const { cards } = buildSearchPage({ q: 'x' }, { ...FOUND, items, total: 1 });
    expect(cards[0]?.route).toMatchObject({
      name: `${first.method} ${first.path}`,
      description: first.description,
      price: expect.stringMatching(/^0\.\d+ USDC on Base/),
      isVerified: false,
      fields: 'takes query {city: string, units?}; gives temperature, wind',
      cautions: [{ severity: 'danger', text: expect.stringContaining('nothing delivered') }],
    });
    const plain = buildSearchPage({}, { ...FOUND, items: [buildAgentItem(listing, SITE)], total: 1 });
    expect(plain.cards[0]?.route).toBeNull();
  });

  it('leads on while there is more, and back to the first page from any other', async () => {
    const item = buildAgentItem(await makeLiveListing(), SITE);
    const build = (cursor: Record<string, string>, next: string | undefined) =>
      buildSearchPage({ q: 'x', ...cursor }, { ...FOUND, items: [item], total: 30, next_cursor: next });
    expect(build({}, 'n')).toMatchObject({ first: null, next: '/search?q=x&cursor=n', fault: null });
    expect(build({ cursor: 'n' }, undefined)).toMatchObject({ first: '/search?q=x', next: null });
    expect(build({}, undefined).count).toBe('30 listings, as of 2026-11-20 12:00 UTC');
    expect(build({}, undefined).cards.map(({ href }) => href)).toEqual(['/api/example-prices']);
  });

  it('keeps what was asked where it is refused, and lists nothing', () => {
    const fault = { message: 'The parameter category cannot be "X".', hint: 'It takes Data.' };
    const page = buildRefusedSearchPage({ category: 'X' }, fault);
    expect(page).toMatchObject({ values: { category: 'X' }, fault, cards: [], count: null, next: null });
  });
});
