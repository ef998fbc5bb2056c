import { describe, expect, it } from 'vitest';
import type { Catalogue } from '../../src/catalogue/database.ts';
import { listFindingsAbout } from '../../src/catalogue/read/findings.ts';
import { findListing } from '../../src/catalogue/read/listings.ts';
import { getRevision, writeCatalogue } from '../../src/catalogue/transaction.ts';
import { relistListing } from '../../src/catalogue/write/decisions.ts';
import { readProviderFile } from '../../src/importing/provider-statement.ts';
import type { Declaration } from '../../src/model/declaration.ts';
import { makeCatalogue, makeDeclaration, NOW } from '../builders.ts';
import { listAllChanges } from '../changes.ts';
import { listRepliesAt } from '../replies.ts';
import { makeDocument } from '../sources/openapi/documents.ts';
import { FACTS, openClient } from '../sources/provider-file/statements.ts';
import { declareListings, removeListing } from '../written.ts';
import { type Served, serveDocuments } from './document-server.ts';

const DOOR = '/.well-known/agent-payable.json';

/** Makes a catalogue and a host whose door says what `say` is told. */
async function makeHost(pages: Record<string, Served> = {}) {
  const served = await serveDocuments(pages);
  const { origin } = served;
  const catalogue = await makeCatalogue();
  const client = openClient();
  let looks = 0;
  const now = () => {
    looks += 1;
    return new Date(Date.parse(NOW) + looks * 1000);
  };
  const read = () =>
    readProviderFile({
      client,
      catalogue,
      origin,
      now,
      allowPrivateNetworks: true,
      signal: new AbortController().signal,
    });
  const say = (...listings: unknown[]) => {
    served.pages[DOOR] = { body: { version: 1, listings } };
    return read();
  };
  const list = (overrides: Partial<Declaration> = {}) =>
    declareListings(
      catalogue,
      [
        makeDeclaration({
          source: { kind: 'bazaar', name: 'https://feed.example.org', observed_at: NOW },
          base_url: origin,
          ...overrides,
        }),
      ],
      now().toISOString(),
    );
  const get = (base_url = origin) => findListing(catalogue, { base_url });
  return { ...served, catalogue, read, say, list, get, url: `${origin}${DOOR}`, now };
}

/** Returns whether anything was written between two moments. */
function countWrites(catalogue: Catalogue): number {
  return Number(catalogue.engine.sqlite.prepare('SELECT total_changes()').pluck().get());
}

describe('a host without a statement', () => {
  it.each<[string, Served]>([
    ['not_found', { status: 404 }],
    ['not_found', { status: 410 }],
    ['status_500', { status: 500 }],
    ['status_402', { status: 402, body: { x402Version: 1, accepts: [] } }],
    ['html_page', { type: 'text/html', body: `<!doctype html>${'x'.repeat(200_000)}` }],
    ['another_document', { body: { ok: true } }],
    ['empty', { status: 204 }],
    ['redirected_elsewhere', { status: 302, location: 'https://elsewhere.example/.well-known/agent-payable.json' }],
    ['too_many_redirects', { status: 302, location: DOOR }],
  ])('is left as it is, and nothing is written: %s', async (reason, page) => {
    const { catalogue, list, read, get, url } = await makeHost({ [DOOR]: page });
    await list();
    const writes = countWrites(catalogue);
    expect(await read()).toEqual({
      kind: 'absent',
      url,
      reason,
      ...{ requests: 0, entries: 0, left: 0, findings: [], changed: [], outcomes: [], effects: [] },
    });
    expect([(await get())?.state, countWrites(catalogue)]).toEqual(['live', writes]);
  });

  it('has no provider’s file', async () => {
    const { catalogue } = await makeHost();
    const look = (origin: string, allowPrivateNetworks = true, signal = new AbortController().signal) =>
      readProviderFile({
        client: openClient(),
        catalogue,
        origin,
        now: () => new Date(NOW),
        allowPrivateNetworks,
        signal,
      });
    expect(await look('http://127.0.0.1:1')).toMatchObject({
      kind: 'absent',
      reason: expect.stringMatching(/refused|blocked_port/),
    });
    expect(await look('http://127.0.0.1:9', true, AbortSignal.abort())).toMatchObject({ kind: 'absent' });
  });

  it('whose statement disappears keeps its declarations', async () => {
    const { list, say, pages, read, get, catalogue } = await makeHost();
    await list();
    await say({ listed: false, reason: 'Closed.' });
    delete pages[DOOR];
    const revision = await getRevision(catalogue);
    expect((await read()).kind).toBe('absent');
    expect([(await get())?.state, await getRevision(catalogue)]).toEqual(['delisted', revision]);
  });
});

describe('a provider that asks to be removed', () => {
  it('is removed once with its reason, with the statement as evidence', async () => {
    const { list, say, read, get, catalogue, url } = await makeHost();
    await list();
    const outcome = await say({ listed: false, reason: 'Closed for the <i>winter</i>.' });
    expect(outcome).toMatchObject({
      kind: 'applied',
      changed: ['example-prices'],
      findings: [],
      outcomes: [{ outcome: 'delisted' }],
    });
    expect(await get()).toMatchObject({
      state: 'delisted',
      state_by: 'provider',
      state_reason: 'Closed for the winter.',
    });
    expect(await listAllChanges(catalogue, 1)).toMatchObject([
      {
        kind: 'delisted',
        reason: 'delisted_by_provider',
        detail: { evidence: { statement: { source: url, read_at: expect.any(String) } } },
      },
    ]);
    const writes = countWrites(catalogue);
    expect(await read()).toMatchObject({ kind: 'unchanged', changed: [], outcomes: [{ outcome: 'delisted' }] });
    expect(countWrites(catalogue)).toBe(writes);
  });

  it('stays removed when a feed lists it again, or for the first time', async () => {
    const { list, say, get, catalogue, origin } = await makeHost();
    const first = await say({ listed: false }, { base_url: '/v2', listed: false });
    expect(first).toMatchObject({ kind: 'applied', changed: [], outcomes: [] });
    expect(first.findings.map(({ code }) => code)).toEqual(['provider_kept_out', 'provider_kept_out']);
    expect(await getRevision(catalogue)).toBe(0);
    expect((await list())[0]?.outcome).toBe('delisted');
    expect(await get()).toMatchObject({ state: 'delisted', state_by: 'provider', state_reason: 'provider_asked' });
    expect((await list({ base_url: `${origin}/v1` }))[0]?.outcome).toBe('added');
    expect((await say({ listed: false }, { base_url: '/v2', listed: false })).changed).toEqual([]);
  });

  it('for the origin only learns which listings below it stay, until each is named', async () => {
    const { list, say, origin } = await makeHost();
    await list();
    for (const path of ['/v1', '/v2']) await list({ base_url: `${origin}${path}`, slug: null });
    const { findings, changed } = await say({ listed: false });
    expect(changed).toEqual(['example-prices']);
    expect(findings).toMatchObject([{ code: 'provider_others_stay', severity: 'noted', item: origin }]);
    expect(findings[0]?.message).toContain(`${origin}/v1, ${origin}/v2.`);
    const second = await say({ listed: false }, { base_url: '/v1', listed: false });
    expect(second.findings[0]?.message).toMatch(/base_url: [^,]+\/v2\.$/);
    const third = await say({ listed: false }, { base_url: '/v1', listed: false }, { base_url: '/v2', listed: false });
    expect(third.findings).toEqual([]);
  });

  it('comes back by its own request, and stays when that is repeated', async () => {
    const { list, say, get, catalogue } = await makeHost();
    await list();
    await say({ listed: false });
    expect(await say({ listed: true })).toMatchObject({
      kind: 'applied',
      changed: ['example-prices'],
      outcomes: [{ outcome: 'changed' }],
    });
    expect((await get())?.state).toBe('live');
    expect((await listAllChanges(catalogue)).at(-1)).toMatchObject({
      kind: 'relisted',
      reason: 'relisted_by_provider',
    });
    expect((await say({ listed: true })).kind).toBe('unchanged');
  });

  it('is removed again if the operator put it back against its statement', async () => {
    const { list, say, read, get, catalogue } = await makeHost();
    await list();
    await say({ listed: false });
    await writeCatalogue(catalogue, NOW, (writing) => relistListing(writing, 'example-prices', { by: 'operator' }));
    expect((await get())?.state).toBe('live');
    await read();
    expect(await get()).toMatchObject({ state: 'delisted', state_by: 'provider' });
  });
});

describe("a provider's request to be listed", () => {
  it.each(['operator', 'rule'] as const)('does not undo a removal by the %s, before or after its own', async (by) => {
    const { list, say, get, catalogue } = await makeHost();
    await list();
    await removeListing(catalogue, 'example-prices', { by, reason: 'for cause' });
    const outcome = await say({ listed: true, facts: FACTS });
    expect(outcome.findings.map(({ code }) => code)).toContain('provider_not_lifted');
    await say({ listed: false });
    await say({ listed: true });
    expect(await get()).toMatchObject({ state: 'delisted', state_by: by, state_reason: 'for cause' });
  });

  it('lists a new address with facts', async () => {
    const { say, get, catalogue, url } = await makeHost();
    const outcome = await say({ listed: true, facts: FACTS });
    expect(outcome).toMatchObject({
      kind: 'applied',
      changed: ['tides-of-tests'],
      outcomes: [{ outcome: 'added', slug: 'tides-of-tests' }],
    });
    expect(await get()).toMatchObject({
      state: 'live',
      title: 'Tides of Tests',
      price_min: 2000,
      networks: [{ key: 'base', advertised: false }],
      sources: [{ kind: 'provider', name: url, observed_at: null }],
    });
    expect(await listAllChanges(catalogue)).toMatchObject([
      { kind: 'listed', reason: 'declared_by_provider', detail: { evidence: { statement: { source: url } } } },
      {},
      {},
    ]);
    expect((await say({ listed: true, facts: FACTS })).kind).toBe('unchanged');
  });

  it('corrects the texts of a listing from a feed, as long as it states them', async () => {
    const { list, say, get, catalogue } = await makeHost();
    await list();
    expect((await say({ listed: true, facts: { ...FACTS, name: 'Tides, Corrected' } })).changed).toEqual([
      'example-prices',
    ]);
    expect(await get()).toMatchObject({ title: 'Tides, Corrected', slug: 'example-prices' });
    expect(await say()).toMatchObject({
      kind: 'applied',
      outcomes: [{ outcome: 'withdrawn', slug: 'example-prices' }],
    });
    expect(await get()).toMatchObject({ title: 'Example Prices', state: 'live' });
    expect((await listAllChanges(catalogue)).at(-1)).toMatchObject({ reason: 'statement_withdrawn' });
    expect((await say()).kind).toBe('unchanged');
  });

  it('lists from a document of its own origin, under its own address', async () => {
    const document = makeDocument({ servers: [{ url: '/v1' }], paths: makeDocument().paths });
    const { say, get, pages } = await makeHost({ '/openapi.json': { body: document } });
    expect((await say({ listed: true, openapi: '/openapi.json' })).changed).toEqual(['tides-of-tests']);
    expect(await get()).toMatchObject({
      state: 'live',
      routes: [{ path: '/v1/v1/heights' }],
      sources: [{ kind: 'provider' }],
    });
    expect((await say({ listed: true, openapi: '/openapi.json' })).kind).toBe('unchanged');
    pages['/openapi.json'] = { status: 302, location: '/docs/openapi.json' };
    pages['/docs/openapi.json'] = { body: makeDocument({ ...document, info: { title: 'Tides Two' } }) };
    expect((await say({ listed: true, openapi: '/openapi.json' })).changed).toEqual(['tides-of-tests']);
    expect((await get())?.title).toBe('Tides Two');
  });

  it('also takes a list of x402 resources', async () => {
    const { say, get } = await makeHost({ '/.well-known/x402': { body: { resources: ['/v1/a'] } } });
    expect((await say({ listed: true, openapi: '/.well-known/x402' })).outcomes).toMatchObject([{ outcome: 'held' }]);
    expect(await get()).toMatchObject({ state: 'held', routes: [{ path: '/v1/a' }] });
  });

  it.each<[string, Served | undefined]>([
    ['is not there', undefined],
    ['is broken', { body: '{"openapi": ' }],
    ['lies elsewhere', { status: 302, location: 'https://elsewhere.example/openapi.json' }],
    ['is too large', { body: Buffer.alloc(10 * 1024 * 1024 + 1, ' ') }],
    ['holds nothing payable', { body: makeDocument({ paths: {} }) }],
    ['is of another host altogether', { body: makeDocument({ servers: [{ url: 'https://evil.example' }] }) }],
  ])('keeps what its document said before where it %s', async (_, page) => {
    const { say, get, pages, catalogue, url } = await makeHost({
      '/openapi.json': { body: makeDocument({ servers: undefined }) },
    });
    await say({ listed: true, openapi: '/openapi.json' });
    const revision = await getRevision(catalogue);
    if (page) pages['/openapi.json'] = page;
    else delete pages['/openapi.json'];
    const outcome = await say({ listed: true, openapi: '/openapi.json' });
    expect(outcome.findings.map(({ code }) => code)).toContain('provider_document_failed');
    expect([await getRevision(catalogue), (await get())?.state]).toEqual([revision, 'live']);
    expect((await listFindingsAbout(catalogue, new URL(url).origin)).map(({ code }) => code)).toContain(
      'provider_document_failed',
    );
    expect((await say({ listed: true, openapi: '/openapi.json' })).kind).toBe('unchanged');
  });

  it('for an unknown address without facts creates nothing, and reports that', async () => {
    const { say, get, catalogue } = await makeHost();
    const { findings, outcomes } = await say({ listed: true });
    expect([findings.map(({ code }) => code), outcomes]).toEqual([['provider_nothing_to_list'], []]);
    expect([await get(), await getRevision(catalogue)]).toEqual([undefined, 0]);
  });
});

describe('a statement', () => {
  it('says nothing for another origin, whatever it asks', async () => {
    const { say, list, catalogue } = await makeHost();
    await list({ base_url: 'https://api.victim-of-tests.com', slug: 'victim' });
    const outcome = await say(
      { base_url: 'https://api.victim-of-tests.com', listed: false },
      { base_url: 'https://api.victim-of-tests.com', listed: true, facts: FACTS },
    );
    expect(new Set(outcome.findings.map(({ code }) => code))).toEqual(new Set(['provider_other_origin']));
    expect((await findListing(catalogue, { slug: 'victim' }))?.state).toBe('live');
    expect(await listFindingsAbout(catalogue, 'https://api.victim-of-tests.com')).toEqual([]);
  });

  it('treats each of its listings separately', async () => {
    const { say, list, get, origin } = await makeHost();
    await list();
    await list({ base_url: `${origin}/v2`, slug: 'second' });
    const { changed } = await say(
      { listed: false },
      { base_url: '/v2', listed: true, facts: FACTS },
      { listed: 'maybe' },
    );
    expect(changed.sort()).toEqual(['example-prices', 'second']);
    expect([(await get())?.state, (await get(`${origin}/v2`))?.state]).toEqual(['delisted', 'live']);
  });

  it('that cannot be read changes nothing, and is reported once', async () => {
    const { list, read, pages, get, catalogue, url } = await makeHost();
    await list();
    pages[DOOR] = { body: '{"version": 1' };
    expect(await read()).toMatchObject({
      kind: 'unreadable',
      findings: [{ code: 'provider_file_unreadable', item: url }],
    });
    const writes = countWrites(catalogue);
    expect((await read()).kind).toBe('unreadable');
    expect([(await get())?.state, countWrites(catalogue)]).toEqual(['live', writes]);
    pages[DOOR] = { body: { version: 1, listings: [] } };
    expect((await read()).kind).toBe('applied');
    expect(await listFindingsAbout(catalogue, url)).toEqual([]);
  });

  it('with a broken entry applies the good one, and withdraws nothing', async () => {
    const { list, say, get, origin } = await makeHost();
    await list();
    await list({ base_url: `${origin}/v2`, slug: 'second' });
    await say({ listed: true, facts: { ...FACTS, name: 'Mine' } });
    const broken = { listed: true, facts: { name: 'Mine' } };
    expect((await say(broken, { base_url: '/v2', listed: false })).changed).toEqual(['second']);
    expect([(await get())?.title, (await get(`${origin}/v2`))?.state]).toEqual(['Mine', 'delisted']);
    expect((await say(broken, { base_url: '/v2', listed: false })).kind).toBe('unchanged');
    expect((await say({ base_url: '/v2', listed: false })).outcomes).toContainEqual(
      expect.objectContaining({ outcome: 'withdrawn', slug: 'example-prices' }),
    );
  });

  it('needs no further requests', async () => {
    const { say, asked } = await makeHost({ '/openapi.json': { body: makeDocument({ servers: undefined }) } });
    await say({ listed: true, openapi: '/openapi.json' }, { base_url: '/v1', listed: true, openapi: '/openapi.json' });
    expect(asked).toEqual([DOOR, '/openapi.json']);
  });
});

describe('what readers see', () => {
  const take = (by: 'operator' | 'rule', catalogue: Catalogue) =>
    removeListing(catalogue, 'example-prices', { by, reason: 'for cause' });
  const FACTS_TWO = { ...FACTS, name: 'Tides Two' };

  it('of a listing that comes back says live again, even if its declaration is unchanged', async () => {
    const { list, say } = await makeHost();
    await list();
    await say({ listed: true, facts: FACTS });
    expect((await say({ listed: false, reason: 'Moving.' })).effects).toMatchObject([
      {
        effect: 'removed',
        slug: 'example-prices',
        sentence: 'Removed: /api/example-prices is a tombstone (410) with the reason "Moving.".',
      },
    ]);
    expect((await say({ listed: false, reason: 'Moving.' })).effects[0]?.sentence).toMatch(/^Still removed: /);
    const back = await say({ listed: true, facts: FACTS });
    expect(back).toMatchObject({
      changed: ['example-prices'],
      outcomes: [{ outcome: 'changed' }],
      effects: [{ effect: 'live', sentence: 'Live again at /api/example-prices.' }],
    });
    expect((await say({ listed: true, facts: FACTS })).effects).toMatchObject([
      { effect: 'unchanged', sentence: 'Live at /api/example-prices, as before.' },
    ]);
  });

  it('of a changed listing names the changed parts', async () => {
    const { say } = await makeHost();
    expect((await say({ listed: true, facts: FACTS })).effects).toMatchObject([
      { effect: 'live', sentence: 'Now live at /api/tides-of-tests.' },
    ]);
    const routes = [{ method: 'GET', path: '/v1/heights', price_usdc: '0.003' }];
    const { effects } = await say({ listed: true, facts: { ...FACTS_TWO, routes } });
    expect(effects).toMatchObject([{ effect: 'changed', slug: 'tides-of-tests' }]);
    expect(effects[0]?.sentence).toMatch(/^Live at \/api\/tides-of-tests, changed: (?=.*\btitle\b)(?=.*\bprice\b)/);
    expect((await say()).effects).toMatchObject([
      { slug: 'tides-of-tests', sentence: expect.stringContaining("The provider's file no longer describes it.") },
    ]);
  });

  it.each([
    [
      'operator',
      'Waiting: the operator removed it ("for cause"), and /api/example-prices answers 410 until the operator',
    ],
    [
      'rule',
      'Waiting: a rule removed it ("for cause"), and /api/example-prices answers 410 until a probe sees a valid',
    ],
  ] as const)('of one that the %s removed names who must put it back', async (by, sentence) => {
    const { list, say, catalogue } = await makeHost();
    await list();
    await take(by, catalogue);
    expect((await say({ listed: true, facts: FACTS_TWO })).effects).toMatchObject([
      { effect: 'waiting', sentence: expect.stringContaining(sentence) },
    ]);
  });

  it('of an address without a listing is reported too', async () => {
    const { say, pages } = await makeHost();
    const { effects } = await say({ listed: false }, { base_url: '/v1', listed: true });
    expect(effects).toMatchObject([
      {
        effect: 'kept_out',
        slug: null,
        sentence: expect.stringContaining('Nothing is listed here, and nothing will be'),
      },
      { effect: 'nothing_to_list', slug: null, sentence: expect.stringContaining('no openapi or facts') },
    ]);
    pages['/o.json'] = { status: 500 };
    expect((await say({ listed: true, openapi: '/o.json' })).effects).toMatchObject([
      { effect: 'nothing_to_list', sentence: expect.stringContaining('could not be taken') },
    ]);
    const routes = [{ method: 'GET', path: '/v1/heights' }];
    expect((await say({ listed: true, facts: { ...FACTS, routes } })).effects).toMatchObject([
      { effect: 'held', sentence: expect.stringContaining('no price is known') },
    ]);
  });
});

describe('replies in a statement', () => {
  const OF_ALL = { caution: 'probes_failing', text: 'We are moving house.' };
  const OF_ROUTE = { caution: 'undelivered', route: 'GET /v1/heights', text: 'It was a fault of ours.' };
  const listTexts = async (catalogue: Catalogue, origin: string) =>
    (await listRepliesAt(catalogue, origin)).map(({ text }) => text);

  it('are recorded once, and the same file again writes nothing', async () => {
    const { list, say, catalogue, origin, url } = await makeHost();
    await list();
    const entry = { listed: true, facts: FACTS, replies: [OF_ALL, OF_ROUTE] };
    expect((await say(entry)).effects[0]?.sentence).toContain('2 replies on record');
    expect(await listRepliesAt(catalogue, origin)).toEqual([
      { ...OF_ALL, route: null, at: expect.any(String), source: url },
      { ...OF_ROUTE, at: expect.any(String), source: url },
    ]);
    const writes = countWrites(catalogue);
    expect((await say(entry)).kind).toBe('unchanged');
    expect(countWrites(catalogue)).toBe(writes);
  });

  it('may be alone in an entry, and are removed with it', async () => {
    const { list, say, catalogue, origin, read, pages } = await makeHost();
    await list();
    await say({ listed: true, replies: [OF_ALL, OF_ROUTE] });
    const { kind, effects } = await say({ listed: true, replies: [OF_ALL] });
    expect([kind, effects[0]?.sentence]).toEqual([
      'applied',
      'Live at /api/example-prices, changed: replies. 1 reply on record, each shown beside its caution.',
    ]);
    expect(await listTexts(catalogue, origin)).toEqual([OF_ALL.text]);
    await say({ listed: true, replies: 'none' });
    expect(await listTexts(catalogue, origin)).toEqual([OF_ALL.text]);
    await say({ listed: 'maybe' });
    expect(await listTexts(catalogue, origin)).toEqual([OF_ALL.text]);
    pages[DOOR] = { body: Buffer.alloc(10 * 1024 * 1024, '[') };
    expect((await read()).kind).toBe('unreadable');
    expect(await listTexts(catalogue, origin)).toEqual([OF_ALL.text]);
    expect((await say()).kind).toBe('applied');
    expect(await listTexts(catalogue, origin)).toEqual([]);
  });

  it('say nothing for another origin, and a bad one costs itself alone', async () => {
    const { list, say, catalogue, origin } = await makeHost();
    await list();
    await list({ base_url: 'https://api.victim-of-tests.com', slug: 'victim' });
    const { findings } = await say(
      { listed: true, replies: [OF_ALL, { caution: 'none', text: 'x' }] },
      { base_url: 'https://api.victim-of-tests.com', listed: true, replies: [OF_ALL] },
    );
    expect(findings.map(({ message }) => message.split(' ')[0])).toEqual([
      'listings[0].replies[1].caution:',
      'listings[1]:',
    ]);
    expect(await listTexts(catalogue, origin)).toEqual([OF_ALL.text]);
    expect(await listRepliesAt(catalogue, 'https://api.victim-of-tests.com')).toEqual([]);
  });

  it('about a missing route are kept, with a note', async () => {
    const { say, catalogue, origin } = await makeHost();
    const entry = { listed: true, facts: FACTS, replies: [OF_ROUTE, { ...OF_ROUTE, route: 'GET /v1/gone' }] };
    expect((await say(entry)).findings).toMatchObject([
      { code: 'provider_reply_no_route', severity: 'noted', message: expect.stringContaining('"GET /v1/gone"') },
    ]);
    expect(await listRepliesAt(catalogue, origin)).toHaveLength(2);
    expect((await say(entry)).kind).toBe('unchanged');
  });
});

describe('a statement of several listings', () => {
  const LISTINGS = [
    { base_url: '/one', listed: true, facts: FACTS },
    { base_url: '/two', listed: true, facts: FACTS },
  ];

  it('is applied in one revision, and its hash says that nothing changed', async () => {
    const { catalogue, say, read } = await makeHost();
    expect(await say(...LISTINGS)).toMatchObject({
      kind: 'applied',
      changed: [expect.any(String), expect.any(String)],
    });
    expect(await getRevision(catalogue)).toBe(1);
    const writes = countWrites(catalogue);
    expect(await read()).toMatchObject({ kind: 'unchanged', changed: [] });
    expect(countWrites(catalogue)).toBe(writes);
    expect(await say(...LISTINGS.slice(1))).toMatchObject({ kind: 'applied' });
  });

  it('of which one cannot be recorded is not applied, and the finding says so until it can', async () => {
    const { catalogue, say, read, get, origin } = await makeHost();
    const { sqlite } = catalogue.engine;
    sqlite.exec(`CREATE TRIGGER broken BEFORE INSERT ON listings WHEN NEW.base_url LIKE '%/two'
      BEGIN SELECT RAISE(ABORT, 'broken'); END`);
    const failed = await say(...LISTINGS);
    expect(failed.outcomes.map(({ outcome }) => outcome)).toEqual(['failed', 'failed']);
    expect(failed.findings.map(({ code }) => code)).toContain('not_recorded');
    expect(await get(`${origin}/one`)).toBeUndefined();
    expect(await getRevision(catalogue)).toBe(0);
    sqlite.exec('DROP TRIGGER broken');
    expect(await read()).toMatchObject({ kind: 'applied', findings: [] });
    expect(await get(`${origin}/two`)).toMatchObject({ state: 'live' });
  });

  it('that could not be read for a while is applied again', async () => {
    const { say, pages, read } = await makeHost();
    await say(...LISTINGS);
    const { body } = pages[DOOR] ?? {};
    pages[DOOR] = { body: '{"version": 1, "listings": [' };
    expect(await read()).toMatchObject({ kind: 'unreadable' });
    pages[DOOR] = { body };
    expect(await read()).toMatchObject({ kind: 'applied', findings: [] });
  });
});
