import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { breakReading } from './broken.ts';
import { ask, serveSiteFixture, shareServer } from './running.ts';

const getServer = shareServer();

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

describe('a request', () => {
  it.each(['7f9c24e5-2fa1-4c3e-9d57-1f1d2c0b6a11', 'abc_DEF-123=', 'x'.repeat(128)])(
    'keeps the id that its client gave it: %s',
    async (id) => {
      const server = getServer();
      for (const path of ['/agent/list', '/agent/none', '/healthz', '/%']) {
        const { headers } = await ask(server, path, { headers: { 'X-Request-Id': id } });
        expect([path, headers['x-request-id']]).toEqual([path, id]);
      }
    },
  );

  it.each(['x'.repeat(129), 'a b', 'a"b', '<script>', 'a,b', '{"level":60}', 'ü'])(
    'gets an id of ours in the place of %s',
    async (id) => {
      const server = getServer();
      const { headers } = await ask(server, '/agent/list', {
        headers: { 'X-Request-Id': Buffer.from(id).toString('latin1') },
      });
      expect(headers['x-request-id']).toMatch(UUID);
    },
  );

  it('has its id in every line of the log that it caused, and no other line has one', async () => {
    const server = await serveSiteFixture({ level: 'debug' });
    const { siteDir } = server.fixture.config;
    rmSync(join(siteDir, 'api/api-1.html.br'));
    mkdirSync(join(siteDir, 'api/api-1.html.br'));
    await ask(server, '/api/api-1', { headers: { 'X-Request-Id': 'lost-1', 'Accept-Encoding': 'br' } });
    await expect.poll(() => server.logged.filter(({ request_id }) => request_id === 'lost-1')).toHaveLength(2);
    expect(server.logged.filter(({ request_id }) => request_id === 'lost-1')).toMatchObject([
      { level: 50, msg: expect.stringContaining('cannot be read') },
      { level: 20, msg: 'request', path: '/api/api-1' },
    ]);
  });
});

describe('a failure of ours', () => {
  it('names the request in its problem document and in the log', async () => {
    const server = await serveSiteFixture();
    await ask(server, '/agent/list');
    breakReading(server.fixture);
    const { status, text } = await ask(server, '/agent/list?q=title', { headers: { 'X-Request-Id': 'broken-1' } });
    expect([status, JSON.parse(text)]).toEqual([500, expect.objectContaining({ request_id: 'broken-1' })]);
    expect(server.logged.filter(({ msg }) => msg === 'a request failed')).toMatchObject([
      { level: 50, request_id: 'broken-1' },
    ]);
  });

  it('names the request in the answer of an MCP tool and in the log', async () => {
    const server = await serveSiteFixture();
    await ask(server, '/agent/list');
    breakReading(server.fixture);
    const answer = await fetch(`${server.url}/mcp`, {
      method: 'POST',
      headers: {
        ...{ 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
        'X-Request-Id': 'broken-2',
      },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: 'search_listings', arguments: { q: 'title' } },
      }),
    });
    expect(answer.headers.get('x-request-id')).toBe('broken-2');
    const { result } = await answer.json();
    expect([result.isError, result.content[0].text]).toEqual([true, expect.stringContaining('by the id broken-2.')]);
    expect(server.logged.filter(({ msg }) => msg === 'a request failed')).toMatchObject([
      { level: 50, request_id: 'broken-2' },
    ]);
  });

  it('of a client has no id in its document, so that it is the same for everybody', async () => {
    const server = getServer();
    for (const path of ['/agent/none', '/agent/list?limit=x'])
      expect(JSON.parse((await ask(server, path)).text)).not.toHaveProperty('request_id');
  });
});
