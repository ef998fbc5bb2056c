import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { makeDeclaration } from '../builders.ts';
import { makeMany, recordAll } from '../mcp/serving.ts';
import { makeCopied } from '../recorded.ts';
import { SITE, serveLive } from './serving.ts';

/** ARD 0.91, section 5.3.2, as far as this service uses its terms. */
const entry = z.strictObject({
  identifier: z.string().regex(/^urn:air:[a-zA-Z0-9.-]+(:[a-zA-Z0-9._-]+)+$/),
  displayName: z.string().min(1),
  type: z.string().min(1),
  url: z.url(),
  description: z.string().optional(),
  tags: z.array(z.string()).optional(),
  updatedAt: z.iso.datetime().optional(),
  metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
});
const answer = z.strictObject({
  results: z.array(entry.extend({ score: z.int().min(0).max(100), source: z.url() })),
  referrals: z.array(z.unknown()).optional(),
  pageToken: z.string().optional(),
});
/** Appendix B, beside what every problem of this service says. */
const refusal = z.looseObject({ status: z.int(), code: z.string(), errorCode: z.string(), message: z.string() });

async function serve(count = 30) {
  const storms = {
    slug: 'storms',
    title: 'Storm Forecasts',
    tagline: 'Where storms go next.',
    category: 'Data' as const,
  };
  const catalogue = await makeCopied(`storms and ${count}`, (made) =>
    recordAll(made, [...makeMany(count), makeDeclaration(storms)]),
  );
  const live = await serveLive(catalogue);
  const post = (body: unknown, headers: Record<string, string> = { 'Content-Type': 'application/json' }) =>
    live.fetch('/search', { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) });
  const search = async (body: object) => {
    const response = await post(body);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    return answer.parse(await response.json());
  };
  const refuse = async (response: Response | Promise<Response>) => {
    const got = await response;
    expect(got.headers.get('content-type')).toBe('application/problem+json');
    return refusal.parse({ ...Object(await got.json()), status: got.status });
  };
  return { ...live, post, search, refuse };
}

describe('POST /search', () => {
  it('answers a need with entries, the best first, each with the route that fits best', async () => {
    const { search } = await serve();
    const { results } = await search({ query: { text: 'where does the storm go next' }, federation: 'none' });
    expect(results[0]).toMatchObject({
      identifier: `urn:air:${new URL(SITE.baseUrl).hostname}:listing:storms`,
      displayName: 'Storm Forecasts',
      url: `${SITE.baseUrl}/agent/listings/storms`,
      tags: ['data', 'base'],
      source: SITE.baseUrl,
      metadata: {
        slug: 'storms',
        verified: false,
        route_method: 'GET',
        route_url: 'https://api.prices.example-provider.com/v1/price/:symbol',
        route_price_usdc: '0.001 base',
        route_cautions: 'never_seen',
      },
    });
    expect(results.length).toBeLessThanOrEqual(10);
    const { results: none } = await search({ query: { text: 'zanzibar grandmother' } });
    expect(none).toEqual([]);
  });

  it('keeps to a price that the need names, and to no other filter in words', async () => {
    const { search } = await serve();
    const list = async (text: string) => {
      const { results } = await search({ query: { text }, pageSize: 50 });
      return results.filter(({ displayName }) => displayName.startsWith('Numbered')).map(({ metadata }) => metadata);
    };
    const all = await list('number');
    const cheap = await list('number under half a cent');
    expect(cheap.length).toBeGreaterThan(0);
    expect(cheap).toHaveLength(all.filter(({ price_min_usdc }) => Number(price_min_usdc) <= 0.005).length);
    expect(await list('free number, verified')).toHaveLength(all.length);
  });

  it('pages through all that fits, none twice', async () => {
    const { search } = await serve();
    const seen: string[] = [];
    let pageToken: string | undefined;
    do {
      const page = await search({ query: { text: 'number' }, pageSize: 7, ...(pageToken && { pageToken }) });
      expect(page.results.length).toBeLessThanOrEqual(7);
      seen.push(...page.results.map(({ identifier }) => identifier));
      pageToken = page.pageToken;
    } while (pageToken !== undefined);
    expect([seen.length, new Set(seen).size]).toEqual([30, 30]);
  });

  it.each([
    [{ type: 'application/json' }, 30],
    [{ type: ['application/mcp-server-card+json'] }, 0],
    [{ publisher: [new URL(SITE.baseUrl).hostname] }, 30],
    [{ publisher: ['elsewhere.example'] }, 0],
    [{ tags: ['solana'] }, 10],
    [{ tags: ['finance', 'nothing'] }, 6],
    [{ tags: ['nothing'] }, 0],
    [{ 'metadata.category': 'Finance', 'metadata.network': ['solana'] }, 2],
    [{ 'metadata.category': ['Finance'], tags: ['data'] }, 0],
    [{ 'metadata.verified': 'true' }, 0],
    [{ 'metadata.verified': 'false' }, 30],
  ])('passes entries by the filter %j', async (filter, count) => {
    const { search } = await serve();
    expect((await search({ query: { text: 'number', filter }, pageSize: 100 })).results).toHaveLength(count);
  });

  it('refuses what it does not know, ignoring no filter, by the codes of the specification and its own', async () => {
    const { post, refuse } = await serve();
    const text = 'number';
    for (const [body, code] of [
      [{}, 'bad_arguments'],
      [{ query: { filter: {} } }, 'bad_arguments'],
      [{ query: { text: '' } }, 'bad_arguments'],
      [{ query: { text: 'x'.repeat(2001) } }, 'bad_arguments'],
      [{ query: { text }, pageSize: 101 }, 'bad_arguments'],
      [{ query: { text }, federation: 'all' }, 'bad_arguments'],
      [{ query: { text }, pageTocken: 'x' }, 'bad_arguments'],
      [{ query: { text }, pageToken: 'bm9uc2Vuc2U' }, 'bad_cursor'],
      [{ query: { text, filter: { colour: ['red'] } } }, 'unsupported_filter'],
      [{ query: { text, filter: { tags: ['finance', 'solana'] } } }, 'unsupported_filter'],
      ['{', 'not_json'],
      ['[]', 'bad_arguments'],
    ] as const) {
      const refused = await refuse(post(body));
      expect([body, refused]).toMatchObject([body, { status: 400, code, errorCode: 'INVALID_ARGUMENT' }]);
    }
  });

  it('is a question like any other: bounded, never stored, open to pages of any site; the page stays at the same address', async () => {
    const { fetch, post } = await serve(1);
    const asked = await post({ query: { text: 'number' } });
    expect(asked.headers.get('cache-control')).toBe('no-store');
    expect(asked.headers.get('access-control-allow-origin')).toBe('*');
    expect(asked.headers.get('x-catalogue-revision')).toBe('1');
    expect((await post({ query: { text: 'x'.repeat(70_000) } })).status).toBe(413);
    const typed = await post({ query: { text: 'number' } }, { 'Content-Type': 'text/plain' });
    expect([typed.status, typed.headers.get('accept-post')]).toEqual([415, 'application/json']);
    const preflight = await fetch('/search', {
      method: 'OPTIONS',
      headers: { 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'content-type' },
    });
    expect(preflight.headers.get('access-control-allow-methods')).toBe('GET,HEAD,POST,OPTIONS');
    const refused = await fetch('/search', { method: 'PUT' });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST, OPTIONS']);
  });
});

describe('GET /agents/{identifier}', () => {
  it('gives each entry that a search or the manifest names, whole and cacheable', async () => {
    const { get, search } = await serve();
    const { results } = await search({ query: { text: 'number' }, pageSize: 3 });
    for (const { identifier, displayName } of results) {
      const response = await get(`/agents/${encodeURIComponent(identifier)}`);
      const found = entry.parse(await response.json());
      expect(found).toMatchObject({ identifier, displayName });
      expect(found.metadata).not.toHaveProperty('route_url');
      expect(response.headers.get('etag')).toBeTruthy();
      expect((await get(new URL(found.url).pathname)).status).toBe(200);
    }
    const { entries } = (await (await get('/.well-known/ard.json')).json()) as { entries: { identifier: string }[] };
    for (const own of entries) expect(await (await get(`/agents/${own.identifier}`)).json()).toEqual(own);
  });

  it('says that there is none, or that this is no identifier', async () => {
    const { get, refuse } = await serve(1);
    const host = new URL(SITE.baseUrl).hostname;
    for (const unknown of ['urn:air:ard-conformance.invalid:probe:not-found', `urn:air:${host}:listing:none`]) {
      const refused = await refuse(get(`/agents/${encodeURIComponent(unknown)}`));
      expect(refused).toMatchObject({ status: 404, errorCode: 'NOT_FOUND' });
    }
    const refused = await refuse(get('/agents/not-a-valid-ard-urn'));
    expect(refused).toMatchObject({ status: 400, code: 'bad_identifier', errorCode: 'INVALID_ARGUMENT' });
  });
});

it('POST /explore says that there are no facets', async () => {
  const { fetch, refuse } = await serve(1);
  const refused = await refuse(fetch('/explore', { method: 'POST', body: '{}' }));
  expect(refused).toMatchObject({ status: 501, code: 'not_implemented' });
});
