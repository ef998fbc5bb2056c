import { describe, expect, it } from 'vitest';
import { selectListings } from '../../src/published/select.ts';
import { addPriceLimit } from '../../src/published/suggested.ts';
import { type ListQuery, listQuery } from '../../src/views/listing/query.ts';
import { makeRoute, makeTerms } from '../builders.ts';
import { makeReadCatalogue } from './catalogues.ts';

const ask = (query: Partial<Record<keyof ListQuery, unknown>>) => listQuery.parse(query);

async function openSearch(...shapes: Parameters<typeof makeReadCatalogue>) {
  const { published, getSnapshot } = (await makeReadCatalogue(...shapes)).reading;
  return (query: Partial<Record<keyof ListQuery, unknown>>) => {
    const selected = selectListings(published, getSnapshot(), ask(query));
    return { ...selected, slugs: selected.listings.map(({ slug }) => slug).sort() };
  };
}

const weather = (amount: number) =>
  makeRoute({ path: '/v1/weather', description: 'The weather.', terms: [makeTerms({ amount })] });

describe('a request in words', () => {
  it('suggests filters, applies none, and is echoed as it came', async () => {
    const find = await openSearch(
      { slug: 'cheap', routes: [weather(1000)] },
      { slug: 'dear', routes: [weather(900_000)] },
    );
    const q = 'cheapest weather on Solana under 1 cent';
    const found = find({ q });
    expect([found.slugs, found.query]).toEqual([['cheap', 'dear'], { q, sort: 'relevance', limit: 10 }]);
    expect(found.suggested).toEqual([
      { parameter: 'sort', value: 'price', words: 'cheapest' },
      { parameter: 'network', value: 'solana', words: 'on Solana' },
      { parameter: 'max_price_usdc', value: '0.01', words: 'under 1 cent' },
    ]);
    expect(find({ q, max_price_usdc: found.suggested[2]?.value }).slugs).toEqual(['cheap']);
  });

  it('suggests no filter that is given', async () => {
    const find = await openSearch();
    expect(find({ q: 'OCR under 1 cent', max_price_usdc: '0.5' }).suggested).toEqual([]);
  });

  it('is answered as without its price, and finds what has no word of its filters', async () => {
    const find = await openSearch(
      { slug: 'skies', routes: [weather(1000)] },
      {
        slug: 'cents',
        tagline: 'One cent for all.',
        routes: [makeRoute({ path: '/v1/jokes', description: 'Jokes.' })],
      },
    );
    const plain = find({ q: 'weather' });
    const priced = find({ q: 'weather under 1 cent' });
    expect([priced.slugs, priced.answer]).toEqual([['skies'], plain.answer]);
    expect([plain.slugs, find({ q: 'fastest verified weather on Solana' }).answer]).toMatchObject([
      ['skies'],
      { isWeak: false, unmatched: [] },
    ]);
  });

  it('lists everything where it is a price alone', async () => {
    const find = await openSearch(
      { slug: 'skies', routes: [weather(1000)] },
      { slug: 'dear', routes: [weather(900_000)] },
    );
    const found = find({ q: 'under 1 cent' });
    expect([found.slugs, found.query.q, found.suggested.length]).toEqual([['dear', 'skies'], 'under 1 cent', 1]);
    expect(find({ q: 'under 1 cent', max_price_usdc: '0.01' }).slugs).toEqual(['skies']);
  });

  it('says that the catalogue is in English where it is not', async () => {
    const find = await openSearch();
    expect(find({ q: '東京の天気' }).notice).toContain('English');
    expect(find({ q: 'Wie wird das Wetter in München' }).notice).toContain('English');
    expect(find({ q: 'weather in München' }).notice).toBeUndefined();
  });

  it('suggests a host where something is listed there', async () => {
    const route = (path: string) => makeRoute({ path, description: 'The weather at a place.' });
    const find = await openSearch(
      { slug: 'skies', routes: [route('/v1/storms')] },
      { slug: 'seas', base_url: 'https://seas.example-provider.com:8443', routes: [route('/v1/waves')] },
    );
    const list = (q: string) => find({ q }).suggested.map(({ parameter, value }) => [parameter, value]);
    expect(list('storms from SKIES.example-provider.com')).toEqual([['host', 'skies.example-provider.com']]);
    expect(list('https://seas.example-provider.com:8443/v1/waves')).toEqual([
      ['host', 'seas.example-provider.com:8443'],
    ]);
    expect(list('weather from https://shop.example.org/v1/storms')).toEqual([]);
    expect(find({ q: 'waves', host: 'skies.example-provider.com' }).total).toBe(0);
    expect(find({ host: 'skies.example-provider.com', path: '/v1/none' }).total).toBe(0);
  });

  it('leads from page to page, of a price alone too', async () => {
    const shapes = [1000, 2000, 900_000].map((amount, index) => ({
      slug: `weather-${index}`,
      routes: [weather(amount)],
    }));
    const find = await openSearch(...shapes);
    for (const q of ['weather under 1 cent', 'under 1 cent']) {
      const found: string[] = [];
      for (let cursor: string | undefined, page = 0; page === 0 || cursor !== undefined; page += 1) {
        const selection = find({ q, limit: 1, ...(cursor !== undefined && { cursor }) });
        found.push(...selection.slugs);
        cursor = selection.next_cursor;
      }
      expect(found.sort()).toEqual(['weather-0', 'weather-1', 'weather-2']);
    }
  });

  it('has its cheapest answer by the route that answers, and what answers little of it last', async () => {
    const route = (path: string, description: string, amount: number) =>
      makeRoute({ path, description, terms: [makeTerms({ amount })] });
    const find = await openSearch(
      { slug: 'dear', routes: [route('/v1/tide', 'Tide tables of a harbour.', 5000), route('/v1/x', 'Jokes.', 1)] },
      { slug: 'cheap', routes: [route('/v1/tide', 'Tide tables of a harbour.', 2000)] },
      { slug: 'other', routes: [route('/v1/rooms', 'Rooms near a harbour.', 10)] },
    );
    const { listings, answer } = find({ q: 'tide tables of a harbour', sort: 'price' });
    expect(listings.map(({ slug }) => slug)).toEqual(['cheap', 'dear', 'other']);
    expect(answer?.matches[0]?.match).toBeGreaterThan(0.5);
  });
});

describe('the price limit of a request whose client has no parameter for it', () => {
  it.each([
    ['weather under 1 cent', '0.01'],
    ['weather for $0.03 a call', '0.03'],
    ['free weather', undefined],
    ['weather on Solana, cheapest first', undefined],
    ['bitcoin price over $100', undefined],
    ['"under 1 cent"', undefined],
  ])('is its number with a unit: %s → %s', (q, limit) => {
    expect(addPriceLimit(ask({ q }))).toEqual(limit === undefined ? { q } : { q, max_price_usdc: limit });
  });

  it('is the one that is given, whatever the words say', () => {
    expect(addPriceLimit(ask({ q: 'weather under 1 cent', max_price_usdc: '0.5' })).max_price_usdc).toBe('0.5');
  });
});
