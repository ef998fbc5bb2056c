import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { importFeed } from '../../src/importing/feed.ts';
import { BAZAAR } from '../../src/sources/bazaar/feed.ts';
import { makeCatalogue, NOW } from '../builders.ts';
import { makeCommands } from '../cli/running.ts';
import { answerPages, makeItem, makeItems, serveFeed } from './feed-server.ts';

const ON_LOOPBACK = { ALLOW_PRIVATE_NETWORKS: 'on' };

describe('importing a feed', () => {
  it('takes every page, and the same feed again changes nothing', async () => {
    const { address } = await serveFeed(answerPages(() => makeItems(230)));
    const { run, runJson } = makeCommands(ON_LOOPBACK);
    const { code, json, stderr } = await runJson('import', '--bazaar', address);
    expect(code).toBe(0);
    expect(json).toMatchObject({
      feed: address,
      complete: true,
      next: null,
      items: { received: 230, taken: 230, duplicates: 0, refused: 0 },
      listings: { added: 230, withdrawn: 0 },
      revision: { before: 0, after: 3 },
    });
    expect(stderr).toMatch(/^Pulling: 230 of 230 items/m);
    expect(stderr).toMatch(/^Recording: 230 of 230 listings/m);
    const again = await runJson('import', '--bazaar', address);
    expect(again.json).toMatchObject({ listings: { unchanged: 230 }, revision: { before: 3, after: 3 } });
    expect((await run(['status'])).stdout).toContain(`\t230\t${address}\n`);
  });

  it('groups the items of one origin, merges repeated routes and refuses by reason, losing nothing', async () => {
    const { folder, runJson } = makeCommands();
    const file = join(folder, 'feed.json');
    const dearer = makeItem('one.provider-of-tests.com', '/v1/a', { lastUpdated: '2026-11-11T00:00:00.000Z' });
    const items = [
      makeItem('one.provider-of-tests.com', '/v1/a'),
      makeItem('one.provider-of-tests.com', '/v1/b'),
      makeItem('one.provider-of-tests.com', '/v1/b'),
      dearer,
      makeItem('two.provider-of-tests.com', '/v1/a', { accepts: [] }),
      'no item at all',
    ];
    writeFileSync(file, JSON.stringify({ items }));
    const { code, json } = await runJson('import', '--bazaar', file);
    expect(code).toBe(0);
    expect(json).toMatchObject({
      feed: expect.stringMatching(/^feed\.json#/),
      items: { received: 6, taken: 2, duplicates: 2, refused: 2 },
      listings: { added: 1 },
    });
    const refused = json.reasons.filter(({ severity }: { severity: string }) => severity === 'refused');
    expect(refused.map(({ code: reason, count }: { code: string; count: number }) => [reason, count])).toEqual([
      ['no_offers', 1],
      ['not_an_item', 1],
    ]);
    const { json: found } = await runJson('why', 'https://two.provider-of-tests.com/v1/a');
    expect(found).toMatchObject({ slug: null, findings: [{ code: 'no_offers', source: json.feed }] });
  });

  it('from a file without dates is the same again, and nothing counts as seen', async () => {
    const { folder, runJson } = makeCommands();
    const file = join(folder, 'feed.json');
    writeFileSync(
      file,
      JSON.stringify({ items: [makeItem('one.provider-of-tests.com', '/v1/a', { lastUpdated: null })] }),
    );
    utimesSync(file, new Date('2026-11-05T00:00:00Z'), new Date('2026-11-05T00:00:00Z'));
    await runJson('import', '--bazaar', file);
    expect((await runJson('import', '--bazaar', file)).json.listings).toMatchObject({ unchanged: 1 });
    const { networks, sources } = (await runJson('show', 'one-provider-of-tests-com')).json.listing;
    expect(networks[0]).toMatchObject({ advertised: false, last_seen_at: null });
    expect(sources).toMatchObject([{ kind: 'bazaar', observed_at: null }]);
  });

  it('withdraws what a complete pull no longer holds, and nothing when the feed is suddenly bare', async () => {
    let items = makeItems(3);
    const { address } = await serveFeed(answerPages(() => items));
    const { runJson } = makeCommands(ON_LOOPBACK);
    await runJson('import', '--bazaar', address);
    items = items.slice(1);
    const { code, json } = await runJson('import', '--bazaar', address);
    expect(code).toBe(0);
    expect(json).toMatchObject({ listings: { unchanged: 2, withdrawn: 1 } });
    expect(json.outcomes.at(-1)).toMatchObject({ outcome: 'withdrawn', slug: 'host0000-provider-of-tests-com' });
    const { json: gone } = await runJson('show', 'host0000-provider-of-tests-com');
    expect(gone.listing.networks[0]).toMatchObject({ key: 'base', advertised: false, last_seen_at: null });
    // Nobody offers it any more, and what it cost stays known.
    expect(gone.listing.routes[0].terms).toMatchObject([{ amount: 5000, current: false }]);
    expect(gone.listing).toMatchObject({ state: 'live', price_min: 5000 });
    items = [];
    const bare = await runJson('import', '--bazaar', address);
    expect(bare.code).toBe(1);
    expect(bare.json).toMatchObject({
      complete: false,
      listings: { withdrawn: 0 },
      next: expect.stringMatching(/nothing was withdrawn/),
    });
  });
});

describe('a saved feed that is older than what is on record of it', () => {
  const HOST = 'one.provider-of-tests.com';
  const day = (number: number) => `2026-11-0${number}T00:00:00.000Z`;

  function makeSaved() {
    const { folder, runJson } = makeCommands();
    const save = (items: readonly unknown[], ...options: string[]) => {
      const file = join(folder, 'feed.json');
      writeFileSync(file, JSON.stringify({ items }));
      return runJson('import', '--bazaar', file, '--source', 'a feed', ...options);
    };
    const find = async (host = HOST) => (await runJson('show', host.replaceAll('.', '-'))).json.listing;
    return { save, find };
  }

  const { accepts } = makeItem(HOST) as { accepts: object[] };
  const price = (amount: string) => accepts.map((offer) => ({ ...offer, amount, description: '' }));
  const newer = makeItem(HOST, '/v1/a', { lastUpdated: day(9), accepts: price('9000'), description: '' });
  const older = [
    makeItem(HOST, '/v1/a', { lastUpdated: day(1), accepts: price('1000'), description: 'Tides of every port.' }),
    makeItem('two.provider-of-tests.com', '/v1/a', { lastUpdated: day(1) }),
  ];

  it('adds words, undoes nothing, and the report says what was kept', async () => {
    const { save, find } = makeSaved();
    await save([newer]);
    const { code, json } = await save(older);
    expect(code).toBe(0);
    expect(json).toMatchObject({ complete: true, listings: { added: 0, changed: 1, withdrawn: 0 } });
    expect(json.next).toBe(
      `This file is older than what is on record of the feed: it was last seen ${day(1)}, and the feed ${day(9)}. ` +
        '1 listing kept what was seen later, 1 that the feed no longer had were left out, and nothing was withdrawn.',
    );
    expect(await find()).toMatchObject({
      price_max: 9000,
      routes: [{ description: 'Tides of every port.' }],
      sources: [{ observed_at: day(9) }],
    });
    expect(await find('two.provider-of-tests.com')).toBeUndefined();
    expect((await save(older)).json.listings).toMatchObject({ changed: 0 });
  });

  it('in parts keeps those listings, and not a route that only is gone', async () => {
    const { save, find } = makeSaved();
    await save([newer, makeItem(HOST, '/v1/b', { lastUpdated: day(5), accepts: price('5000') })]);
    const other = makeItem('two.provider-of-tests.com', '/v1/a', { lastUpdated: '2026-11-11T00:00:00.000Z' });
    const { json } = await save([other, older[0]]);
    expect(json).toMatchObject({
      next: expect.stringMatching(/^Parts of this file are older/),
      listings: { added: 1 },
    });
    expect(await find()).toMatchObject({ price_max: 9000, routes: [{}, {}] });
    await save([other, makeItem(HOST, '/v1/b', { lastUpdated: day(5), accepts: price('5000') })]);
    expect(await find()).toMatchObject({ price_max: 5000, routes: [{ path: '/v1/b' }] });
  });
});

describe('a pull that does not reach its end', () => {
  it('records nothing of a feed that fails but the reason, and begins again', async () => {
    const items = makeItems(250);
    const answer = answerPages(() => items);
    let isBroken = true;
    const { address, offsets } = await serveFeed((request, response, page) => {
      if (!isBroken || page.offset === 0) return answer(request, response, page);
      response.statusCode = 403;
      response.end();
    });
    const { run, runJson } = makeCommands(ON_LOOPBACK);
    const failed = await run(['import', '--bazaar', address]);
    expect(failed.code).toBe(1);
    expect(failed.stdout).toBe('');
    expect(failed.stderr).toMatch(/^error: .* status 403\.\nhint: Check the address, or try again later\.$/m);
    expect((await runJson('status')).json).toMatchObject({
      listings: { live: 0 },
      feeds: [{ completed_at: null, items: 0, failure: { message: expect.stringMatching(/status 403/) } }],
    });
    isBroken = false;
    const asked = offsets.length;
    const { code, json } = await runJson('import', '--bazaar', address);
    expect(code).toBe(0);
    expect(offsets[asked]).toBe(0);
    expect(json).toMatchObject({ items: { received: 250, taken: 250, duplicates: 0 }, listings: { added: 250 } });
  });

  it('counts an item that two pages brought once, and one that came twice in a page twice', async () => {
    const items = makeItems(3);
    const { address } = await serveFeed((_request, response, { offset }) => {
      const pages = [[items[0], items[1], items[1]], [items[1], items[2]], []];
      response.end(JSON.stringify({ items: pages[offset === 0 ? 0 : offset < 4 ? 1 : 2] }));
    });
    const { json } = await makeCommands(ON_LOOPBACK).runJson('import', '--bazaar', address);
    expect(json.items).toEqual({ received: 4, taken: 3, duplicates: 1, refused: 0 });
  });

  it('stops at a safe point when told to, and reports what is done', async () => {
    const stopping = new AbortController();
    const answer = answerPages(() => makeItems(400));
    const { address } = await serveFeed((request, response, page) => {
      if (page.offset > 100) stopping.abort();
      answer(request, response, page);
    });
    const { run, runJson } = makeCommands(ON_LOOPBACK);
    const stopped = await run(['import', '--bazaar', address, '--json'], { signal: stopping.signal });
    expect(stopped.code).toBe(1);
    const report = JSON.parse(stopped.stdout);
    expect(report).toMatchObject({
      complete: false,
      items: { received: 0 },
      listings: { added: 0 },
      next: expect.stringMatching(/it begins again/),
    });
    expect((await runJson('import', '--bazaar', address)).json).toMatchObject({
      complete: true,
      listings: { added: 400 },
    });
  });

  it('keeps what is recorded where it is stopped after that', async () => {
    const { address } = await serveFeed(answerPages(() => makeItems(150)));
    const catalogue = await makeCatalogue();
    const config = readConfig(ON_LOOPBACK);
    const now = () => new Date(NOW);
    const importStopping = (stopping: AbortController | undefined) =>
      importFeed(catalogue, address, {
        format: BAZAAR,
        config,
        now,
        signal: stopping?.signal ?? new AbortController().signal,
        openProgress: (label) => ({
          update: () => label === 'Recording' && stopping?.abort(),
          stop: () => undefined,
        }),
      });
    const stopped = await importStopping(new AbortController());
    expect(stopped).toMatchObject({ complete: false, listings: { added: 100 }, items: { taken: 150 } });
    const ended = await importStopping(undefined);
    expect(ended).toMatchObject({ complete: true, listings: { added: 50, unchanged: 100 }, items: { taken: 150 } });
  });
});

describe('a feed that cannot be opened', () => {
  it('leaves no pull behind, and a hint that helps', async () => {
    const { address } = await serveFeed((_, response) => {
      response.statusCode = 403;
      response.end();
    });
    const { run, runJson } = makeCommands(ON_LOOPBACK);
    for (const [feed, hint] of [
      [address, 'Check the address, or try again later.'],
      ['https://feed.example.invalid/discovery/resources', 'Check the name of the host, and that'],
    ] as const) {
      const { code, stderr } = await run(['import', '--bazaar', feed]);
      expect(code).toBe(1);
      expect(stderr).toMatch(/^error: .*\.\nhint: /m);
      expect(stderr).toContain(hint);
      expect(stderr).not.toContain('go on');
    }
    expect((await runJson('status')).json.feeds).toMatchObject(
      [address, 'https://feed.example.invalid/discovery/resources'].map((feed) => ({ feed, pages: 0, items: 0 })),
    );
  });

  it('is shown and in the metrics with the first try, for as long as somebody tries', async () => {
    const { address } = await serveFeed((_, response) => {
      response.statusCode = 403;
      response.end();
    });
    let at = NOW;
    const { run, runJson } = makeCommands(ON_LOOPBACK, () => new Date(at));
    await run(['import', '--bazaar', address]);
    expect((await runJson('status')).json.feeds).toEqual([
      {
        ...{ feed: address, completed_at: null, items: 0, pages: 0 },
        failure: { at: NOW, message: expect.stringMatching(/status 403.*\(bad_status\)/) },
      },
    ]);
    expect((await run(['status'])).stdout).toMatch(/failed: .* status 403/);
    const sample = `catalogue_feed_failing{feed="${address}"} 1`;
    at = '2026-11-21T12:30:00.000Z';
    expect((await run(['metrics'])).stdout.split('\n')).toContain(sample);
    await run(['import', '--bazaar', address]);
    at = '2026-11-22T18:29:00.000Z';
    const { stdout } = await run(['metrics']);
    expect(stdout.split('\n')).toContain(sample);
    expect(stdout).not.toMatch(/^catalogue_feed_completed_timestamp_seconds/m);
    at = '2026-11-22T18:31:00.000Z';
    expect((await run(['metrics'])).stdout).not.toMatch(/^catalogue_feed_failing/m);
    expect((await runJson('status')).json.feeds).toEqual([]);
  });

  it('though it could before, is shown with the reason until it can again', async () => {
    let status = 200;
    const answer = answerPages(() => makeItems(3));
    const { address } = await serveFeed((request, response, page) => {
      if (status === 200) return answer(request, response, page);
      response.statusCode = status;
      response.end();
    });
    const { run, runJson } = makeCommands(ON_LOOPBACK);
    await run(['import', '--bazaar', address]);
    for (const failing of [403, 404]) {
      status = failing;
      expect((await run(['import', '--bazaar', address])).code).toBe(1);
      const { json } = await runJson('status');
      expect(json.feeds).toMatchObject([
        {
          completed_at: expect.any(String),
          items: 3,
          failure: { at: NOW, message: expect.stringMatching(new RegExp(`status ${failing}.*\\(bad_status\\)`)) },
        },
      ]);
      expect(json.findings[0]).toMatchObject({ code: 'pull_failed', severity: 'refused', count: 1 });
    }
    expect((await run(['status'])).stdout).toMatch(/failed: .* status 404/);
    expect((await runJson('why', address)).json.findings).toMatchObject([{ code: 'pull_failed' }]);
    status = 200;
    await run(['import', '--bazaar', address]);
    const { json } = await runJson('status');
    expect(json.feeds).toMatchObject([{ failure: null }]);
    expect(json.findings.map(({ code }: { code: string }) => code)).not.toContain('pull_failed');
  });

  it('nor is an empty pull left behind where it was stopped before its first page', async () => {
    const stopping = new AbortController();
    const { address } = await serveFeed(() => stopping.abort());
    const { run, runJson } = makeCommands(ON_LOOPBACK);
    const { code, stdout } = await run(['import', '--bazaar', address, '--json'], { signal: stopping.signal });
    expect([code, JSON.parse(stdout)]).toMatchObject([1, { feed: address, complete: false, items: { received: 0 } }]);
    expect((await runJson('status')).json.feeds).toEqual([]);
  });
});

describe('a feed that is none', () => {
  it.each([
    ['{"items": [', /feed\.json is not JSON/],
    ['<!doctype html><p>hello', /feed\.json is HTML instead of JSON/],
    ['', /feed\.json is empty/],
    ['{"a": 1}', /holds no list of items/],
  ])('is one sentence with a hint: %j', async (content, message) => {
    const { folder, run, runJson } = makeCommands();
    const file = join(folder, 'feed.json');
    writeFileSync(file, content);
    const { code, stdout, stderr } = await run(['import', '--bazaar', file]);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr.split('\n').filter((line) => line.startsWith('error: '))).toEqual([expect.stringMatching(message)]);
    expect(stderr).toMatch(/^hint: /m);
    expect((await runJson('list')).json.total).toBe(0);
  });

  it.each(['--bazaar', '--openapi'])('is said before anything is made: %s', async (option) => {
    const { run, runJson } = makeCommands();
    const { code, stdout, stderr } = await run(['import', option, 'none.json']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^error: There is no file or folder none\.json\.\nhint: .*https:\/\/.*\n$/);
    expect((await runJson('list')).json.error.reason).toBe('no_catalogue');
  });

  it('is not fetched from a private address unless that is allowed', async () => {
    const { address, offsets } = await serveFeed(answerPages(() => makeItems(1)));
    const { code, stderr } = await makeCommands().run(['import', '--bazaar', address]);
    expect([code, offsets]).toEqual([1, []]);
    expect(stderr).toMatch(/^error: /m);
  });

  it('of 100 MB in one page is refused', async () => {
    const answer = answerPages(() => makeItems(150));
    const { address } = await serveFeed((request, response, page) => {
      if (page.offset === 0) return answer(request, response, page);
      const block = Buffer.alloc(1024 * 1024, 'x');
      response.write('{"items": ["');
      const push = () => {
        while (response.writable && response.write(block)) {
          // Until the other side has had enough.
        }
      };
      response.on('drain', push);
      push();
    });
    const { code, stderr } = await makeCommands(ON_LOOPBACK).run(['import', '--bazaar', address]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: .* is larger than 100 MB, which is too large\.\nhint: /m);
  });
});
