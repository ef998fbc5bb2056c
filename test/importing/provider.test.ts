import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeCommands } from '../cli/running.ts';
import { FACTS } from '../sources/provider-file/statements.ts';
import { serveDocuments } from './document-server.ts';
import { makeItem } from './feed-server.ts';

const DOOR = '/.well-known/agent-payable.json';
const ON_LOOPBACK = { ALLOW_PRIVATE_NETWORKS: 'on' };

describe('importing a provider’s file', () => {
  it('lists a new host, and why names its source', async () => {
    const { origin } = await serveDocuments({
      [DOOR]: { body: { version: 1, listings: [{ listed: true, facts: FACTS }] } },
    });
    const { run, runJson } = makeCommands(ON_LOOPBACK);
    const { code, json } = await runJson('import', '--provider', `${origin}/some/page`);
    expect(code).toBe(0);
    expect(json).toMatchObject({
      feed: `${origin}${DOOR}`,
      complete: true,
      items: { received: 1, taken: 1, refused: 0 },
      listings: { added: 1 },
      revision: { before: 0, after: 1 },
    });
    const { stdout } = await run(['why', 'tides-of-tests']);
    expect(stdout).toContain('its provider says so');
    expect(stdout).toContain(`its provider's statement ${origin}${DOOR}, read 2026-11-20`);
    const again = await runJson('import', '--provider', origin);
    expect(again.json).toMatchObject({ listings: { unchanged: 1 }, revision: { before: 1, after: 1 } });
    expect((await runJson('check')).json.checks).toContainEqual(
      expect.objectContaining({ name: 'listings', ok: true }),
    );
  });

  it('keeps a removed listing out of the next feed', async () => {
    const { origin } = await serveDocuments({
      [DOOR]: { body: { version: 1, listings: [{ listed: false, reason: 'Private.' }] } },
    });
    const { folder, run, runJson } = makeCommands(ON_LOOPBACK);
    const { code, json } = await runJson('import', '--provider', origin);
    expect([code, json.outcomes]).toEqual([0, []]);
    expect(json.reasons).toMatchObject([{ code: 'provider_kept_out', severity: 'noted' }]);
    expect((await run(['why', origin])).stdout).toContain('noted provider_kept_out');
    const feed = join(folder, 'feed.json');
    writeFileSync(feed, JSON.stringify({ items: [makeItem('x', '/v1', { resource: `${origin}/v1/things` })] }));
    expect((await runJson('import', '--bazaar', feed)).json.listings).toMatchObject({ added: 0, delisted: 1 });
    const { listings } = (await runJson('list')).json;
    expect(listings.filter(({ state }: { state: string }) => state === 'live')).toEqual([]);
  });

  it('says what readers see, and names each wrong field', async () => {
    const listings = [
      { listed: true, facts: FACTS },
      { base_url: '/v1', listed: false },
      {
        base_url: '/v2',
        listed: true,
        facts: { ...FACTS, routes: [{ method: 'GET', path: '/a', price_usdc: 'free' }] },
      },
      { base_url: '/v3', listed: 'yes' },
      { base_url: '/v4', listed: true, replies: [{ caution: 'undelivered', text: 'x'.repeat(300) }] },
    ];
    const { origin, pages } = await serveDocuments({ [DOOR]: { body: { version: 1, listings } } });
    const { run, runJson } = makeCommands(ON_LOOPBACK);
    const { code, stdout } = await run(['import', '--provider', origin]);
    expect(code).toBe(0);
    expect(stdout).toContain(`${origin}\tNow live at /api/tides-of-tests.\n`);
    expect(stdout).toContain(`${origin}/v1\tNothing is listed here, and nothing will be`);
    expect(stdout).toContain('refused: listings[2]: facts.routes[0].price_usdc is "free"');
    expect(stdout).toContain('refused: listings[3]: listed is "yes"');
    expect(stdout).toContain('refused: listings[4].replies[0].text: the reply is longer than 280 characters');
    expect(stdout).toContain('refused: listings[4]: openapi or facts is missing');
    expect(stdout).toContain('5 entries: 3 taken, 2 refused.');
    expect(stdout).not.toContain('relist');
    pages[DOOR] = { body: { version: 1, listings: [{ listed: false }] } };
    await run(['import', '--provider', origin]);
    pages[DOOR] = { body: { version: 1, listings: [{ listed: true, facts: FACTS }] } };
    const { stdout: back } = await run(['import', '--provider', origin]);
    expect(back).toContain(`${origin}\tLive again at /api/tides-of-tests.`);
    expect(back).not.toMatch(/unchanged|relist/);
    expect((await runJson('import', '--provider', origin)).json).toMatchObject({
      listings: { unchanged: 1 },
      effects: [{ base_url: origin, slug: 'tides-of-tests', effect: 'unchanged' }],
    });
  });

  it('reports refusals, which do not make it fail', async () => {
    const listings = [
      { listed: true, facts: FACTS },
      { base_url: 'https://other.example', listed: false },
    ];
    const { origin } = await serveDocuments({ [DOOR]: { body: { version: 1, listings } } });
    const { code, json } = await makeCommands(ON_LOOPBACK).runJson('import', '--provider', origin);
    expect(code).toBe(0);
    expect(json).toMatchObject({
      complete: true,
      items: { received: 2, taken: 1, refused: 1 },
      listings: { added: 1 },
    });
    expect(json.findings).toMatchObject([{ code: 'provider_other_origin', severity: 'refused' }]);
  });

  it('names the address of the missing file and what to write there', async () => {
    const { origin, pages } = await serveDocuments({});
    const { run } = makeCommands(ON_LOOPBACK);
    const { code, stderr } = await run(['import', '--provider', origin]);
    expect(code).toBe(1);
    expect(stderr).toContain(`error: There is no provider's statement at ${origin}${DOOR}: there is nothing.`);
    expect(stderr).toContain(`{"version": 1, "listings": [{"listed": true, "openapi": "${origin}/openapi.json"}]}`);
    pages[DOOR] = { type: 'text/html', body: '<html>' };
    expect((await run(['import', '--provider', origin])).stderr).toContain('there is a web page');
  });

  it.each([
    ['10.0.0.1', 'blocked_address'],
    ['http://api.tides-of-tests.com', 'not_https'],
    ['a b', 'bad_url'],
  ])('refuses a host such as %s', async (host, reason) => {
    const { code, json } = await makeCommands().runJson('import', '--provider', host);
    expect([code, json.error.reason]).toEqual([1, reason]);
  });
});
