import { describe, expect, it } from 'vitest';
import { makeDeclaration } from '../builders.ts';
import { recordPaid } from '../paid.ts';
import { rebuildAgain } from '../site/rebuilding.ts';
import { declareListings, removeListing } from '../written.ts';
import { ask, serveSiteFixture, shareServer, type TestServer } from './running.ts';

const getServer = shareServer();

const ALONE = 'https://api.alone.example';

async function addAlone({ fixture, catchUp }: TestServer) {
  await declareListings(fixture.catalogue, [makeDeclaration({ slug: 'alone', base_url: ALONE })]);
  await catchUp();
}

describe('the page of a provider', () => {
  it('has all listings of a domain, what is verified, what speaks against them and what changed, from its file and before that is written', async () => {
    const server = await serveSiteFixture();
    const path = '/provider/example-provider.com';
    const first = await ask(server, path);
    expect([first.status, first.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(first.text).toContain(`<link rel="canonical" href="http://catalogue.example${path}"`);
    expect(first.text.match(/class="card"/g)).toHaveLength(8);
    expect(first.text).toContain('8 listings, 0 of 8 routes verified, as of ');
    expect((await ask(server, '/sitemap-1.xml')).text).toContain(`<loc>http://catalogue.example${path}</loc>`);

    const { catalogue } = server.fixture;
    await recordPaid(catalogue, 'api-1', {
      path: '/v1/price/:symbol',
      id: '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01',
      status: 500,
    });
    await recordPaid(catalogue, 'api-2', {
      path: '/v1/price/:symbol',
      id: '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b02',
    });
    await removeListing(catalogue, 'api-3', { by: 'operator', reason: 'no API' }, '2026-11-21T12:00:00.000Z');
    await rebuildAgain(server.fixture);
    await expect.poll(async () => (await ask(server, path)).text).toContain('1 of 7 routes verified');
    const { text } = await ask(server, path);
    expect(text).toContain('7 listings, 1 of 7 routes verified, 1 listing removed, as of ');
    expect(text).toContain('failed our paid call');
    expect(text).toContain('Delisted by the operator');
    expect(text.match(/class="card"/g)).toHaveLength(7);
    expect((await ask(server, '/api/api-1')).text).toContain(`href="${path}"`);
  });

  it('of a single listing is rendered when it is asked for, and stays when that is removed', async () => {
    const server = await serveSiteFixture();
    await addAlone(server);
    await rebuildAgain(server.fixture);
    const path = '/provider/alone.example';
    expect(server.fixture.readPages().has(path)).toBe(false);
    expect((await ask(server, '/api/alone')).text).toContain(`href="${path}"`);
    const page = await ask(server, path);
    expect([page.status, page.text.match(/class="card"/g)?.length]).toEqual([200, 1]);
    await removeListing(server.fixture.catalogue, 'alone', { by: 'provider', reason: 'gone' });
    await server.catchUp();
    const gone = await ask(server, path);
    expect([gone.status, gone.text.includes('No listing of this provider is live.')]).toEqual([200, true]);
    expect(gone.text).toContain('Delisted by its provider');
  });

  it('answers HEAD and 304, and 404 for what is no provider', async () => {
    const server = getServer();
    for (const path of ['/provider/example-provider.com', '/network/base', '/network/solana']) {
      const { etag = '' } = (await ask(server, path)).headers;
      expect((await ask(server, path, { headers: { 'If-None-Match': etag } })).status).toBe(304);
      expect((await ask(server, path, { method: 'HEAD' })).status).toBe(200);
    }
    for (const path of [
      '/provider/nobody.example',
      '/provider/api-1.example-provider.com',
      '/provider/example-provider.com/2',
      '/provider/example-provider.com/x',
      '/provider/',
      '/network/ethereum',
      '/network/base/2',
    ])
      expect([path, (await ask(server, path)).status]).toEqual([path, 404]);
  });
});

it('the page of a network has the listings that are paid on it, and each listing leads there', async () => {
  const server = getServer();
  const base = await ask(server, '/network/base');
  expect(base.text).toContain('<h1>APIs paid on Base</h1>');
  expect(base.text.match(/class="card"/g)).toHaveLength(8);
  expect((await ask(server, '/network/solana')).text).toContain('No live listing takes payment on Solana.');
  expect((await ask(server, '/api/api-1')).text).toContain('href="/network/base"');
  const sitemap = (await ask(server, '/sitemap-1.xml')).text;
  for (const network of ['base', 'solana'])
    expect(sitemap).toContain(`<loc>http://catalogue.example/network/${network}</loc>`);
});
