import { copyFileSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { openPublished } from '../../src/published/file.ts';
import { rebuildAgain } from '../site/rebuilding.ts';
import { breakPublished } from './broken.ts';
import { ask, serveSiteFixture } from './running.ts';

it('is ready with a catalogue and pages of it, and names both', async () => {
  const server = await serveSiteFixture();
  const { status, text, headers } = await ask(server, '/readyz');
  expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
  expect(JSON.parse(text)).toMatchObject({
    ready: true,
    missing: [],
    catalogue: { identity: 'fixture', revision: 1, revised_at: expect.any(String) },
    pages: { revision: 1, made_at: expect.any(String), code_version: expect.any(String) },
  });
  await server.fixture.put([0], 'second');
  await server.catchUp();
  expect(JSON.parse((await ask(server, '/readyz')).text)).toMatchObject({
    ready: true,
    catalogue: { revision: 2 },
    pages: { revision: 1 },
  });
});

it('says how old what it shows is, and since when it has not followed, while it goes on answering', async () => {
  const started = Date.now();
  const server = await serveSiteFixture();
  const read = async () => {
    const { status, text } = await ask(server, '/readyz');
    return { status, ...JSON.parse(text) };
  };
  expect(await read()).toMatchObject({
    state: 'ready',
    catalogue: { age_seconds: expect.any(Number) },
    pages: { age_seconds: expect.any(Number) },
    following: { works: true, failing_since: null },
  });
  const { catalogue } = await read();
  const age = (Date.now() - Date.parse(catalogue.revised_at)) / 1000;
  expect(Math.abs(catalogue.age_seconds - age)).toBeLessThan(10);

  const mend = breakPublished(server.fixture);
  await server.fixture.put([0], 'second');
  await expect.poll(async () => (await read()).state).toBe('degraded');
  const degraded = await read();
  expect(degraded).toMatchObject({ status: 200, ready: true, missing: ['not_following'], following: { works: false } });
  const since = Date.parse(degraded.following.failing_since);
  expect(since).toBeGreaterThanOrEqual(started);
  expect(since).toBeLessThanOrEqual(Date.now());
  const listed = await ask(server, '/agent/list');
  expect(listed.status).toBe(200);
  expect(Number(listed.headers['x-catalogue-age'])).toBeLessThanOrEqual((Date.now() - since) / 1000);
  // It says so to anybody, so it does not say why: that is in the log.
  expect(JSON.stringify(degraded)).not.toContain('disk is broken');
  expect(server.logged.filter(({ msg }) => msg === 'the published catalogue cannot follow the catalogue')).toHaveLength(
    1,
  );
  mend();
  await server.catchUp();
  await expect.poll(async () => (await read()).state).toBe('ready');
  expect((await ask(server, '/agent/list')).headers).not.toHaveProperty('x-catalogue-age');

  breakPublished(server.fixture);
  await server.fixture.put([0], 'third');
  await expect.poll(async () => (await read()).state).toBe('degraded');
  expect(Date.parse((await read()).following.failing_since)).toBeGreaterThan(since);
});

it('goes on answering while the file of the catalogue is away or another, and says how old that is, and why to the log', async () => {
  const server = await serveSiteFixture();
  const { catalogueAddress: file } = server.fixture.config;
  const readMissing = async () => {
    const { status, text } = await ask(server, '/readyz');
    return [status, JSON.parse(text).missing];
  };
  const readAge = async () => {
    const { status, headers } = await ask(server, '/agent/list');
    expect(status).toBe(200);
    return headers['x-catalogue-age'];
  };
  renameSync(file, `${file}.old`);
  await expect.poll(readMissing).toEqual([200, ['not_following']]);
  await expect.poll(readAge).toMatch(/^[1-9]/);
  copyFileSync(`${file}.old`, file);
  await expect.poll(async () => Number(await readAge())).toBeGreaterThan(2);
  expect(await readMissing()).toEqual([200, ['not_following']]);
  const logged = server.logged.filter(({ msg }) => msg === 'the published catalogue cannot follow the catalogue');
  expect(logged).toMatchObject([
    { err: { message: `Another file, or none, is in the place of the catalogue ${file}.` } },
  ]);
  renameSync(`${file}.old`, file);
  await expect.poll(readMissing).toEqual([200, []]);
  expect(await readAge()).toBeUndefined();
});

it('is not ready without pages, and goes on rendering', async () => {
  const server = await serveSiteFixture();
  for (const ending of ['', '-wal', '-shm'])
    rmSync(`${server.fixture.config.siteDir}.sqlite${ending}`, { force: true });
  expect(JSON.parse((await ask(server, '/readyz')).text)).toMatchObject({
    ready: false,
    state: 'down',
    missing: ['no_pages'],
  });
  expect((await ask(server, '/api/api-1')).text).toContain('Title1 first');
  expect((await ask(server, '/none')).status).toBe(404);
});

it('says once that the site folder cannot be read, and renders its pages', async () => {
  const server = await serveSiteFixture();
  const { siteDir } = server.fixture.config;
  rmSync(join(siteDir, 'api/api-1.html'));
  mkdirSync(join(siteDir, 'api/api-1.html'));
  for (let time = 0; time < 2; time += 1) expect((await ask(server, '/api/api-1')).text).toContain('Title1 first');
  expect(server.logged.filter(({ level }) => Number(level) >= 40)).toMatchObject([
    { level: 50, msg: 'the site folder cannot be read', err: { code: 'EISDIR' } },
  ]);
});

it('logs one line for each request at level debug, and none above', async () => {
  const server = await serveSiteFixture({ written: false, level: 'debug' });
  const known = await ask(server, '/agent/list?limit=1&q=secret');
  await ask(server, '/agent/none');
  await sleep(20);
  const requests = server.logged.filter(({ msg }) => msg === 'request');
  expect(requests).toMatchObject([
    {
      ...{ level: 20, method: 'GET', path: '/agent/list', status: 200, complete: true },
      ...{ client: '127.0.0.0/24', request_id: known.headers['x-request-id'] },
    },
    { level: 20, path: '/agent/none', status: 404 },
  ]);
  expect(JSON.stringify(server.logged)).not.toContain('secret');
  expect(server.logged.filter(({ level }) => Number(level) >= 40)).toEqual([]);
});

it('serves on, all documents of one state, while its published file is removed and made again by another process', async () => {
  const server = await serveSiteFixture();
  const { config } = server.fixture;
  rmSync(config.publishedFile);
  await server.fixture.put([1], 'first');
  await expect.poll(async () => (await ask(server, '/agent/list')).text).toContain('first');
  for (const path of ['/openapi.json', '/llms-full.txt']) {
    const { status, text } = await ask(server, path);
    expect([path, status, text.includes('first')]).toEqual([path, 200, true]);
  }
  await rebuildAgain({ config });
  await server.fixture.put([1], 'second');
  await expect.poll(async () => (await ask(server, '/agent/list')).text).toContain('second');
  await rebuildAgain({ config });
  for (const path of ['/agent/list', '/agent/listings/api-1', '/openapi.json', '/llms-full.txt']) {
    const { status, text } = await ask(server, path);
    expect([path, status, text.includes('second')]).toEqual([path, 200, true]);
  }
  expect((await ask(server, '/api/api-1')).text).toContain('second');
  const published = openPublished(config.publishedFile);
  expect(published.sqlite.pragma('quick_check', { simple: true })).toBe('ok');
  published.close();
});
