import { expect, it, onTestFinished } from 'vitest';
import { makeFolder } from '../builders.ts';
import { findNginx, startNginx } from '../nginx.ts';
import { makeWritten, rebuildAgain } from '../site/rebuilding.ts';
import { removeListing } from '../written.ts';
import { ask, serveSiteFixture } from './running.ts';

const nginx = findNginx();

/** Headers that must be the same whoever answers. */
const SAME = [
  'content-type',
  'cache-control',
  'vary',
  'link',
  'cross-origin-resource-policy',
  'access-control-allow-origin',
  'access-control-expose-headers',
  'content-security-policy',
  'x-content-type-options',
  'referrer-policy',
  'permissions-policy',
  'cross-origin-opener-policy',
  'x-frame-options',
];

it('nginx sends the pages of the site folder as the process does, and passes on all else', async (context) => {
  if (!nginx) return context.skip('no nginx: install nginx-light');
  const server = await serveSiteFixture({
    fixture: await makeWritten(makeFolder(), { TRUSTED_PROXIES: 'loopback' }),
    written: false,
  });
  const { config, catalogue, readPages } = server.fixture;
  const { siteDir, baseUrl } = config;
  const front = await startNginx(nginx, { folder: makeFolder(), siteDir, upstream: server.url, baseUrl });
  onTestFinished(front.stop);
  const expectSame = async (path: string, sender: 'nginx' | 'process', options = {}) => {
    const [own, fronted] = [await ask(server, path, options), await ask(front, path, options)];
    expect([path, fronted.status, fronted.text === own.text]).toEqual([path, own.status, true]);
    for (const name of SAME) {
      // What is too small to be compressed varies in nothing; nginx does not know and says too much, which does no harm.
      if (name === 'vary' && sender === 'nginx' && own.body.length < 1024) continue;
      expect([path, name, fronted.headers[name]]).toEqual([path, name, own.headers[name]]);
    }
    // Only nginx knows when a file was last changed.
    expect([path, 'last-modified' in fronted.headers]).toEqual([path, sender === 'nginx']);
    return fronted;
  };
  const pages = [...readPages().keys()].filter((path) => path !== '/404');
  for (const path of pages) await expectSame(path, 'nginx');
  const page = await expectSame('/api/api-3?from=elsewhere', 'nginx');
  for (const [asset] of page.text.matchAll(/\/_astro\/[\w.-]+/g)) {
    await expectSame(asset, 'nginx');
    expect([asset, (await expectSame(`${asset}.br`, 'process')).status]).toEqual([asset, 404]);
  }
  const again = await ask(front, '/api/api-3', { headers: { 'If-None-Match': String(page.headers.etag) } });
  expect([again.status, again.text]).toEqual([304, '']);
  const ofPage = await ask(front, '/api/api-3', { headers: { 'X-Request-Id': 'page-1' } });
  const ofList = await ask(front, '/agent/list', { headers: { 'X-Request-Id': 'list-1' } });
  expect([ofPage, ofList].map(({ headers }) => headers['x-request-id'])).toEqual(['page-1', 'list-1']);
  const small = await ask(front, '/api/api-3', { headers: { 'Accept-Encoding': 'gzip' } });
  expect(small.headers['content-encoding']).toBe('gzip');

  const markdown = { headers: { Accept: 'text/markdown' } };
  const twin = await expectSame('/api/api-3', 'process', markdown);
  expect(twin.headers['content-type']).toBe('text/markdown; charset=utf-8');
  for (const path of ['/search?q=api', '/healthz', '/robots.txt', '/api/api-3.md?page=1', '/sitemap-index.xml']) {
    expect([path, (await expectSame(path, 'process')).status]).toEqual([path, 200]);
  }
  for (const path of ['/agent/list', '/openapi.json', '/agent/listings/api-3']) {
    expect([path, (await ask(front, path)).status]).toEqual([path, 200]);
  }
  for (const path of ['//api/api-3', '/api/%61pi-3', '/api/api-3/', '/API/api-3', '/docs/../api/api-3']) {
    await expectSame(path, 'process');
  }
  for (const path of [
    ...['/404', '/none', '/api/none', '/index', '/index.html', '/api/api-3.html', '/.new/1', '/site.sqlite'],
    ...['/index.html.br', '/api/api-3.html.gz', '/llms.txt.gz', '/_astro/none.css'],
  ]) {
    expect([path, (await expectSame(path, 'process')).status]).toEqual([path, 404]);
  }
  expect((await expectSame('/api/api-3', 'process', { method: 'POST' })).status).toBe(405);
  expect((await expectSame('/api/api-3', 'nginx', { method: 'HEAD' })).text).toBe('');

  await removeListing(catalogue, 'api-3', { by: 'operator', reason: 'asked' }, '2026-11-21T12:00:00.000Z');
  await rebuildAgain({ config });
  expect((await expectSame('/api/api-3', 'process')).status).toBe(410);
  await server.close();
  expect((await ask(front, '/api/api-2')).status).toBe(200);
  expect((await ask(front, '/agent/list')).status).toBe(502);
});
