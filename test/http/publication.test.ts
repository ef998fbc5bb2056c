import { rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { publishCatalogue } from '../../src/published/follow.ts';
import { makeFolder } from '../builders.ts';
import { makeWritten } from '../site/rebuilding.ts';
import { makeConfig, makeSiteFixture, type SiteFixture } from '../site/site-fixture.ts';
import { dateSchema } from './broken.ts';
import { ask, serveSiteFixture, type TestServer } from './running.ts';

/** So many that a server listens before all of them are written. */
const COUNT = 300;

let written: Promise<Buffer> | undefined;

/** Makes a fixture with so many listings, which are written once for all tests. */
async function makeMany(folder = makeFolder()): Promise<SiteFixture> {
  written ??= makeSiteFixture(makeFolder(), { count: COUNT }).then(({ catalogue }) => {
    const bytes = catalogue.engine.sqlite.serialize();
    return catalogue.close().then(() => bytes);
  });
  writeFileSync(makeConfig(folder).catalogueAddress, await written);
  const fixture = await makeSiteFixture(folder, { count: 0 });
  onTestFinished(() => fixture.catalogue.close());
  return fixture;
}

/** Asks for something that is in no cache. */
async function askForList(server: TestServer) {
  const { status, headers, text } = await ask(server, `/agent/list?limit=${Math.ceil(Math.random() * 900)}&sort=name`);
  return { status, headers, ...JSON.parse(text) };
}

async function askReady(server: TestServer) {
  const { status, text } = await ask(server, '/readyz');
  return { status, ...JSON.parse(text) };
}

it('listens while the published file is made, answers 503 with the progress until it is whole, and then all', async () => {
  const fixture = await makeMany();
  const server = await serveSiteFixture({ fixture, written: false });
  const list = await askForList(server);
  const progress = { listings_done: expect.any(Number), listings_total: COUNT };
  expect(list).toMatchObject({ status: 503, code: 'published_being_made', retry_after_seconds: 5, ...progress });
  expect(list.listings_done).toBeGreaterThan(0);
  expect(list.listings_done).toBeLessThan(COUNT);
  expect(list.headers['retry-after']).toBe('5');
  expect((await ask(server, '/healthz')).status).toBe(200);
  const { status, missing, making, catalogue } = await askReady(server);
  expect({ status, missing, making, catalogue }).toEqual({
    ...{ status: 503, missing: expect.arrayContaining(['published_being_made']), catalogue: null },
    making: progress,
  });
  await expect.poll(async () => (await askForList(server)).status).toBe(200);
  expect((await askForList(server)).total).toBe(COUNT);
  expect(await askReady(server)).toMatchObject({ making: null, missing: ['no_pages'], catalogue: { revision: 1 } });
  const lines = server.logged.filter(({ msg }) => /listings of the published catalogue/.test(String(msg)));
  // Its progress is told again every ten seconds, which a busy machine may need.
  expect(lines.length).toBeGreaterThanOrEqual(2);
  for (const line of lines.slice(0, -1))
    expect(line).toMatchObject({ msg: 'the listings of the published catalogue are being written', ...progress });
  expect(lines.at(-1)).toMatchObject({ msg: 'all listings of the published catalogue are written' });
});

it('answers from listings that other code wrote while they are written again, and says how old they are', async () => {
  const fixture = await makeMany();
  await publishCatalogue(fixture.config, 'other code');
  const server = await serveSiteFixture({ fixture, written: false });
  await fixture.put([COUNT - 1], 'second');
  const path = `/agent/listings/api-${COUNT - 1}`;
  let askedWhileMaking = 0;
  for (let isMade = false; !isMade; ) {
    const { making, missing } = await askReady(server);
    isMade = making === null;
    if (!isMade) askedWhileMaking += 1;
    expect(missing).not.toContain('published_being_made');
    expect((await askForList(server)).status).toBe(200);
    await sleep(20);
  }
  expect(askedWhileMaking).toBeGreaterThan(0);
  while (!(await ask(server, path)).text.includes('Tagline second')) await sleep(20);
});

it.each([
  ['another catalogue', 'another', 'http://catalogue.example'],
  ['another address of the service', 'fixture', 'http://another.example'],
])('answers 503 while there is only the file of %s, and then all', async (_, identity, baseUrl) => {
  const folder = makeFolder();
  const former = await makeSiteFixture(folder, { count: 3, identity });
  await publishCatalogue({ ...former.config, baseUrl }, 'other code');
  await former.catalogue.close();
  rmSync(former.config.catalogueAddress);
  const server = await serveSiteFixture({ fixture: await makeMany(folder), written: false });
  expect(await askForList(server)).toMatchObject({ status: 503, code: 'published_being_made' });
  for (let answer = await askForList(server); ; answer = await askForList(server)) {
    if (answer.status === 200) {
      expect(answer.total).toBe(COUNT);
      break;
    }
    await sleep(20);
  }
});

it('serves the pages that were written while there is no published file, or one of other tables', async () => {
  const folder = makeFolder();
  await (await makeWritten(folder)).catalogue.close();
  const fixture = await makeMany(folder);
  const { publishedFile } = fixture.config;
  dateSchema(fixture);
  for (const spoil of [() => undefined, () => rmSync(publishedFile)]) {
    spoil();
    const server = await serveSiteFixture({ fixture, written: false });
    expect(await askForList(server)).toMatchObject({ status: 503, code: 'published_being_made' });
    await expect.poll(async () => (await ask(server, '/api/api-1')).status).toBe(200);
    expect(await askForList(server)).toMatchObject({ status: 503 });
    await server.close();
  }
});
