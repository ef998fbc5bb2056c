import { describe, expect, it } from 'vitest';
import { makeDeclaration, makeRoute } from '../builders.ts';
import { removeListing } from '../written.ts';
import { CLIENTS } from './clients.ts';
import { makeMany, serveMcp } from './serving.ts';

const SLUG = 'example-prices';
const LISTING = makeDeclaration({
  routes: [makeRoute({ path: '/v1/now' }), makeRoute({ method: 'POST', path: '/v1/forecast/{city}' })],
});

describe.each(Object.entries(CLIENTS))('%s', (_name, connect) => {
  it('is offered one prompt, and its two arguments', async () => {
    const { url } = await serveMcp([LISTING]);
    const client = await connect(url);
    expect(await client.listPrompts()).toEqual([
      expect.objectContaining({
        name: 'pay_for_listed_api',
        arguments: [
          expect.objectContaining({ name: 'slug', required: true }),
          expect.objectContaining({ name: 'route', required: false }),
        ],
      }),
    ]);
  });

  it('gets the safe order in our words, and beside it as data what get_listing answers', async () => {
    const { url } = await serveMcp([LISTING]);
    const client = await connect(url);
    const [words, data, ...more] = await client.getPrompt({ slug: SLUG });
    expect(more).toEqual([]);
    expect([words?.role, data?.role]).toEqual(['user', 'user']);
    const steps = [
      'most that this one call may cost',
      'HTTP 402',
      'check_payment_terms',
      'Sign one',
      'Keep the receipt',
    ];
    const places = steps.map((step) => words?.text.indexOf(step) ?? -1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(0);
    const { structured } = await client.call('get_listing', { slug: SLUG });
    expect(JSON.parse(data?.text ?? '')).toEqual({ listing_data: structured });
  });

  it('gets the one route it names, however that is written', async () => {
    const { url } = await serveMcp([LISTING]);
    const client = await connect(url);
    const [, data] = await client.getPrompt({ slug: SLUG, route: ' post  /v1/forecast/{city}' });
    const { listing, routes, routes_total } = JSON.parse(data?.text ?? '').listing_data;
    expect(routes).toMatchObject([
      { method: 'POST', url: 'https://api.prices.example-provider.com/v1/forecast/{city}' },
    ]);
    // What is said of the listing is of all its routes: the seller is the same.
    expect([listing.verified_routes, routes_total]).toEqual(['0 of 2', 1]);
  });

  it('is told not to pay for what was delisted, and why it was', async () => {
    const { url, catalogue } = await serveMcp([LISTING]);
    const client = await connect(url);
    await removeListing(catalogue, SLUG, { by: 'provider', reason: 'asked_by_provider' });
    const [words, data] = await client.getPrompt({ slug: SLUG });
    expect(words?.text).toContain('do not pay');
    expect(JSON.parse(data?.text ?? '').listing_data).toMatchObject({
      state: 'delisted',
      tombstone: { reason: 'asked_by_provider' },
    });
    expect(data?.text).not.toContain('pay_to');
  });

  it('is told what is wrong with its arguments', async () => {
    const { url, errors } = await serveMcp([LISTING]);
    const client = await connect(url);
    const wrong: [Record<string, string>, string][] = [
      [{ slug: 'absent' }, 'There is no live listing "absent".'],
      [{ slug: SLUG, route: 'GET /v2' }, 'has no such route'],
      [{ slug: SLUG, rout: 'GET /v1/now' }, 'Did you mean route?'],
      [{}, 'The argument slug is missing'],
      [{ slug: 'Not A Slug' }, 'The argument slug cannot take this value'],
    ];
    for (const [args, told] of wrong) {
      const refusal = { code: -32602, message: expect.stringContaining(told) };
      await expect(client.getPrompt(args), told).rejects.toMatchObject(refusal);
    }
    expect(errors).toEqual([]);
  });

  it('completes slug and route while they are typed', async () => {
    const { url } = await serveMcp([...makeMany(120), LISTING]);
    const client = await connect(url);
    const all = await client.complete({ name: 'slug', value: 'numb' });
    expect(all).toMatchObject({ hasMore: true });
    expect(all.values).toEqual(makeMany(100).map(({ slug }) => slug));
    expect(all.total).toBeUndefined();
    expect(await client.complete({ name: 'slug', value: 'Prices' }, SLUG)).toEqual({
      values: [SLUG],
      total: 1,
      hasMore: false,
    });
    expect(await client.complete({ name: 'route', value: 'fore' }, SLUG)).toMatchObject({
      values: ['POST /v1/forecast/{city}'],
    });
    expect(await client.complete({ name: 'route', value: '' }, 'absent')).toMatchObject({ values: [], hasMore: false });
    const unknown = { type: 'ref/prompt', name: 'other' } as const;
    await expect(client.completeFor(unknown, { name: 'slug', value: '' })).rejects.toMatchObject({ code: -32602 });
  });
});
