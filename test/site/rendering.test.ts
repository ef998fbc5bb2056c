import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { getHash } from '../../src/published/hash.ts';
import type { Reading } from '../../src/published/reading.ts';
import { loadPageCode, type StalePage, writePages } from '../../src/site/rendering.ts';
import { makeFolder } from '../builders.ts';
import { openTestReading } from '../reading.ts';
import { makeSiteFixture } from './site-fixture.ts';

/** Compiled pages of a handful of lines, in place of those that the compiler makes. */
const ENTRY = `export async function handler(request, response, next, locals) {
  const { url, method, headers } = request;
  if (url === '/none') return next();
  if (url === '/half') {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.write('<html>');
    response.write('Internal server error', () => response.destroy(new Error('broke off')));
    return;
  }
  response.writeHead(url === '/404' ? 404 : 200, { 'content-type': 'text/plain' });
  response.write(new TextEncoder().encode(method + ' '));
  response.end(url + ' ' + headers.host + ' ' + locals.reading.getSnapshot().revision);
}`;

function makeCode(source = ENTRY) {
  const folder = makeFolder();
  writeFileSync(join(folder, 'entry.mjs'), source);
  return { version: 'test', folder, entry: join(folder, 'entry.mjs'), clientDir: folder };
}

async function makeReading(): Promise<Reading> {
  const { config } = await makeSiteFixture(makeFolder(), { count: 1 });
  return await openTestReading({ address: config.catalogueAddress }, { site: config });
}

describe('rendering without a socket', () => {
  it('gives what the handler writes, piece by piece', async () => {
    const render = await loadPageCode(makeCode());
    const page = await render('/x?y', await makeReading());
    expect(page).toEqual({ status: 200, type: 'text/plain', body: Buffer.from('GET /x?y localhost 1') });
    expect(await render('/none', await makeReading())).toBeUndefined();
  });

  it('does not take a page for whole that broke off', async () => {
    const render = await loadPageCode(makeCode());
    expect(await render('/half', await makeReading())).toMatchObject({ status: 500 });
  });

  it('says which compiled pages are none', async () => {
    await expect(loadPageCode(makeCode('export const nothing = 1;'))).rejects.toMatchObject({ reason: 'no_handler' });
  });
});

const listStale = (paths: readonly string[]): StalePage[] =>
  paths.map((path, number) => ({ path, file: path.slice(1), key: 'key', number }));

describe('writing pages into a folder', () => {
  it('writes each under its number, and says what it wrote', async () => {
    const render = await loadPageCode(makeCode());
    const folder = makeFolder();
    const written = await writePages(listStale(['/a', '/404']), { render, reading: await makeReading(), folder });
    const body = 'GET /a localhost 1';
    expect(written[0]).toEqual({
      path: '/a',
      file: 'a',
      key: 'key',
      number: 0,
      etag: getHash(Buffer.from(body)),
      forms: [],
    });
    expect(readFileSync(join(folder, '0'), 'utf8')).toBe(body);
    expect(readdirSync(folder)).toEqual(['0', '1']);
  });

  it.each(['/none', '/half'])('names a page that fails (%s), and writes nothing after that', async (failing) => {
    const render = await loadPageCode(makeCode());
    const folder = makeFolder();
    const pages = listStale(['/before', failing, ...Array.from({ length: 50 }, (_, n) => `/after-${n}`)]);
    await expect(writePages(pages, { render, reading: await makeReading(), folder })).rejects.toMatchObject({
      reason: 'page_failed',
      message: expect.stringContaining(`The page ${failing} could not be rendered`),
    });
    const written = readdirSync(folder).length;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(readdirSync(folder)).toHaveLength(written);
    expect(existsSync(join(folder, '1'))).toBe(false);
  });
});
