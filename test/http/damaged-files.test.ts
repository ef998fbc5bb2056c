import { closeSync, openSync, renameSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openPublished, openPublishedForWriting } from '../../src/published/file.ts';
import { makeFolder } from '../builders.ts';
import { startCatalogue } from '../cli/running.ts';
import { makeSiteFixture } from '../site/site-fixture.ts';
import { ask, serveSiteFixture, type TestServer } from './running.ts';
import { start, waitForUrl } from './starting.ts';

const PAGE_BYTES = 8192;

/** Overwrites the pages of a database, from one of them on. */
function damage(file: string, from: number): void {
  const handle = openSync(file, 'r+');
  for (let at = from * PAGE_BYTES; at < statSync(file).size; at += PAGE_BYTES)
    writeSync(handle, Buffer.alloc(PAGE_BYTES, 0xa5), 0, PAGE_BYTES, at);
  closeSync(handle);
}

/** Gives a path below a file, where nothing can be. */
const getPathBelow = (file: string) => join(file, 'catalogue.sqlite');

/** Puts all of what is written into the file itself, so that damage to it is damage to what is read. */
function checkpoint(file: string): void {
  const published = openPublishedForWriting(file);
  published.sqlite.pragma('wal_checkpoint(TRUNCATE)');
  published.close();
}

async function isHealed(server: TestServer): Promise<boolean> {
  // Its answer is kept while nothing changes; this one is read from the file.
  const { status, text } = await ask(server, `/agent/list?q=title&limit=${Math.ceil(Math.random() * 900)}`);
  // A failure that is met first is one of ours; nothing is answered from damage after that.
  expect([200, 500, 503]).toContain(status);
  if (status === 503) expect(JSON.parse(text)).toMatchObject({ code: 'published_damaged' });
  return status === 200 && JSON.parse(text).total > 0;
}

it.each([
  ['pages of it', 1],
  ['all of it', 0],
])('makes the published file again where %s are damaged, and answers nothing from it', async (_, from) => {
  const server = await serveSiteFixture();
  const { publishedFile } = server.fixture.config;
  await server.fixture.put([0], 'second');
  await server.catchUp();
  checkpoint(publishedFile);
  damage(publishedFile, from);
  await server.fixture.put([0], 'third');
  await expect.poll(async () => (await isHealed(server)) && (await ask(server, '/agent/list')).text).toContain('third');
  await expect.poll(async () => JSON.parse((await ask(server, '/readyz')).text).missing).toEqual([]);
  const published = openPublished(publishedFile);
  expect(published.sqlite.pragma('integrity_check', { simple: true })).toBe('ok');
  published.close();
});

it('answers 503 and is not ready for as long as the damaged file cannot be made again', async () => {
  const server = await serveSiteFixture();
  const { publishedFile, catalogueAddress } = server.fixture.config;
  checkpoint(publishedFile);
  renameSync(catalogueAddress, `${catalogueAddress}.away`);
  damage(publishedFile, 1);
  await expect.poll(async () => (await isHealed(server)) || (await ask(server, '/readyz')).status).toBe(503);
  const list = await ask(server, '/agent/list');
  expect([list.status, list.headers['retry-after']]).toEqual([503, '1']);
  expect(JSON.parse((await ask(server, '/readyz')).text).missing).toContain('published_damaged');
  expect((await ask(server, '/api/api-1')).status).toBe(200);
  renameSync(`${catalogueAddress}.away`, catalogueAddress);
  await expect.poll(() => isHealed(server)).toBe(true);
});

it('starts with a damaged published file, which it makes again', async () => {
  const fixture = await makeSiteFixture(makeFolder());
  const before = await serveSiteFixture({ fixture });
  await before.close();
  damage(fixture.config.publishedFile, 1);
  const server = await serveSiteFixture({ fixture, written: false });
  await expect.poll(() => isHealed(server)).toBe(true);
});

it.each([
  ['damaged', (file: string) => damage(file, 1)],
  ['cut off', (file: string) => truncateSync(file, 10 * PAGE_BYTES)],
])('npm start makes a published file again that is %s, and keeps the pages', async (_, spoil) => {
  const folder = makeFolder();
  const fixture = await makeSiteFixture(folder);
  const before = await serveSiteFixture({ fixture });
  await before.close();
  spoil(fixture.config.publishedFile);
  const server = start(folder);
  const url = await waitForUrl(server);
  await expect.poll(async () => (await fetch(`${url}/agent/list`)).status).toBe(200);
  expect((await (await fetch(`${url}/agent/list`)).json()).total).toBe(8);
  expect((await fetch(`${url}/api/api-1`)).status).toBe(200);
  server.child.kill('SIGTERM');
  expect(await server.ended).toBe(0);
});

it('keeps what was published where the catalogue is gone, until it is back', async () => {
  const folder = makeFolder();
  const fixture = await makeSiteFixture(folder);
  const before = await serveSiteFixture({ fixture, written: false });
  await before.close();
  await fixture.catalogue.close();
  const { catalogueAddress } = fixture.config;
  renameSync(catalogueAddress, `${catalogueAddress}.away`);
  const server = start(folder, {}, ['--no-rebuild']);
  const url = await waitForUrl(server);
  const read = async (path: string) => (await fetch(url + path)).json();
  expect((await read('/agent/list')).total).toBe(8);
  expect(await read('/readyz')).toMatchObject({ missing: expect.arrayContaining(['not_following']) });
  expect(server.said.out).toContain('The catalogue is empty, and what was published');
  server.child.kill('SIGTERM');
  expect(await server.ended).toBe(0);
  rmSync(catalogueAddress);
  renameSync(`${catalogueAddress}.away`, catalogueAddress);
  const after = start(folder, {}, ['--no-rebuild']);
  const again = await waitForUrl(after);
  await expect.poll(async () => (await (await fetch(`${again}/readyz`)).json()).missing).not.toContain('not_following');
  expect((await (await fetch(`${again}/agent/list`)).json()).total).toBe(8);
});

it.each([
  ['is no database any more', (file: string) => damage(file, 0), 'is no SQLite database'],
  ['can be neither found nor made', getPathBelow, 'cannot be opened'],
])('npm start serves what was published before where the catalogue %s', async (_, spoil, why) => {
  const folder = makeFolder();
  const fixture = await makeSiteFixture(folder);
  const before = await serveSiteFixture({ fixture, written: false });
  await before.close();
  await fixture.catalogue.close();
  const { catalogueAddress, publishedFile } = fixture.config;
  const settings = { CATALOGUE: spoil(catalogueAddress) ?? catalogueAddress, PUBLISHED: publishedFile };
  const server = start(folder, settings, ['--no-rebuild']);
  const url = await waitForUrl(server);
  const list = await fetch(`${url}/agent/list`);
  expect(await list.json()).toMatchObject({ total: 8 });
  expect(Number(list.headers.get('x-catalogue-age'))).toBeGreaterThanOrEqual(0);
  expect(await (await fetch(`${url}/readyz`)).json()).toMatchObject({
    missing: expect.arrayContaining(['not_following']),
  });
  expect(server.said.out).toContain(why);
  expect(server.said.out).toContain('Meanwhile what was published before is served.');
  await expect.poll(() => server.said.err).toContain('cannot follow the catalogue');
  server.child.kill('SIGTERM');
  expect(await server.ended).toBe(0);
});

it('starts with what was published before where the catalogue cannot be read, and says so', async () => {
  const fixture = await makeSiteFixture(makeFolder());
  const before = await serveSiteFixture({ fixture });
  await before.close();
  await fixture.catalogue.close();
  damage(fixture.config.catalogueAddress, 1);
  const server = await serveSiteFixture({ fixture, written: false });
  const list = await ask(server, '/agent/list');
  expect([list.status, Number(list.headers['x-catalogue-age']) >= 0]).toEqual([200, true]);
  expect(JSON.parse((await ask(server, '/readyz')).text)).toMatchObject({
    state: 'degraded',
    missing: ['not_following'],
  });
});

it('refuses another kind of file in the place of the published one, and a check names the file that is damaged', async () => {
  const fixture = await makeSiteFixture(makeFolder());
  const server = await serveSiteFixture({ fixture });
  await server.close();
  const { config } = fixture;
  const settings = {
    CATALOGUE: config.catalogueAddress,
    PUBLISHED: config.publishedFile,
    SITE: config.siteDir,
  };
  damage(config.publishedFile, 2);
  const { stdout } = await startCatalogue(['check', '--json'], settings).ran;
  const { checks } = JSON.parse(stdout) as { checks: { name: string; ok: boolean; found: string; hint?: string }[] };
  expect(checks.find(({ name }) => name === 'database')).toMatchObject({ ok: true });
  expect(checks.find(({ name }) => name === 'published')).toMatchObject({
    ok: false,
    found: expect.stringContaining(config.publishedFile),
    hint: expect.stringContaining('makes it again'),
  });
  expect(stdout).not.toContain('Restore a backup');
  writeFileSync(config.publishedFile, 'a letter');
  await expect(serveSiteFixture({ fixture, written: false })).rejects.toThrow(
    'cannot be used as the published catalogue',
  );
});
