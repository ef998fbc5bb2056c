import { closeSync, openSync, renameSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { prepareCatalogue } from '../../scripts/first-start.ts';
import { openPublished, openPublishedForWriting } from '../../src/published/file.ts';
import { makeFolder } from '../builders.ts';
import { makeCommands } from '../cli/running.ts';
import { makeWritten } from '../site/rebuilding.ts';
import { makeSiteFixture, type SiteFixture } from '../site/site-fixture.ts';
import { ask, serveSiteFixture, type TestServer } from './running.ts';

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

/** A catalogue of eight listings that was served before, and that nobody has open. */
async function makeServed(): Promise<SiteFixture> {
  const fixture = await makeSiteFixture(makeFolder());
  const before = await serveSiteFixture({ fixture, written: false });
  await before.close();
  await fixture.catalogue.close();
  return fixture;
}

/** Starts the service as `npm start` does, in this process and without rebuilds, and returns what it said before. */
async function startAgain(fixture: SiteFixture, catalogueAddress = fixture.config.catalogueAddress) {
  const config = { ...fixture.config, catalogueAddress };
  const said: string[] = [];
  const { signal } = new AbortController();
  await prepareCatalogue({ config, now: () => new Date(), signal, tell: (line) => said.push(line) });
  const server = await serveSiteFixture({ fixture: { ...fixture, config }, written: false });
  return { server, said };
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

it.each([
  ['damaged', (file: string) => damage(file, 1)],
  ['cut off', (file: string) => truncateSync(file, 10 * PAGE_BYTES)],
])('starts with a published file that is %s, makes it again, and keeps the pages', async (_, spoil) => {
  const fixture = await makeWritten(makeFolder());
  const before = await serveSiteFixture({ fixture, written: false });
  await before.close();
  spoil(fixture.config.publishedFile);
  const { server } = await startAgain(fixture);
  await expect.poll(() => isHealed(server)).toBe(true);
  expect(JSON.parse((await ask(server, '/agent/list')).text).total).toBe(8);
  expect((await ask(server, '/api/api-1')).status).toBe(200);
});

it('keeps what was published where the catalogue is gone, until it is back', async () => {
  const fixture = await makeServed();
  const { catalogueAddress } = fixture.config;
  renameSync(catalogueAddress, `${catalogueAddress}.away`);
  const { server, said } = await startAgain(fixture);
  const read = async (path: string) => JSON.parse((await ask(server, path)).text);
  expect((await read('/agent/list')).total).toBe(8);
  expect(await read('/readyz')).toMatchObject({ missing: expect.arrayContaining(['not_following']) });
  expect(said.join('\n')).toContain('The catalogue is empty, and what was published');
  await server.close();
  rmSync(catalogueAddress);
  renameSync(`${catalogueAddress}.away`, catalogueAddress);
  const { server: after } = await startAgain(fixture);
  await expect.poll(async () => JSON.parse((await ask(after, '/readyz')).text).missing).not.toContain('not_following');
  expect(JSON.parse((await ask(after, '/agent/list')).text).total).toBe(8);
});

it.each([
  ['is no database any more', (file: string) => damage(file, 0), 'is no SQLite database'],
  ['can be neither found nor made', getPathBelow, 'cannot be opened'],
])('serves what was published before where the catalogue %s', async (_, spoil, why) => {
  const fixture = await makeServed();
  const { catalogueAddress } = fixture.config;
  const { server, said } = await startAgain(fixture, spoil(catalogueAddress) ?? catalogueAddress);
  const list = await ask(server, '/agent/list');
  expect(JSON.parse(list.text)).toMatchObject({ total: 8 });
  expect(Number(list.headers['x-catalogue-age'])).toBeGreaterThanOrEqual(0);
  expect(JSON.parse((await ask(server, '/readyz')).text)).toMatchObject({
    missing: expect.arrayContaining(['not_following']),
  });
  expect(said).toEqual([expect.stringContaining(why)]);
  expect(said[0]).toContain('Meanwhile what was published before is served.');
  const findLogged = () => server.logged.some(({ msg }) => String(msg).includes('cannot follow the catalogue'));
  await expect.poll(findLogged).toBe(true);
});

it('starts with what was published before where the catalogue cannot be read, and says so', async () => {
  const fixture = await makeWritten(makeFolder());
  const before = await serveSiteFixture({ fixture, written: false });
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
  const fixture = await makeWritten(makeFolder());
  const server = await serveSiteFixture({ fixture, written: false });
  await server.close();
  const { config } = fixture;
  const settings = {
    CATALOGUE: config.catalogueAddress,
    PUBLISHED: config.publishedFile,
    SITE: config.siteDir,
  };
  damage(config.publishedFile, 2);
  const { stdout } = await makeCommands(settings).run(['check', '--json']);
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
