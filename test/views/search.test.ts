import { describe, expect, it } from 'vitest';
import { buildAgentItem } from '../../src/views/listing/item.ts';
import { buildMatchedRoute } from '../../src/views/listing/matched-route.ts';
import {
  formatFoundNetworks,
  formatFoundPrice,
  getFoundPath,
  listFoundStandings,
} from '../../src/views/listing/result.ts';
import { getRouteAnchor } from '../../src/views/listing/routes.ts';
import {
  buildSearchPath,
  type FoundSearch,
  formatShown,
  listApplied,
  listCategories,
  listChoices,
  listFilterRemovals,
  listNarrowing,
  listPageLinks,
  listSuggested,
} from '../../src/views/pages/search.ts';
import { SITE } from '../http/serving.ts';
import { NOW } from '../records.ts';
import { makeLiveListing, toPublic } from './listings.ts';

describe('the address of a search', () => {
  it('holds what is given, in one order, and nothing that is empty', () => {
    expect(buildSearchPath({})).toBe('/search');
    expect(buildSearchPath({ sort: 'price', network: '', q: 'a&b c' })).toBe('/search?q=a%26b+c&sort=price');
    expect(buildSearchPath({ unknown: 'x' })).toBe('/search');
  });
});

/** What is found where there is nothing to say of the request. */
const FOUND: FoundSearch = {
  suggested: [],
  notice: undefined,
  answer: undefined,
  facets: undefined,
  results: [],
  total: 0,
  nearby: [],
  outside: undefined,
  as_of: NOW,
};

describe('the page of a search', () => {
  it('names each filter that is on, with the address without it, which is always of the first page', () => {
    const values = {
      q: 'prices',
      category: 'Finance',
      max_price_usdc: '0.01',
      band: 'thin',
      sort: 'price',
      page: '3',
    };
    expect(listApplied(values).map(({ text, rest }) => ({ text, without: buildSearchPath(rest) }))).toEqual([
      { text: 'Finance', without: '/search?q=prices&band=thin&max_price_usdc=0.01&sort=price' },
      { text: 'at most 0.01 USDC', without: '/search?q=prices&category=Finance&band=thin&sort=price' },
      { text: 'reliability thin', without: '/search?q=prices&category=Finance&max_price_usdc=0.01&sort=price' },
    ]);
  });

  it('offers each filter that the words name by a link, whatever the words hold', () => {
    const suggested = [
      { parameter: 'max_price_usdc', value: '0.01', words: 'under 1 cent' },
      { parameter: 'network', value: 'solana', words: 'on Solana' },
      { parameter: 'verified', value: 'true', words: 'verified' },
      { parameter: 'sort', value: 'price', words: 'cheapest' },
      { parameter: 'host', value: 'api.example.com', words: 'from api.example.com' },
    ] as const;
    const q = 'cheapest & verified "OCR" <b>';
    const links = listSuggested({ q, band: 'thin', page: '3' }, suggested);
    expect(links.map(({ text }) => text)).toEqual([
      ...['Only up to 0.01 USDC', 'Only on Solana', 'Only verified', 'Cheapest first', 'Only api.example.com'],
    ]);
    const query = (href: string | undefined) => Object.fromEntries(new URLSearchParams(href?.split('?')[1]));
    expect(query(links[0]?.href)).toEqual({ q, band: 'thin', max_price_usdc: '0.01' });
    expect(query(links[3]?.href)).toEqual({ q, band: 'thin', sort: 'price' });
    const free = [{ parameter: 'max_price_usdc', value: '0', words: 'free' }] as const;
    expect(listSuggested({ q }, free)[0]?.text).toBe('Only free');
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
    const found = { ...FOUND, facets, total: 2000 };

    it('offers each value with how many it leaves, and what leaves fewer as links to the first page of it', () => {
      const narrowing = listNarrowing({ q: 'x', sort: 'price', page: '3' }, found);
      expect(listChoices('network', found).map(({ text }) => text)).toEqual(['Base (2,000)', 'Solana (300)']);
      expect(narrowing.map(({ text, count }) => `${text} ${count}`)).toEqual([
        ...['Finance 1,200', 'Tools 800', 'Solana 300', 'Settlement-verified 3', 'Unverified 1,997'],
        ...['at most 0.001 USDC 500', 'at most 0.01 USDC 1,500'],
      ]);
      expect(narrowing[2]?.href).toBe('/search?q=x&network=solana&sort=price');
    });

    it('does not narrow by a filter that is on, nor by what the words suggest', () => {
      const suggested = [{ parameter: 'network', value: 'solana', words: 'on Solana' }] as const;
      const narrowing = listNarrowing({ category: 'Tools' }, { ...found, suggested });
      expect(listChoices('category', found)[3]).toEqual({ value: 'Tools', text: 'Tools (800)' });
      const named = narrowing.map(({ href }) => [...new URLSearchParams(href.split('?')[1]).keys()][1]);
      expect([...new Set(named)]).toEqual(['verified', 'max_price_usdc']);
    });

    it('counts nothing where nothing fits', () => {
      const weak = { ...found, answer: { isWeak: true, unmatched: [] } };
      expect([listChoices('network', weak)[0]?.text, listNarrowing({ q: 'x' }, weak)]).toEqual(['Base', []]);
    });
  });

  it('names the categories of results, the most frequent first', async () => {
    const item = buildAgentItem(await makeLiveListing(), SITE);
    const results = (['Tools', 'Data', 'Data'] as const).map((category) => {
      return { item: { ...item, category }, product: null };
    });
    expect(listCategories(results)).toEqual(['Data', 'Tools']);
  });

  it('shows the route that answers, with its price, its proof and what speaks against it', async () => {
    const listing = await makeLiveListing();
    const [first] = toPublic(listing).routes;
    if (!first) throw new Error('no route');
    const caution = { code: 'undelivered', severity: 'danger', since: NOW } as const;
    const other = { code: 'price_above_record', severity: 'notice', since: NOW, route: 'GET /b', routes: 1 } as const;
    const route = {
      ...{ ...buildMatchedRoute(toPublic(listing), first), cautions: [caution] },
      ...{ input: 'query {city: string, units?}', outputs: ['temperature', 'wind'] },
    };
    const item = { ...buildAgentItem(listing, SITE), cautions: [other] };
    expect(getFoundPath(item, route)).toBe(`/api/example-prices#${getRouteAnchor(first)}`);
    expect([formatFoundPrice(route), formatFoundNetworks(route)]).toEqual([expect.stringMatching(/^0\.\d+$/), 'Base']);
    expect(listFoundStandings(item, route)).toEqual([
      { tone: 'danger', text: expect.stringMatching(/^failed our paid call on 20/) },
    ]);
    const getProof = (verified_at: string) => listFoundStandings(item, { ...route, verified: true, verified_at })[1];
    expect(getProof(NOW)).toEqual({ tone: 'proved', text: 'verified 2026-11-20' });
    expect(getProof('2025-11-20T12:00:00.000Z')).toEqual({ tone: 'proved', text: 'last proved 2025-11-20' });
    const offers: (typeof route)['offers'] = [
      { network: 'base', price_usdc: 0.001, needs: [] },
      { network: 'solana', price_usdc: 0.002, needs: [] },
    ];
    expect([formatFoundPrice({ offers }), formatFoundNetworks({ offers })]).toEqual(['0.001-0.002', 'Base, Solana']);
  });

  it('says which of all results it shows, and leads to every neighbouring page, the first and the last', async () => {
    const results = [{ item: buildAgentItem(await makeLiveListing(), SITE), product: null }];
    expect(formatShown({ q: 'x' }, { ...FOUND, results, total: 25 })).toBe('25 listings, as of 2026-11-20 12:00 UTC');
    expect(formatShown({ q: 'x', page: '2' }, { ...FOUND, results, total: 26 })).toBe(
      '26–26 of 26 listings, as of 2026-11-20 12:00 UTC',
    );
    expect(listPageLinks({ q: 'x' }, 25)).toEqual([]);
    expect(listPageLinks({ q: 'x', page: '2' }, 30).map((link) => link?.href)).toEqual([
      '/search?q=x',
      '/search?q=x&page=2',
    ]);
    const list = (page: string, total: number) =>
      listPageLinks({ q: 'x', page }, total).map((link) =>
        link === null ? '…' : link.isCurrent ? [link.number] : link.number,
      );
    expect(list('1', 60)).toEqual([[1], 2, 3]);
    expect(list('6', 312)).toEqual([1, '…', 4, 5, [6], 7, 8, '…', 13]);
    expect(list('13', 312)).toEqual([1, '…', 11, 12, [13]]);
    // A gap of a single page is one, too.
    expect(list('5', 312)).toEqual([1, '…', 3, 4, [5], 6, 7, '…', 13]);
    expect(list('4', 312)).toEqual([1, 2, 3, [4], 5, 6, '…', 13]);
  });

  it('offers searches with one filter less, and without any', () => {
    const removals = listFilterRemovals({ q: 'x', network: 'solana', band: 'thin' });
    expect(removals.map(({ text, rest }) => [text, buildSearchPath(rest)])).toEqual([
      ['Solana', '/search?q=x&band=thin'],
      ['reliability thin', '/search?q=x&network=solana'],
      ['all filters', '/search?q=x'],
    ]);
  });
});
