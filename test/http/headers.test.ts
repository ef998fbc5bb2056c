import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../builders.ts';
import { makeSiteFixture } from '../site/site-fixture.ts';
import { ask, serveSiteFixture, shareServer } from './running.ts';

const getServer = shareServer();

const EVERYWHERE = [
  '/',
  '/api/api-1',
  '/api/api-1.md',
  '/llms.txt',
  '/none',
  '/%',
  '/healthz',
  '/readyz',
  '/openapi.json',
  '/agent/list',
  '/agent/none',
  '/api/api-1/',
];

describe('every answer', () => {
  it('carries its name and the security headers, and names no other origin or frame, and no script but the loader of pages', async () => {
    const server = getServer();
    for (const path of EVERYWHERE) {
      const { headers } = await ask(server, path);
      expect([path, headers]).toEqual([
        path,
        expect.objectContaining({
          'content-security-policy':
            // The page of a listing asks its provider for its terms.
            `default-src 'none'; script-src 'self' 'sha256-Y8Wi3dNr9wDgFCwdzxePiTa9nW1O2wvglEcG6n7GTcg='; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'${/^\/api\/[^/]+(?<!\.md)$/.test(path) ? ' https:' : ''}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
          'x-content-type-options': 'nosniff',
          'referrer-policy': 'strict-origin-when-cross-origin',
          'cross-origin-opener-policy': 'same-origin',
          'permissions-policy': expect.stringContaining('geolocation=()'),
          'x-request-id': expect.stringMatching(/^[\da-f-]{36}$/),
        }),
      ]);
      expect(headers).not.toHaveProperty('strict-transport-security');
      expect(headers).not.toHaveProperty('x-powered-by');
    }
  });

  it('asks for https to stay where the service is reached by it', async () => {
    const fixture = await makeSiteFixture(makeFolder(), { settings: { BASE_URL: 'https://catalogue.example' } });
    const server = await serveSiteFixture({ fixture, written: false });
    for (const path of ['/', '/agent/list', '/none']) {
      expect((await ask(server, path)).headers['strict-transport-security']).toMatch(/^max-age=\d{7,}$/);
    }
  });

  it('says nothing of the Host it was asked by', async () => {
    const server = await serveSiteFixture();
    await server.fixture.put([77], 'new');
    await server.catchUp();
    for (const path of [...EVERYWHERE, '/api/api-77']) {
      const headers = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example', 'X-Forwarded-Proto': 'https' };
      const answer = await ask(server, path, { headers });
      expect([path, JSON.stringify(answer.headers) + answer.text]).toEqual([path, expect.not.stringContaining('evil')]);
    }
    expect((await ask(server, '/api/api-77')).text).toContain('http://catalogue.example/api/api-77');
    expect([400, 200]).toContain((await ask(server, '/agent/list', { headers: { Host: 'a b' } })).status);
  });

  it('lets pages of other sites read all there is', async () => {
    const server = getServer();
    for (const path of [
      '/agent/list',
      '/openapi.json',
      '/llms.txt',
      '/api/api-1.md',
      '/',
      '/api/api-1',
      '/none',
      '/none.json',
    ]) {
      const { headers } = await ask(server, path, { headers: { Origin: 'https://other.example' } });
      expect([path, headers['access-control-allow-origin'], headers['cross-origin-resource-policy']]).toEqual([
        path,
        '*',
        'cross-origin',
      ]);
    }
  });
});

describe('methods', () => {
  it('are GET and HEAD; any other is refused with what is allowed', async () => {
    const server = getServer();
    for (const path of ['/', '/api/api-1', '/api/api-1.md', '/none', '/healthz', '/agent/list', '/openapi.json']) {
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'PROPFIND']) {
        const answer = await ask(server, path, { method });
        expect([path, method, answer.status, answer.headers.allow]).toEqual([path, method, 405, 'GET, HEAD, OPTIONS']);
        expect(answer.headers['content-type']).toBe('application/problem+json');
        expect(JSON.parse(answer.text)).toMatchObject({ status: 405, code: 'method_not_allowed' });
      }
      const options = await ask(server, path, { method: 'OPTIONS' });
      expect([path, options.status, options.headers.allow]).toEqual([path, 204, 'GET, HEAD, OPTIONS']);
    }
    const mcp = await ask(server, '/mcp');
    expect([mcp.status, mcp.headers.allow]).toEqual([405, 'POST, OPTIONS']);
  });

  it('are given to a preflight, and Allow besides', async () => {
    const server = await serveSiteFixture();
    await server.fixture.put([77], 'new');
    await server.catchUp();
    const asked = { Origin: 'https://other.example', 'Access-Control-Request-Method': 'GET' };
    const documents = ['/llms.txt', '/api/api-1.md', '/api/api-77.md', '/schemas/manifest.json', '/healthz', '/readyz'];
    for (const path of [...documents, '/', '/api/api-1', '/none', '/openapi.json', '/agent/list']) {
      const headers = { ...asked, 'Access-Control-Request-Headers': 'if-none-match' };
      const preflight = await ask(server, path, { method: 'OPTIONS', headers });
      expect([path, preflight.status, preflight.headers]).toEqual([
        path,
        204,
        expect.objectContaining({
          'access-control-allow-origin': (await ask(server, path)).headers['access-control-allow-origin'],
          allow: 'GET, HEAD, OPTIONS',
          'access-control-allow-methods': 'GET,HEAD,OPTIONS',
          'access-control-allow-headers': 'if-none-match',
          vary: 'Access-Control-Request-Headers',
        }),
      ]);
      expect(preflight.headers['access-control-allow-origin']).toBe('*');
    }
  });

  it.each([
    ['http://catalogue.example', 'https://other.example', true],
    ['http://localhost:4321', 'http://localhost:6274', true],
    ['http://localhost:4321', 'https://other.example', false],
  ])('are the same to a preflight of MCP as to its POST, at %s from %s', async (baseUrl, origin, isOpen) => {
    const server = await serveSiteFixture({
      fixture: await makeSiteFixture(makeFolder(), { settings: { BASE_URL: baseUrl } }),
      written: false,
    });
    const options = await ask(server, '/mcp', {
      method: 'OPTIONS',
      headers: { Origin: origin, 'Access-Control-Request-Headers': 'content-type' },
    });
    const post = await fetch(`${server.url}/mcp`, {
      method: 'POST',
      headers: { Origin: origin, 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
    expect([options.status, post.status]).toEqual(isOpen ? [204, 200] : [403, 403]);
    if (isOpen) expect(options.headers['access-control-allow-origin']).toBe('*');
  });

  it('answer HEAD everywhere as GET without the body', async () => {
    const server = getServer();
    for (const path of EVERYWHERE) {
      const [get, head] = [await ask(server, path), await ask(server, path, { method: 'HEAD' })];
      expect([path, head.status, head.body.length]).toEqual([path, get.status, 0]);
      expect([path, head.headers['content-type']]).toEqual([path, get.headers['content-type']]);
    }
  });
});

it('the live documents are reached through the server, compressed and revalidated', async () => {
  const server = await serveSiteFixture();
  const document = await ask(server, '/openapi.json', { headers: { 'Accept-Encoding': 'gzip' } });
  expect(document.headers['content-encoding']).toBe('gzip');
  expect(JSON.parse(gunzipSync(document.body).toString())['x-catalogue']).toMatchObject({ live_listings: 8 });
  const again = await ask(server, '/openapi.json', { headers: { 'If-None-Match': String(document.headers.etag) } });
  expect(again.status).toBe(304);
  await server.fixture.put([90], 'new');
  await server.catchUp();
  expect(JSON.parse((await ask(server, '/agent/list')).text)).toMatchObject({ total: 9, revision: 2 });
});
