import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { delistListing, relistListing } from '../../src/catalogue/write/decisions.ts';
import { getSitePaths } from '../../src/site/paths.ts';
import { openRecord } from '../../src/site/record.ts';
import { rebuildAgain } from '../site/rebuilding.ts';
import { ask, serveSiteFixture, shareServer } from './running.ts';

const getServer = shareServer();

describe('a page of the site folder', () => {
  it('comes whole, and not again to who has it', async () => {
    const server = getServer();
    const page = await ask(server, '/api/api-3');
    expect(page).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
    expect(page.text).toBe(server.fixture.read('api/api-3.html'));
    expect(Number(page.headers['content-length'])).toBe(page.body.length);
    expect(page.headers.etag).toMatch(/^W\/"[\w-]{22}"$/);

    const head = await ask(server, '/api/api-3', { method: 'HEAD' });
    expect(head).toMatchObject({ status: 200, body: Buffer.alloc(0), headers: { etag: page.headers.etag } });
    expect(head.headers['content-length']).toBe(page.headers['content-length']);

    const etag = String(page.headers.etag);
    for (const tag of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
      const again = await ask(server, '/api/api-3', { headers: { 'If-None-Match': tag } });
      expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, etag]);
    }
    expect((await ask(server, '/api/api-3', { headers: { 'If-None-Match': '"other"' } })).status).toBe(200);
  });

  it('is compressed as the reader takes it', async () => {
    const server = getServer();
    const plain = await ask(server, '/');
    const read = { br: brotliDecompressSync, gzip: gunzipSync };
    for (const [accept, encoding] of [
      ['gzip, deflate, br', 'br'],
      ['gzip', 'gzip'],
      ['br;q=0.5, gzip;q=0.9', 'gzip'],
      ['br;q=0, *', 'gzip'],
    ] as const) {
      for (let time = 0; time < 2; time += 1) {
        const page = await ask(server, '/', { headers: { 'Accept-Encoding': accept } });
        expect([page.headers['content-encoding'], page.headers.vary]).toEqual([encoding, 'Accept-Encoding']);
        expect(page.body.length).toBeLessThan(plain.body.length / 2);
        expect(read[encoding](page.body).toString()).toBe(plain.text);
        expect(page.headers.etag).toBe(plain.headers.etag);
      }
    }
    for (const accept of ['identity', 'br;q=0, gzip;q=0', 'zstd']) {
      const page = await ask(server, '/', { headers: { 'Accept-Encoding': accept } });
      expect([page.headers['content-encoding'], page.text]).toEqual([undefined, plain.text]);
    }
  });

  it('is sent compressed as it lies there, and compressed anew where that form is lost', async () => {
    const server = await serveSiteFixture();
    const file = join(server.fixture.config.siteDir, 'api/api-3.html');
    const lying = readFileSync(`${file}.br`);
    rmSync(`${file}.gz`);
    const [plain, br, gzip] = await Promise.all(
      ['identity', 'br', 'gzip'].map((accept) => ask(server, '/api/api-3', { headers: { 'Accept-Encoding': accept } })),
    );
    expect(br?.body).toEqual(lying);
    expect([gzip?.headers['content-encoding'], gunzipSync(gzip?.body ?? '').toString()]).toEqual(['gzip', plain?.text]);
  });

  it('has the ETag of what is sent while it is being replaced', async () => {
    const server = await serveSiteFixture();
    const page = await ask(server, '/api/api-3');
    const record = openRecord(getSitePaths(server.fixture.config.siteDir).record);
    record.writePages([{ path: '/api/api-3', file: 'api/api-3.html', key: '', etag: '' }]);
    record.close();
    expect((await ask(server, '/api/api-3')).headers.etag).toBe(page.headers.etag);
    writeFileSync(join(server.fixture.config.siteDir, 'api/api-3.html'), '<html>Another</html>');
    const replaced = await ask(server, '/api/api-3', { headers: { 'If-None-Match': String(page.headers.etag) } });
    expect([replaced.status, replaced.text]).toEqual([200, '<html>Another</html>']);
  });

  it('has a Markdown twin, also for who asks for Markdown at its own address', async () => {
    const server = getServer();
    const twin = await ask(server, '/api/api-3.md');
    expect(twin).toMatchObject({ status: 200, headers: { 'content-type': 'text/markdown; charset=utf-8' } });
    const chosen = await ask(server, '/api/api-3', { headers: { Accept: 'text/markdown, text/html;q=0.9' } });
    expect([chosen.text, chosen.headers['content-location']]).toEqual([twin.text, '/api/api-3.md']);
    expect(chosen.headers.vary).toBe('Accept, Accept-Encoding');
    const shouted = await ask(server, '/api/api-3', { headers: { Accept: 'TEXT/Markdown' } });
    expect(shouted.text).toBe(twin.text);
    for (const accept of ['text/html,*/*;q=0.8', '*/*', 'text/html, text/markdown;q=0.5', 'text/markdown;q=0']) {
      const page = await ask(server, '/api/api-3', { headers: { Accept: accept } });
      expect([page.headers['content-type'], page.headers.vary]).toEqual([
        'text/html; charset=utf-8',
        'Accept, Accept-Encoding',
      ]);
    }
  });

  it('loads its assets from addresses that never change their content', async () => {
    const server = getServer();
    const assets = (await ask(server, '/')).text.match(/\/_astro\/[\w.-]+/g) ?? [];
    expect(assets.length).toBeGreaterThanOrEqual(2);
    for (const asset of assets) {
      const answer = await ask(server, asset);
      expect([answer.status, answer.headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable']);
      expect(answer.headers['content-type']).toMatch(
        /^(text\/(css|javascript); charset=utf-8|image\/(svg\+xml|png)|font\/woff2)$/,
      );
    }
    for (const path of [
      '/_astro/none.css',
      '/_astro/',
      '/_astro/../../site.sqlite',
      '/_astro/.hidden.css',
      '/_image',
    ]) {
      expect([path, (await ask(server, path)).status]).toEqual([path, 404]);
    }
  });
});

describe('what is not in the site folder', () => {
  it('is rendered on demand while it is newer, and gone at once when it is delisted', async () => {
    const server = await serveSiteFixture();
    const { fixture } = server;
    const write = async (work: Parameters<typeof writeCatalogue<unknown>>[2]) => {
      await writeCatalogue(fixture.catalogue, '2026-11-21T00:00:00.000Z', work);
      await server.catchUp();
    };
    await fixture.put([77], 'new');
    await server.catchUp();
    const fresh = await ask(server, '/api/api-77');
    expect(fresh).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
    expect(fresh.text).toContain('Title77 new');
    expect(
      (await ask(server, '/api/api-77', { headers: { 'If-None-Match': String(fresh.headers.etag) } })).status,
    ).toBe(304);
    expect((await ask(server, '/api/api-77.md')).text).toContain('Title77 new');
    // There is no end of made-up addresses, so nothing is kept for one.
    for (const path of ['/mcp/x', '/agent/x'])
      expect(await ask(server, path)).toMatchObject({ status: 404, headers: { 'cache-control': 'no-store' } });
    await rebuildAgain({ config: fixture.config });
    expect(fixture.read('api/api-77.html')).toBe(fresh.text);

    await write((writing) => delistListing(writing, 'api-3', { by: 'operator', reason: 'asked_by_provider' }));
    for (const path of ['/api/api-3', '/api/api-3.md']) {
      const gone = await ask(server, path);
      expect([gone.status, gone.text]).toEqual([410, expect.stringContaining('asked by provider')]);
    }
    await write((writing) => relistListing(writing, 'api-3', { by: 'operator' }));
    expect((await ask(server, '/api/api-3')).status).toBe(200);
  });

  it('is found at its canonical address only, without a slash, an ending or another spelling', async () => {
    const server = getServer();
    for (const [path, location] of [
      ['/api/api-3/', '/api/api-3'],
      ['/api/api-3/?from=x', '/api/api-3?from=x'],
      ['/verified//', '/verified'],
      ['/llms.txt/', '/llms.txt'],
    ] as const) {
      const answer = await ask(server, path);
      expect([path, answer.status, answer.headers.location]).toEqual([path, 308, location]);
    }
    const missing = [
      '/api/api-3.html',
      '/index.html',
      '/404.html',
      '/api/none',
      '/API/api-3',
      '/none',
      '/api',
      '/verified/2',
      '/category/none',
      '//example.com/',
      '//example.com',
      '/%2f/example.com/',
    ];
    const page = (await ask(server, '/404')).text;
    for (const path of missing) {
      const answer = await ask(server, path);
      expect([path, answer.status, answer.text]).toEqual([path, 404, page]);
    }
    for (const path of ['/api/none.md', '/site.json', '/api/api-3.html.json']) {
      const answer = await ask(server, path);
      expect([path, answer.status, answer.headers['content-type']]).toEqual([path, 404, 'application/problem+json']);
    }
  });

  it('does not lead out of the site folder, nor to what is compressed or unfinished in it', async () => {
    const server = getServer();
    for (const path of [
      '/..%2f..%2fpackage.json',
      '/../../package.json',
      '/api/../../site.sqlite',
      '/api/%2e%2e/%2e%2e/site.sqlite',
      '/api%2fapi-3',
      '/_astro/..%2f..%2fsite.sqlite',
      '/_astro/%2e%2e%2f%2e%2e%2fsite.sqlite',
      '/api/api-3.html.br',
      '/index.html.gz',
      '/.new/1',
    ]) {
      const { status, text, headers } = await ask(server, path);
      expect([path, [308, 404].includes(status)]).toEqual([path, true]);
      expect(text).not.toContain('agent-payable-apis');
      expect(headers.location ?? '/api/api-3').toBe('/api/api-3');
    }
  });

  it.each(['/%', '/api/%zz', '/api/%ff', '/%00', '/api/api-3%00.html', '/a%5cb', '/a%0d%0aX-Evil:%201'])(
    'refuses a malformed address: %s',
    async (path) => {
      const server = getServer();
      const { status, headers, text } = await ask(server, path);
      expect([status, headers['content-type']]).toEqual([400, 'application/problem+json']);
      expect(JSON.parse(text)).toMatchObject({ status: 400, code: 'malformed_address' });
    },
  );
});

describe('without pages that fit', () => {
  it('renders every page on demand where files are gone, or the pages are of another catalogue', async () => {
    const server = await serveSiteFixture();
    const { config, catalogue, readPages } = server.fixture;
    const home = (await ask(server, '/')).text;
    const folder = join(config.siteDir, 'api');
    for (const name of readdirSync(folder)) if (name.startsWith('api-1')) rmSync(join(folder, name));
    expect((await ask(server, '/api/api-1')).text).toContain('Title1 first');

    catalogue.engine.sqlite.exec("UPDATE catalogue SET identity = 'another', revision = revision + 1");
    const readHealth = async () => JSON.parse((await ask(server, '/readyz')).text);
    await expect.poll(readHealth).toMatchObject({ ready: false, missing: ['no_pages'] });
    expect((await ask(server, '/')).text.length).toBeGreaterThan(home.length / 2);
    for (const path of [...readPages().keys()].filter((known) => known !== '/404')) {
      expect([path, (await ask(server, path)).status]).toEqual([path, 200]);
    }
    expect((await ask(server, '/none')).status).toBe(404);
  });

  it('says that it is not ready before the first pages are written', async () => {
    const server = await serveSiteFixture({ written: false });
    expect((await ask(server, '/healthz')).status).toBe(200);
    const ready = await ask(server, '/readyz');
    expect(ready.status).toBe(503);
    expect(JSON.parse(ready.text)).toMatchObject({
      missing: ['no_pages'],
      pages: null,
      catalogue: { revision: 1 },
    });
    expect((await ask(server, '/agent/list')).status).toBe(200);
    expect(existsSync(server.fixture.config.siteDir)).toBe(false);
  });
});
