import { expect, it, onTestFinished } from 'vitest';
import { delistListing } from '../../src/catalogue/delisting.ts';
import { writeCatalogue } from '../../src/catalogue/write.ts';
import { rebuild } from '../../src/release/rebuild.ts';
import { makeFolder } from '../builders.ts';
import { findNginx, startNginx } from './nginx.ts';
import { ask, serveShelf } from './running.ts';

const nginx = findNginx();

/** Headers that must be the same whoever answers. */
const SAME = [
  'content-type',
  'cache-control',
  'vary',
  'content-security-policy',
  'x-content-type-options',
  'referrer-policy',
  'permissions-policy',
  'cross-origin-opener-policy',
];

it('nginx sends the pages of the release as the process does, and passes on all else', async (context) => {
  if (!nginx) return context.skip('there is no nginx on the path, so its configuration was not tried');
  const server = await serveShelf();
  const { config, catalogue, readPages } = server.shelf;
  const front = await startNginx(nginx, {
    folder: makeFolder(),
    releasesDir: config.releasesDir,
    upstream: server.url,
  });
  onTestFinished(front.stop);
  for (const path of readPages().keys()) {
    const [own, fronted] = [await ask(server, path), await ask(front, path)];
    expect([path, fronted.status, fronted.text]).toEqual([path, own.status, own.text]);
    for (const name of SAME) expect([path, name, fronted.headers[name]]).toEqual([path, name, own.headers[name]]);
  }
  const page = await ask(front, '/api/api-3');
  expect(page.headers.server).toMatch(/^nginx/);
  const again = await ask(front, '/api/api-3', { headers: { 'If-None-Match': String(page.headers.etag) } });
  expect([again.status, again.text]).toEqual([304, '']);
  const small = await ask(front, '/api/api-3', { headers: { 'Accept-Encoding': 'gzip' } });
  expect(small.headers['content-encoding']).toBe('gzip');

  const markdown = await ask(front, '/api/api-3', { headers: { Accept: 'text/markdown' } });
  expect(markdown.headers['content-type']).toBe('text/markdown; charset=utf-8');
  for (const path of ['/agent/list', '/openapi.json', '/healthz', '/robots.txt', '/api/api-3.md']) {
    expect([path, (await ask(front, path)).status]).toEqual([path, 200]);
  }
  for (const path of [
    '/none',
    '/release.json',
    '/root/index',
    '/root/list.json',
    '/api.ap/api-3',
    '/api.ap/list.json',
  ]) {
    expect([path, (await ask(front, path)).status]).toEqual([path, 404]);
  }
  expect((await ask(front, '/api/api-3', { method: 'POST' })).status).toBe(405);
  const [asset = ''] = /\/_astro\/[\w.-]+\.css/.exec(page.text) ?? [];
  expect((await ask(front, asset)).headers).toMatchObject({
    'cache-control': expect.stringContaining('immutable'),
    'content-type': 'text/css; charset=utf-8',
  });

  writeCatalogue(catalogue, '2026-11-21T12:00:00.000Z', (writing) =>
    delistListing(writing, 'api-3', { by: 'operator', reason: 'asked' }),
  );
  await rebuild({ config });
  expect((await ask(front, '/api/api-3')).status).toBe(410);
});
