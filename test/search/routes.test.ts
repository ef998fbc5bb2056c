import { describe, expect, it, onTestFinished } from 'vitest';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import type { Declaration } from '../../src/model/declaration.ts';
import { findResources } from '../../src/published/found-resources.ts';
import { readSelected } from '../../src/published/listings.ts';
import { selectListings } from '../../src/published/select.ts';
import type { AgentItem } from '../../src/views/listing/item.ts';
import { listQuery } from '../../src/views/listing/query.ts';
import { makeCatalogue, makeDeclaration, makeRoute, makeTerms, NOW } from '../builders.ts';
import { recordPaid } from '../paid.ts';
import { openTestReading } from '../reading.ts';
import { recordDeclaration, removeListing } from '../written.ts';

const SOLANA = { network: 'solana', asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', pay_to: null } as const;

/** A listing of two routes that have nothing to do with each other. */
const DESK: Partial<Declaration> = {
  slug: 'desk',
  base_url: 'https://desk.example-provider.com',
  title: 'Office desk',
  tagline: 'Small helpers.',
  description: 'Small helpers for every day.',
  routes: [
    makeRoute({
      path: '/v1/sunrise',
      description: 'When the sun rises in a city.',
      terms: [makeTerms({ amount: 1000 })],
    }),
    makeRoute({
      method: 'POST',
      path: '/v1/translate',
      description: 'Translates a letter into another language.',
      input_schema: {
        type: 'object',
        required: ['text'],
        properties: { text: { type: 'string' }, formality: { type: 'string' } },
      },
      output_schema: { type: 'object', properties: { translation: { type: 'string' } } },
      terms: [makeTerms({ amount: 20_000 }), makeTerms({ ...SOLANA, amount: 5000 })],
    }),
  ],
};

const OTHERS: Partial<Declaration>[] = Array.from({ length: 8 }, (_, n) => ({
  slug: `other-${n}`,
  base_url: `https://other-${n}.example-provider.com`,
  title: `Other ${n}`,
  tagline: 'Sells things.',
  description: 'Sells things of all kinds.',
  routes: [makeRoute({ path: '/v1/things', description: 'One thing.' })],
}));

async function open(declarations: readonly Partial<Declaration>[]) {
  const catalogue = await makeCatalogue();
  await writeCatalogue(catalogue, NOW, async (writing) => {
    for (const overrides of [...declarations, ...OTHERS]) await recordDeclaration(writing, makeDeclaration(overrides));
  });
  const reading = await openTestReading(catalogue);
  onTestFinished(() => reading.close());
  const search = (query: { q: string; [filter: string]: unknown }) => {
    const selected = selectListings(reading.published, reading.getSnapshot(), listQuery.parse(query));
    const items: AgentItem[] = readSelected(reading.published, selected).map((item) => JSON.parse(item));
    return { ...selected, items, slugs: items.map(({ slug }) => slug) };
  };
  return { catalogue, reading, search };
}

describe('a listing that is found', () => {
  it('names the route that answers most, with what it costs, takes and gives', async () => {
    const { search } = await open([DESK]);
    expect(search({ q: 'when does the sun rise in Lisbon' }).items[0]?.route).toMatchObject({ path: '/v1/sunrise' });
    expect(search({ q: 'translate a letter' }).items[0]).toMatchObject({
      slug: 'desk',
      route: {
        method: 'POST',
        path: '/v1/translate',
        url: 'https://desk.example-provider.com/v1/translate',
        description: 'Translates a letter into another language.',
        offers: [
          { network: 'solana', price_usdc: 0.005 },
          { network: 'base', price_usdc: 0.02 },
        ],
        verified: false,
        verified_at: null,
        inputs: ['text', 'formality?'],
        input: 'body {text: string, formality?}',
        outputs: ['translation'],
      },
    });
  });

  it('passes the filters by the route that is named, not by some other', async () => {
    const { catalogue, search } = await open([DESK]);
    await recordPaid(catalogue, 'desk', { path: '/v1/sunrise', id: '5f3a0c53-3b6e-4a0e-8d43-000000000001' });
    const find = (filters: object) => search({ q: 'translate a letter', ...filters }).items[0]?.route?.path;
    expect(find({})).toBe('/v1/translate');
    expect(find({ max_price_usdc: '0.005' })).toBe('/v1/translate');
    // The letter is translated for 0.02 on Base; below that there is only the sunrise, which has no word of it.
    expect(find({ max_price_usdc: '0.01', network: 'base' })).toBeUndefined();
    expect(find({ verified: true })).toBeUndefined();
    expect(search({ q: 'sunrise', verified: true }).slugs).toEqual(['desk']);
    expect(search({ q: 'sunrise', network: 'solana' }).slugs).toEqual([]);
  });

  it('passes by its price however high that is', async () => {
    const dear = makeRoute({
      path: '/v1/palace',
      description: 'A palace.',
      terms: [makeTerms({ amount: 6_000_000_000 })],
    });
    const { search } = await open([{ ...DESK, routes: [...(DESK.routes ?? []), dear] }]);
    expect(search({ q: 'palace', max_price_usdc: '6000' }).items[0]?.route?.path).toBe('/v1/palace');
    expect(search({ q: 'palace', max_price_usdc: '5999' }).slugs).toEqual([]);
  });

  it('comes behind one against which nothing grave speaks', async () => {
    const twin = { ...DESK, slug: 'atwin', base_url: 'https://atwin.example-provider.com' };
    const { catalogue, search } = await open([DESK, twin]);
    expect(search({ q: 'sunrise' }).slugs).toEqual(['atwin', 'desk']);
    await recordPaid(catalogue, 'atwin', {
      path: '/v1/sunrise',
      id: '5f3a0c53-3b6e-4a0e-8d43-000000000002',
      status: 500,
    });
    const { slugs, items } = search({ q: 'sunrise' });
    expect(slugs).toEqual(['desk', 'atwin']);
    expect(items[1]?.route?.cautions).toMatchObject([{ code: 'undelivered', severity: 'danger' }]);
    // In another order than relevance none of that counts.
    expect(search({ q: 'sunrise', sort: 'name' }).slugs).toEqual(['atwin', 'desk']);
  });

  it('is shown with the route that has most of the request by itself, though the listing says more of another', async () => {
    const studio = {
      ...{ ...DESK, slug: 'studio', base_url: 'https://studio.example-provider.com', title: 'Speech and text studio' },
      ...{ tagline: 'Speech and text.', description: 'Speech and text of all kinds.' },
      routes: [
        makeRoute({ path: '/v1/inspect', description: 'Inspects a picture.' }),
        makeRoute({ path: '/v1/transcribe', description: 'Transcribes audio.' }),
      ],
    };
    const { search } = await open([studio, DESK]);
    expect(search({ q: 'speech to text' }).items[0]).toMatchObject({
      slug: 'studio',
      route: { path: '/v1/transcribe' },
    });
  });

  it('is not lifted by its many routes, each of which has a little of the request', async () => {
    const words = ['translate', 'letter', 'festive', 'language'];
    const hub = {
      ...{ ...DESK, slug: 'ahub', base_url: 'https://ahub.example-provider.com' },
      routes: Array.from({ length: 40 }, (_, n) =>
        makeRoute({ path: `/v1/${words[n % 4]}-${n}`, description: `Has to do with ${words[n % 4]}.` }),
      ),
    };
    const one = {
      ...DESK,
      slug: 'one',
      base_url: 'https://one.example-provider.com',
      routes: (DESK.routes ?? []).slice(1),
    };
    const { search } = await open([hub, one]);
    const { slugs, items } = search({ q: 'translate a letter into a festive language' });
    expect(slugs).toEqual(['one', 'ahub']);
    expect(items[1]?.match).toBeLessThan(0.7 * (items[0]?.match ?? 0));
  });

  it('is not found any more once it is removed', async () => {
    const { catalogue, search } = await open([DESK]);
    expect(search({ q: 'sunrise' }).total).toBe(1);
    await removeListing(catalogue, 'desk', { by: 'operator', reason: 'test' });
    expect(search({ q: 'sunrise' }).total).toBe(0);
  });
});

describe('what a listing is found by', () => {
  it('is no word of the platform that it runs on', async () => {
    const host = 'lanterns.up.railway.app';
    const { search } = await open([
      { ...DESK, slug: 'lanterns', title: host, provider_name: host, base_url: `https://${host}` },
    ]);
    expect(search({ q: 'lanterns' }).slugs).toEqual(['lanterns']);
    expect(search({ q: 'railway' }).slugs).toEqual([]);
  });

  it('is little of what one of its many routes says where that is said of the whole', async () => {
    const own = 'Reads the handwriting of old letters and gives it as text.';
    const many = Array.from({ length: 6 }, (_, n) =>
      makeRoute({ path: `/v1/errand-${n}`, description: `Errand ${n}.` }),
    );
    const borrowed = { ...DESK, tagline: own, routes: [makeRoute({ path: '/v1/read', description: own }), ...many] };
    const { search } = await open([borrowed]);
    const route = (q: string) => search({ q }).items[0]?.route?.path;
    expect(route('handwriting of old letters')).toBe('/v1/read');
    expect(search({ q: 'handwriting errand-3' }).items[0]?.match).toBeLessThan(
      search({ q: 'handwriting of old letters' }).items[0]?.match ?? 0,
    );
  });
});

describe('a request', () => {
  const PENTEST: Partial<Declaration> = {
    slug: 'pentest',
    base_url: 'https://pentest.example-provider.com',
    title: 'Pentest',
    tagline: 'Pentest of a site.',
    description: 'A pentest.',
    routes: [makeRoute({ path: '/v1/pentest', description: 'A pentest of a site.' })],
  };

  it('is corrected where a word is misspelt, letters swapped too, and not where it is English', async () => {
    const dive = {
      slug: 'dive',
      base_url: 'https://dive.example-provider.com',
      title: 'Dive',
      tagline: 'Cobalt blue.',
    };
    const { search } = await open([{ ...PENTEST, ...dive }, DESK]);
    expect(search({ q: 'translaet' }).slugs).toEqual(['desk']);
    expect(search({ q: 'coblat' }).slugs).toEqual(['dive']);
    expect(search({ q: 'cobolt' }).slugs).toEqual(['dive']);
    expect(search({ q: 'dice' })).toMatchObject({ total: 0, answer: { isWeak: true, unmatched: ['dice'] } });
  });

  it('weighs what is asked for more than what is told beside it, or quoted', async () => {
    const { search } = await open([PENTEST, DESK]);
    const first = (q: string) => search({ q }).slugs[0];
    expect(first('I run a pentest agency. Please translate a letter for me.')).toBe('desk');
    expect(first('I write letters. Can you do a pentest?')).toBe('pentest');
    expect(first('translate "pentest" into German')).toBe('desk');
  });

  it('is answered the worse, the more of it is found nowhere', async () => {
    const { search } = await open([PENTEST, DESK]);
    const getMatch = (q: string) => search({ q }).items[0]?.match ?? 0;
    expect(getMatch('translate a letter')).toBeGreaterThan(0.9);
    expect(getMatch('translate zebra giraffe walrus')).toBeLessThan(getMatch('translate a letter'));
    // Pieces of words that English writes together are no words.
    const spoken = search({ q: "I don't know what it’ll be, but I'm after the giraffe's photo" });
    expect((spoken.answer?.unmatched ?? []).filter((word) => ['don', 't', 'll', 'm', 's'].includes(word))).toEqual([]);
    expect(spoken.answer?.unmatched).toContain('giraffe');
    expect(search({ q: 'translate zebra giraffe walrus' }).answer?.unmatched).toEqual(['zebra', 'giraffe', 'walrus']);
  });
});

describe('the words of a request', () => {
  const WEATHER: Partial<Declaration> = {
    slug: 'skies',
    base_url: 'https://skies.example-provider.com',
    title: 'Skies',
    tagline: 'Weather by the hour.',
    description: 'Weather of the coming days.',
    routes: [makeRoute({ path: '/v1/weather', description: 'Weather at a place.' })],
  };
  const UMBRELLAS: Partial<Declaration> = {
    ...{ slug: 'umbrellas', base_url: 'https://umbrellas.example-provider.com', title: 'Canopy' },
    ...{ tagline: 'An umbrella for everybody.', description: 'Sells one umbrella after the other.' },
    routes: [makeRoute({ path: '/v1/umbrella', description: 'Sells an umbrella.' })],
  };

  it('call up those that APIs use for what they mean, and not the other way round', async () => {
    const { search } = await open([WEATHER, UMBRELLAS]);
    expect(search({ q: 'umbrella' }).slugs).toEqual(['umbrellas', 'skies']);
    expect(search({ q: 'weather' }).slugs).toEqual(['skies']);
  });

  it('ask for a distance by how many miles it is, and for none by miles that are converted', async () => {
    const distances = {
      ...{ slug: 'maths', base_url: 'https://maths.example-provider.com', title: 'Map Maths' },
      ...{ tagline: 'Distances between two places.', description: 'Distances as the crow flies.' },
      routes: [
        makeRoute({
          path: '/v1/distance',
          description: 'Gives the distance between two places.',
          output_schema: { type: 'object', properties: { kilometres: { type: 'number' } } },
        }),
      ],
    };
    const units = {
      ...{ slug: 'tools', base_url: 'https://tools.example-provider.com', title: 'Small Tools' },
      ...{ tagline: 'Counts words and converts lengths.', description: 'Small tools for texts and numbers.' },
      routes: [makeRoute({ path: '/v1/convert', description: 'Converts a length from one unit into another.' })],
    };
    const { search } = await open([distances, units]);
    expect(search({ q: 'convert miles to kilometres' }).slugs[0]).toBe('tools');
    expect(search({ q: 'how many miles from Berlin to Paris' }).slugs).toEqual(['maths']);
  });

  it('are answered by related words behind all that has the words themselves, in any order', async () => {
    const climate = {
      ...{ ...WEATHER, slug: 'aclimate', base_url: 'https://aclimate.example-provider.com', title: 'Breeze' },
      ...{ tagline: 'Rain by the hour.', description: 'Rain of the coming days.' },
      routes: [makeRoute({ path: '/v1/rain', description: 'Rain at a place.', terms: [makeTerms({ amount: 1 })] })],
    };
    const { search } = await open([climate, WEATHER]);
    for (const sort of [undefined, 'price', 'updated', 'reliability']) {
      expect(search({ q: 'weather', sort }).slugs).toEqual(['skies', 'aclimate']);
    }
    expect(search({ q: 'rain', sort: 'price' }).slugs).toEqual(['aclimate', 'skies']);
  });
});

describe('the routes for a request', () => {
  it('come best first whatever listing they are of, and on each page those that follow', async () => {
    const { reading } = await open([
      DESK,
      {
        ...DESK,
        slug: 'letters',
        base_url: 'https://letters.example-provider.com',
        title: 'Letters',
        routes: [makeRoute({ path: '/v1/post', description: 'Sends a letter.' })],
      },
    ]);
    const find = (limit: number, cursor?: string) => {
      const found = findResources(reading.published, reading.getSnapshot(), {
        ...{ query: 'translate a letter', limit },
        ...(cursor !== undefined && { cursor }),
      });
      return { ...found, paths: found.resources.map(({ route }) => route.path) };
    };
    const all = find(20);
    expect(all.paths.slice(0, 2)).toEqual(['/v1/translate', '/v1/post']);
    const paged: string[] = [];
    let cursor: string | undefined;
    do {
      const page = find(1, cursor);
      paged.push(...page.paths);
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    expect(paged).toEqual(all.paths);
  });
});
