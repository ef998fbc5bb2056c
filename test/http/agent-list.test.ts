import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildSyntheticDeclaration } from '../../scripts/bench/synthetic.ts';
import { openCatalogue } from '../../src/catalogue/database.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { delistListing } from '../../src/catalogue/write/decisions.ts';
import { agentList } from '../../src/views/listing/query.ts';
import { IDENTITY, makeCatalogue, makeDeclaration, makeFolder, NOW } from '../builders.ts';
import { declareListings, recordDeclaration } from '../written.ts';
import { serveLive } from './serving.ts';

const COUNT = 120;

let many: Buffer;
beforeAll(async () => {
  const catalogue = await openCatalogue(':memory:', { identity: IDENTITY, at: NOW });
  await writeCatalogue(catalogue, NOW, async (writing) => {
    for (let index = 0; index < COUNT; index += 1) await recordDeclaration(writing, buildSyntheticDeclaration(index));
  });
  many = catalogue.engine.sqlite.serialize();
  await catalogue.close();
});

/** Opens a catalogue of its own with so many listings: a copy of one that was written once. */
async function makeMany() {
  const file = join(makeFolder(), 'catalogue.sqlite');
  writeFileSync(file, many);
  return await makeCatalogue(file);
}

describe('GET /agent/list', () => {
  it('answers in the shape of its schema, with the counts of the OpenAPI document', async () => {
    const { get } = await serveLive(await makeMany());
    const body = agentList.parse(await (await get('/agent/list')).json());
    const document = (await (await get('/openapi.json')).json()) as { 'x-catalogue': unknown };
    expect(body.catalogue).toEqual(document['x-catalogue']);
    expect(body.catalogue.source).toBe('https://catalogue.example/agent/list');
    expect(body).toMatchObject({ revision: 1, total: COUNT, filters: { sort: 'name', limit: 100 } });
    expect(body.listings).toHaveLength(100);
  });

  it('has ten listings a page with words, and takes query for q and a price as people write it', async () => {
    const { get } = await serveLive(await makeMany());
    const found = await read(get, '/agent/list?q=data&max_price_usdc=0.01');
    expect(found).toMatchObject({ filters: { q: 'data', max_price_usdc: '0.01', limit: 10 } });
    expect(found.listings).toHaveLength(10);
    for (const price of ['$0.01', '1+cent', '.01'])
      expect(await read(get, `/agent/list?query=data&max_price_usdc=${price}`)).toEqual(found);
    expect((await get('/agent/list?q=data&query=data')).status).toBe(400);
  });

  it.each([
    ['category=Finance', (item: Item) => item.category === 'Finance'],
    ['network=solana', (item: Item) => item.networks.includes('solana')],
    ['verified=false', (item: Item) => !item.payment_verified],
    ['band=unscored', (item: Item) => item.reliability_band === 'unscored'],
    ['max_price_usdc=0.002', (item: Item) => item.price_min_usdc <= 0.002],
    [
      'category=Data&max_price_usdc=0.01&network=base',
      (item: Item) => item.category === 'Data' && item.price_min_usdc <= 0.01,
    ],
  ])('filters by %s: all that match and nothing else', async (filter, isMatch) => {
    const { get } = await serveLive(await makeMany());
    const all = await read(get, '/agent/list?limit=1000');
    const some = await read(get, `/agent/list?limit=1000&${filter}`);
    expect(some.listings).toEqual(all.listings.filter(isMatch));
    expect(some.total).toBe(some.listings.length);
    expect(some.catalogue.live_listings).toBe(COUNT);
  });

  it('finds by network what its sources alone declare, and says so', async () => {
    const source = { kind: 'manifest', name: 'x.yaml', observed_at: null } as const;
    const catalogue = await makeCatalogue();
    await declareListings(catalogue, [makeDeclaration({ source })]);
    const { get } = await serveLive(catalogue);
    const [found] = (await read(get, '/agent/list?network=base')).listings;
    expect(found).toMatchObject({ networks: ['base'], declared_networks: ['base'] });
    expect((await read(get, '/agent/list?network=solana')).total).toBe(0);
  });

  it.each(['sort=name', 'sort=price', 'sort=updated', 'q=weather+forecast'])(
    'pages through %s without losing or repeating any, although listings come and go in between',
    async (order) => {
      const catalogue = await makeMany();
      const { get } = await serveLive(catalogue);
      const whole = (await read(get, `/agent/list?limit=1000&${order}`)).listings.map(({ slug }) => slug);
      const seen: string[] = [];
      let cursor: string | undefined;
      let removed: string | undefined;
      do {
        const page = await read(get, `/agent/list?limit=40&${order}${cursor ? `&cursor=${cursor}` : ''}`);
        seen.push(...page.listings.map(({ slug }) => slug));
        cursor = page.next_cursor;
        if (removed === undefined) {
          removed = whole[10] ?? '';
          const slug = removed;
          await writeCatalogue(catalogue, NOW, async (writing) => {
            await delistListing(writing, slug, { by: 'operator', reason: 'test' });
            for (let index = 9990; index < 10_000; index += 1) {
              await recordDeclaration(writing, buildSyntheticDeclaration(index));
            }
          });
        }
      } while (cursor !== undefined);
      expect(new Set(seen).size).toBe(seen.length);
      expect(whole.filter((slug) => !seen.includes(slug))).toEqual([]);
    },
  );

  it('refuses what it does not know, naming what it does', async () => {
    const { get } = await serveLive(await makeMany());
    const misspelled = await get('/agent/list?categroy=Data');
    expect(misspelled.status).toBe(400);
    expect(misspelled.headers.get('content-type')).toBe('application/problem+json');
    expect(await misspelled.json()).toMatchObject({
      code: 'unknown_parameter',
      hint: expect.stringContaining('Did you mean category?'),
      valid_parameters: expect.arrayContaining(['q', 'category', 'cursor']),
    });
    const long = await (await get(`/agent/list?${'x'.repeat(5000)}=1`)).text();
    expect(long.length).toBeLessThan(1000);
    for (const [query, code] of [
      ['category=Nonsense', 'bad_parameter'],
      ['limit=0', 'bad_parameter'],
      ['limit=1001', 'bad_parameter'],
      ['max_price_usdc=-1', 'bad_parameter'],
      ['verified=yes', 'bad_parameter'],
      ['updated_since=yesterday', 'bad_parameter'],
      ['q=', 'bad_parameter'],
      ['category=Data&category=Tools', 'repeated_parameter'],
      ['cursor=nonsense', 'bad_cursor'],
    ]) {
      const response = await get(`/agent/list?${query}`);
      expect([query, response.status, ((await response.json()) as { code: string }).code]).toEqual([query, 400, code]);
    }
  });

  it('says how much of a request each listing answers, what was found nowhere, and where nothing fits', async () => {
    const catalogue = await makeCatalogue();
    await writeCatalogue(catalogue, NOW, async (writing) => {
      for (const slug of ['alpha', 'beta']) {
        await recordDeclaration(
          writing,
          makeDeclaration({ slug, title: slug, base_url: `https://${slug}.example-provider.com` }),
        );
      }
    });
    const { get } = await serveLive(catalogue);
    const ask = async (q: string) =>
      agentList.parse(await (await get(`/agent/list?q=${encodeURIComponent(q)}`)).json());
    const known = await ask('prices of things');
    expect(known.listings.map(({ match }) => match)).toEqual([1, 1]);
    expect([known.weak, known.unmatched]).toEqual([undefined, undefined]);
    const weak = await ask('prices of zanzibar dentistry');
    expect(weak).toMatchObject({ total: 2, weak: true, unmatched: ['zanzibar', 'dentistry'] });
    expect(weak.notice).toContain('No listing mentions “zanzibar” or “dentistry”.');
    expect(weak.listings[0]?.match).toBeLessThan(0.5);
    expect((await ask('x'.repeat(2000))).total).toBe(0);
    expect([weak.suggested, known.suggested]).toEqual([undefined, undefined]);
  });

  it('reads a domain without its ending, and says so where nothing fits', async () => {
    const { get } = await serveLive(await makeMany());
    const [first] = agentList.parse(await (await get('/agent/list?limit=1')).json()).listings;
    const domain = first?.host.split('.').slice(-2).join('.') ?? '';
    const byDomain = agentList.parse(await (await get(`/agent/list?q=${domain}`)).json());
    expect([byDomain.total > 0, byDomain.unmatched]).toEqual([true, undefined]);
    const nothing = await (await get('/agent/list?q=weather&max_price_usdc=0.000001')).json();
    expect(nothing).toMatchObject({ total: 0, notice: 'Nothing fits this.' });
  });

  it('suggests the filters that a request names, and applies none', async () => {
    const { get } = await serveLive(await makeMany());
    const { filters, suggested, total } = await read(get, '/agent/list?q=forecast+on+Solana,+cheapest+under+%240.01');
    expect(filters).toEqual({ q: 'forecast on Solana, cheapest under $0.01', sort: 'relevance', limit: 10 });
    expect(suggested).toEqual([
      { parameter: 'network', value: 'solana', words: 'on Solana' },
      { parameter: 'sort', value: 'price', words: 'cheapest' },
      { parameter: 'max_price_usdc', value: '0.01', words: 'under $0.01' },
    ]);
    expect(total).toBe((await read(get, '/agent/list?q=forecast')).total);
  });

  it.each([
    ['updated_since=x', 'updated_since takes a date, or a time with its zone, in ISO 8601, such as 2026-11-20 or 2026'],
    ['limit=abc', 'limit takes a whole number from 1 to 1000.'],
    ['limit=0', 'limit takes a whole number from 1 to 1000.'],
    ['limit=1e3', 'limit takes a whole number from 1 to 1000.'],
    ['verified=1', 'verified takes true or false.'],
    ['max_price_usdc=9007199255', 'max_price_usdc takes a decimal amount of USDC, at most 9007199254.740991,'],
    ['max_price_usdc=1e-3', 'with at most six decimals, such as 0.01.'],
    [
      'category=finanse',
      'Did you mean Finance? category takes one of Data, Finance, Intelligence, Tools, Verification.',
    ],
    ['category=data', 'Did you mean Data? category takes one of'],
    [
      'sort=prise',
      'Did you mean price? sort takes one of relevance, name, price, updated, reliability, latency, proof.',
    ],
    ['facets=yes', 'facets takes true or false.'],
    ['network=ethereum', 'network takes one of base, solana.'],
    ['q=', 'q takes 1 to 2000 characters.'],
  ])('says what it takes instead of %s', async (query, hint) => {
    const { get } = await serveLive(await makeCatalogue());
    const problem: { detail: string; hint: string } = await (await get(`/agent/list?${query}`)).json();
    const [name, value] = query.split('=');
    expect(problem.detail).toBe(`The parameter ${name} cannot be "${value}".`);
    expect(problem.hint).toContain(hint);
  });

  it('answers HEAD without a body, a preflight, and 405 with Allow', async () => {
    const { fetch } = await serveLive(await makeMany());
    const head = await fetch('/agent/list', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect((await fetch('/agent/list', { method: 'OPTIONS' })).status).toBe(204);
    const post = await fetch('/agent/list', { method: 'POST', body: '{}' });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });
});

type Item = (typeof agentList)['_output']['listings'][number];

async function read(get: (path: string) => Promise<Response>, path: string) {
  return agentList.parse(await (await get(path)).json());
}
