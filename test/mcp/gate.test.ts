import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createApp } from '../../src/http/app.ts';
import { makeMany, serveMcp } from './serving.ts';

const PUBLIC = { baseUrl: 'https://apis.example' };
const HEADERS = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });

/** Sends a request as written, Host included, which fetch would not. */
async function send(url: URL, options: { method?: string; headers?: Record<string, string>; body?: string }) {
  const { method = 'POST', headers = {}, body = LIST } = options;
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: string }>((resolve, reject) => {
    const sent = request(url, { method, headers: { ...HEADERS, ...headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString('utf8'),
        }),
      );
    });
    sent.on('error', reject);
    sent.end(method === 'GET' || method === 'DELETE' ? undefined : body);
  });
}

describe('who may ask', () => {
  it.each(['apis.example', 'APIS.example:443', '127.0.0.1:4321', 'localhost', '[::1]:4321'])(
    'Host %s is the service, or a proxy on its machine',
    async (host) => {
      const { url } = await serveMcp(makeMany(1), PUBLIC);
      expect(await send(url, { headers: { Host: host } })).toMatchObject({ status: 200 });
    },
  );

  it.each(['evil.example', 'apis.example.evil.example', '169.254.169.254', 'apis.example:99999'])(
    'Host %s is refused',
    async (host) => {
      const { url } = await serveMcp(makeMany(1), PUBLIC);
      const answer = await send(url, { headers: { Host: host } });
      expect([400, 403]).toContain(answer.status);
    },
  );

  it.each([
    ['https://apis.example', PUBLIC, 200],
    ['https://elsewhere.example', PUBLIC, 200],
    ['http://localhost:6274', PUBLIC, 200],
    ['null', PUBLIC, 200],
    ['http://localhost:6274', {}, 200],
    ['https://elsewhere.example', {}, 403],
    ['null', {}, 403],
  ])('Origin %s at %j: %i', async (origin, site, status) => {
    const { url } = await serveMcp(makeMany(1), site);
    const answer = await send(url, { headers: { Origin: origin, Host: 'localhost' } });
    expect(answer.status).toBe(status);
    if (status === 403) expect(JSON.parse(answer.body)).toMatchObject({ error: { code: -32000 }, id: null });
  });

  it('refuses a Host that is not the service, whatever the Origin', async () => {
    const { url } = await serveMcp(makeMany(1), PUBLIC);
    for (const origin of ['https://apis.example', 'http://evil.example']) {
      expect(await send(url, { headers: { Origin: origin, Host: 'evil.example' } })).toMatchObject({ status: 403 });
    }
  });

  it('answers a request made in the same process, which has no Host header', async () => {
    const { reading } = await serveMcp(makeMany(1));
    const init = { method: 'POST', headers: HEADERS, body: LIST };
    const app = createApp({ reading });
    expect((await app.request('http://localhost/mcp', init)).status).toBe(200);
    expect((await app.request('http://evil.example/mcp', init)).status).toBe(403);
  });
});

describe('what may be asked', () => {
  it.each([
    ['a body over 64 KB', `{"jsonrpc":"2.0","id":1,"method":"${'x'.repeat(70_000)}"}`, 413, -32000],
    ['a body of 3 MB', 'x'.repeat(3_000_000), 413, -32000],
    ['no JSON', '{"jsonrpc":', 400, -32700],
    ['nothing', '', 400, -32700],
    ['a batch', `[${LIST},${LIST}]`, 400, -32600],
    ['a list without end', '['.repeat(60_000), 400, -32700],
    ['a number', '7', 400, undefined],
    ['null', 'null', 400, undefined],
  ])('%s gets a JSON-RPC error', async (_what, body, status, code) => {
    const { url } = await serveMcp(makeMany(1));
    const answer = await send(url, { body });
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toMatchObject({ jsonrpc: '2.0', error: code === undefined ? {} : { code } });
    expect((await send(url, {})).status).toBe(200);
  });

  it('survives arguments nested as deep as a request can be', async () => {
    const { url } = await serveMcp(makeMany(1));
    const deep = `${'['.repeat(15_000)}${']'.repeat(15_000)}`;
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_listings","arguments":{"q":${deep}}}}`;
    const answer = await send(url, { body });
    expect(answer.status).toBeLessThan(500);
    expect((await send(url, {})).status).toBe(200);
  });

  it('refuses another media type', async () => {
    const { url } = await serveMcp(makeMany(1));
    expect(await send(url, { headers: { 'Content-Type': 'text/plain' } })).toMatchObject({ status: 415 });
  });
});
