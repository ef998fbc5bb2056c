import { describe, expect, it } from 'vitest';
import { selectListings } from '../../src/published/select.ts';
import { understand as understandIn } from '../../src/published/understood.ts';
import { type ListQuery, listQuery } from '../../src/views/listing/query.ts';
import { makeRoute, makeTerms } from '../builders.ts';
import { makeReadCatalogue } from './catalogues.ts';

const understand = async (query: ListQuery) => {
  const { published, getSnapshot } = (await makeReadCatalogue()).reading;
  return understandIn(query, published, getSnapshot());
};
const ask = (query: Partial<Record<keyof ListQuery, unknown>>) => listQuery.parse(query);

describe('a request in words', () => {
  it('says filters, and what remains is searched for', async () => {
    const { query, understood, notice } = await understand(ask({ q: 'cheapest weather API on Solana under 1 cent' }));
    expect(query).toEqual(ask({ q: 'weather API', sort: 'price', network: 'solana', max_price_usdc: '0.01' }));
    expect(understood).toContainEqual({ filter: 'max_price_usdc', value: '0.01', words: ['under 1 cent'] });
    expect(notice).toBeUndefined();
  });

  it('says nothing against a filter that is given, and is searched for without the words that say it', async () => {
    const { query, understood } = await understand(ask({ q: 'OCR under 1 cent', max_price_usdc: '0.5' }));
    expect([query.max_price_usdc, query.q, understood]).toEqual(['0.5', 'OCR', []]);
  });

  it('finds and counts the same where a filter is given that its words say, too', async () => {
    const route = (amount: number) =>
      makeRoute({ path: '/v1/weather', description: 'The weather.', terms: [makeTerms({ amount })] });
    const { published, getSnapshot } = (
      await makeReadCatalogue(
        { slug: 'cheap', routes: [route(1000)] },
        { slug: 'dear', routes: [route(900_000)] },
        {
          slug: 'cents',
          tagline: 'One cent for all.',
          routes: [makeRoute({ path: '/v1/jokes', description: 'Jokes.' })],
        },
      )
    ).reading;
    const find = (query: Partial<Record<keyof ListQuery, unknown>>) => {
      const selected = selectListings(
        published,
        getSnapshot(),
        ask({ q: 'weather under 1 cent', facets: true, ...query }),
      );
      return { total: selected.total, facets: selected.facets, unmatched: selected.answer?.unmatched };
    };
    expect(find({ max_price_usdc: '0.01' })).toEqual(find({}));
    expect(find({})).toMatchObject({ total: 1, unmatched: [] });
  });

  it('says orders, which are no words that nothing is found for', async () => {
    const { published, getSnapshot } = (
      await makeReadCatalogue({
        slug: 'skies',
        routes: [makeRoute({ path: '/v1/w', description: 'Weather forecast.' })],
      })
    ).reading;
    const find = (q: string) => selectListings(published, getSnapshot(), ask({ q }));
    expect(find('fastest weather forecast')).toMatchObject({ query: { sort: 'latency' }, answer: { unmatched: [] } });
    expect(find('most recently verified weather')).toMatchObject({
      query: { sort: 'proof' },
      answer: { unmatched: [] },
    });
    expect(find('unverified weather api').query.verified).toBe(false);
  });

  it('may be filters alone', async () => {
    const { query } = await understand(ask({ q: 'verified APIs on Base' }));
    expect(query).toMatchObject({ network: 'base', verified: true });
  });

  it('says that the catalogue is in English where it is not', async () => {
    expect((await understand(ask({ q: '東京の天気' }))).notice).toContain('English');
    expect((await understand(ask({ q: 'Wie wird das Wetter in München' }))).notice).toContain('English');
    expect((await understand(ask({ q: 'weather in München' }))).notice).toBeUndefined();
  });

  it('that points at a host or a path finds what is there, and names the route', async () => {
    const route = (path: string) => makeRoute({ path, description: 'The weather at a place.' });
    const { published, getSnapshot } = (
      await makeReadCatalogue(
        { slug: 'skies', routes: [route('/v1/storms'), route('/v1/weather/{place}')] },
        { slug: 'winds', routes: [route('/v1/weather/Lisbon')] },
        { slug: 'seas', base_url: 'https://seas.example-provider.com:8443', routes: [route('/v1/waves')] },
      )
    ).reading;
    const find = (query: Partial<Record<keyof ListQuery, unknown>>) => {
      const { listings, answer, ...selection } = selectListings(published, getSnapshot(), ask(query));
      return { ...selection, found: listings.map(({ slug }, at) => [slug, answer?.matches[at]?.position]) };
    };
    const host = 'skies.example-provider.com';
    const url = `https://${host}/v1/weather/Lisbon?unit=c`;
    expect(find({ q: url })).toMatchObject({
      query: { host, path: '/v1/weather/Lisbon?unit=c' },
      understood: [
        { filter: 'host', value: host, words: [url] },
        { filter: 'path', value: '/v1/weather/Lisbon?unit=c', words: [url] },
      ],
      total: 1,
      found: [['skies', 1]],
    });
    expect(find({ q: `storms from ${host}` }).found).toEqual([['skies', 0]]);
    expect(find({ q: `weather from ${host.toUpperCase()}` }).total).toBe(1);
    expect(find({ q: 'GET /v1/weather/Lisbon' })).toMatchObject({ total: 1, found: [['winds', 0]] });
    expect(find({ q: 'weather at https://seas.example-provider.com:8443/' }).found).toEqual([['seas', 0]]);
    expect(find({ host: 'skies.example-provider.com', path: '/v1/none' }).total).toBe(0);
    expect(find({ host, q: 'waves' }).total).toBe(0);
    // Nobody is listed there, so it is what the call is about.
    const other = find({ q: 'weather from https://shop.example.org/v1/storms' });
    expect(other).toMatchObject({ understood: [], total: 3 });
  });

  it('leads from page to page by the same filters', async () => {
    const { published, getSnapshot } = (
      await makeReadCatalogue(
        ...[1000, 2000, 900_000, 3000, 800_000].map((amount, index) => ({
          slug: `weather-${index}`,
          routes: [makeRoute({ path: '/v1/weather', description: 'The weather.', terms: [makeTerms({ amount })] })],
        })),
      )
    ).reading;
    const found: string[] = [];
    for (let cursor: string | undefined, page = 0; page === 0 || cursor !== undefined; page += 1) {
      const query = ask({ q: 'weather under 1 cent', limit: 1, ...(cursor !== undefined && { cursor }) });
      const selection = selectListings(published, getSnapshot(), query);
      expect([selection.total, selection.query.max_price_usdc]).toEqual([3, '0.01']);
      found.push(...selection.listings.map(({ slug }) => slug));
      cursor = selection.next_cursor;
    }
    expect(found.sort()).toEqual(['weather-0', 'weather-1', 'weather-3']);
  });

  it('has its cheapest answer by the route that answers, and what answers little of it last', async () => {
    const route = (path: string, description: string, amount: number) =>
      makeRoute({ path, description, terms: [makeTerms({ amount })] });
    const { published, getSnapshot } = (
      await makeReadCatalogue(
        { slug: 'dear', routes: [route('/v1/tide', 'Tide tables of a harbour.', 5000), route('/v1/x', 'Jokes.', 1)] },
        { slug: 'cheap', routes: [route('/v1/tide', 'Tide tables of a harbour.', 2000)] },
        { slug: 'other', routes: [route('/v1/rooms', 'Rooms near a harbour.', 10)] },
      )
    ).reading;
    const { listings, answer } = selectListings(published, getSnapshot(), ask({ q: 'cheapest tide tables API' }));
    expect(listings.map(({ slug }) => slug).slice(0, 2)).toEqual(['cheap', 'dear']);
    expect(answer?.matches[0]?.match).toBeGreaterThan(0.5);
    const weak = ask({ q: 'tide tables of a harbour', sort: 'price' });
    expect(selectListings(published, getSnapshot(), weak).listings.map(({ slug }) => slug)).toEqual([
      'cheap',
      'dear',
      'other',
    ]);
  });
});
