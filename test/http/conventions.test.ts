import { describe, expect, it } from 'vitest';
import { removeListing } from '../written.ts';
import { ask, shareServer } from './running.ts';

const BASE = 'http://catalogue.example';
const MARKDOWN = 'text/markdown; charset=utf-8';

/** Parses a `Link` header into targets by relation (RFC 8288). */
function parseLinks(header: string | string[] | undefined): Record<string, string> {
  const links = String(header).matchAll(/<([^>]+)>; rel="([^"]+)"/g);
  return Object.fromEntries([...links].map(([, url, rel]) => [rel, url]));
}

// With a static listing, one that is newer than the pages, and one that was removed since.
const getServer = shareServer(async ({ fixture, catchUp }) => {
  await fixture.put([77], 'new');
  await removeListing(
    fixture.catalogue,
    'api-3',
    { by: 'operator', reason: 'asked_by_provider' },
    '2026-11-21T00:00:00.000Z',
  );
  await catchUp();
});

describe('Link headers', () => {
  it('lead from every page and document to what describes the service', async () => {
    const server = getServer();
    const everywhere = ['/', '/verified', '/method', '/llms.txt', '/api/api-1', '/api/api-1.md', '/api/api-77'];
    for (const path of [...everywhere, '/openapi.json', '/agent/list', '/llms-full.txt', '/.well-known/api-catalog']) {
      for (const method of ['GET', 'HEAD']) {
        const { headers } = await ask(server, path, { method });
        expect([path, parseLinks(headers.link)]).toEqual([
          path,
          expect.objectContaining({
            'service-desc': `${BASE}/openapi.json`,
            'api-catalog': `${BASE}/.well-known/api-catalog`,
            ard: `${BASE}/.well-known/ard.json`,
            'ai-catalog': `${BASE}/.well-known/ai-catalog.json`,
            describedby: `${BASE}/llms.txt`,
          }),
        ]);
      }
    }
  });

  it('join a listing page and its Markdown twin, in every state, and lead to documents that are there', async () => {
    const server = getServer();
    for (const slug of ['api-1', 'api-77', 'api-3']) {
      const { alternate } = parseLinks((await ask(server, `/api/${slug}`)).headers.link);
      expect(alternate).toBe(`${BASE}/api/${slug}.md`);
      const { canonical } = parseLinks((await ask(server, `/api/${slug}.md`)).headers.link);
      expect(canonical).toBe(`${BASE}/api/${slug}`);
    }
    const links = parseLinks((await ask(server, '/api/api-1')).headers.link);
    for (const url of Object.values(links)) {
      expect([url, (await ask(server, url.slice(BASE.length))).status]).toEqual([url, 200]);
    }
    for (const path of ['/.well-known/api-catalog', '/.well-known/ai-catalog.json', '/llms.txt', '/sitemap-1.xml']) {
      const { text } = await ask(server, path);
      const named = [...text.matchAll(/(?:"|\]\(|<loc>)(http:\/\/catalogue\.example[^"<)]*)/g)].map(
        ([, url = '']) => url,
      );
      expect(named.length).toBeGreaterThan(1);
      for (const url of new Set(named)) {
        const { status } = await ask(server, url.slice(BASE.length) || '/', { method: 'HEAD' });
        // MCP is asked by POST alone, and a check needs the terms to check.
        expect([path, url, status]).toEqual([path, url, url.endsWith('/mcp') ? 405 : 200]);
      }
    }
  });
});

describe('Accept: text/markdown', () => {
  it('is answered with the twin at the address of the page itself, in every state', async () => {
    const server = getServer();
    for (const [slug, status] of [
      ['api-1', 200],
      ['api-77', 200],
      ['api-3', 410],
    ] as const) {
      const twin = await ask(server, `/api/${slug}.md`);
      expect([twin.status, twin.headers['content-type']]).toEqual([status, MARKDOWN]);
      expect(twin.headers.vary ?? '').not.toMatch(/\bAccept\b(?!-)/);
      expect(twin.headers).not.toHaveProperty('content-location');

      const headers = { Accept: 'text/markdown' };
      const chosen = await ask(server, `/api/${slug}`, { headers });
      expect([chosen.status, chosen.headers['content-type'], chosen.text]).toEqual([status, MARKDOWN, twin.text]);
      expect(chosen.headers['content-location']).toBe(`/api/${slug}.md`);
      const page = await ask(server, `/api/${slug}`, { headers: { Accept: 'text/html' } });
      expect([page.status, page.headers['content-type']]).toEqual([status, 'text/html; charset=utf-8']);
      expect(page.headers.etag).not.toBe(chosen.headers.etag);
      for (const { headers } of [chosen, page]) expect(headers.vary).toMatch(/^Accept\b(?!-)/);

      const head = await ask(server, `/api/${slug}`, { method: 'HEAD', headers });
      expect([head.status, head.body.length, head.headers.etag]).toEqual([status, 0, chosen.headers.etag]);
      expect([head.headers.vary, head.headers['content-type']]).toEqual([chosen.headers.vary, MARKDOWN]);

      for (const path of [`/api/${slug}`, `/api/${slug}.md`]) {
        const again = await ask(server, path, {
          headers: { ...headers, 'If-None-Match': String(chosen.headers.etag) },
        });
        expect([path, again.status]).toEqual([path, status === 200 ? 304 : status]);
      }
      // Who has the page does not get told that it is the twin's.
      const other = await ask(server, `/api/${slug}`, {
        headers: { ...headers, 'If-None-Match': String(page.headers.etag) },
      });
      expect(other.status).toBe(status);
    }
  });
});

describe('what is not there', () => {
  it('is a page for people and a problem for programs, never anything else', async () => {
    const server = getServer();
    const forPeople = ['/nope', '/api/nope', '/api', '/api/', '/docs/nope', '/category/nope', '/a//b', '//a'];
    const spelt = ['/api%2Fapi-1x', '/.git/config', '/.env', '/wp-login.php', '/%2F%2Fevil.example'];
    for (const path of [...forPeople, ...spelt]) {
      const answer = await ask(server, path);
      expect([path, answer.status, answer.headers['content-type']]).toEqual([path, 404, 'text/html; charset=utf-8']);
    }
    const forPrograms = [
      '/.well-known/x',
      '/.well-known',
      '/.well-known/',
      '/.well-known/mcp/x',
      '/agent',
      '/agent/nope',
    ];
    const further = [
      '/discovery/nope',
      '/discovery',
      '/mcp/nope',
      '/mcp/',
      '/agent//list',
      '/agent/list/',
      '/agent/%2Flist',
    ];
    const endings = [
      '/api/nope.md',
      '/nope.json',
      '/nope.xml',
      '/nope.txt',
      '/sitemap-99.xml',
      '/sitemap.xml',
      '//llms.txt',
    ];
    const cased = ['/.WELL-KNOWN/api-catalog.json', '/.well-known/API-CATALOG', '/.well-known/api-catalog/'];
    for (const path of [...forPrograms, ...further, ...endings, ...cased]) {
      const answer = await ask(server, path);
      expect([path, answer.status, answer.headers['content-type']]).toEqual([path, 404, 'application/problem+json']);
      expect([path, JSON.parse(answer.text)]).toEqual([path, expect.objectContaining({ code: 'not_found' })]);
    }
    for (const [path, accept] of [
      ['/api/nope', 'text/markdown'],
      ['/api/nope', 'application/json'],
      ['/lists/agent', 'application/json, text/plain, */*'],
      ['/nope', 'text/html;q=0.5, application/problem+json'],
    ] as const) {
      const wished = await ask(server, path, { headers: { Accept: accept } });
      expect([path, wished.status, wished.headers['content-type']]).toEqual([path, 404, 'application/problem+json']);
      expect(wished.headers.vary).toBe('Accept');
      expect(JSON.parse(wished.text).hint).toContain('/agent/list?q=');
    }
    const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,application/json;q=0.8,*/*;q=0.8';
    const seen = await ask(server, '/nope', { headers: { Accept: browser } });
    expect([seen.status, seen.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(seen.headers.vary).toBe('Accept, Accept-Encoding');
    for (const path of ['/nope', '/nope.json', '/agent/nope']) {
      expect([path, (await ask(server, path)).headers.link]).toEqual([
        path,
        expect.stringContaining('rel="service-desc"'),
      ]);
    }
  });

  it('is not there either while the pages are behind, however the address is spelt', async () => {
    const server = getServer();
    const spelt = ['/.well-known%2Fapi-catalog', '/agent%2Flist'];
    for (const path of ['/nope', '/api/nope', '/.well-known/x', '/.well-known/ai-catalog', ...spelt]) {
      expect([path, (await ask(server, path)).status]).toEqual([path, 404]);
    }
    // URL standard: a path never leaves the root.
    expect((await ask(server, '/%2e%2e/llms.txt')).text).toBe((await ask(server, '/llms.txt')).text);
    // RFC 3986, section 6.2.2.2: letters that need no encoding are the same either way.
    expect((await ask(server, '/%72obots.txt')).text).toBe((await ask(server, '/robots.txt')).text);
    expect((await ask(server, '/%zz')).status).toBe(400);
  });
});
