import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import Sqlite from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import type { Catalogue } from '../../src/catalogue/database.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { delistListing } from '../../src/catalogue/write/decisions.ts';
import { type Download, findDownload, isDownloadDue, makeDownload } from '../../src/published/download.ts';
import { SCHEMA } from '../../src/published/schema.ts';
import { getSitePaths } from '../../src/site/paths.ts';
import { makeCatalogue, makeDeclaration, makeFolder, makeRoute, makeTerms, NOW } from '../builders.ts';
import { makeWorld } from '../catalogue/evidence-world.ts';
import { ask, serveSiteFixture, type TestServer } from '../http/running.ts';
import { recordPaid } from '../paid.ts';
import { openTestReading } from '../reading.ts';
import { rebuildAgain } from '../site/rebuilding.ts';
import { declareListings, recordDeclaration, removeListing } from '../written.ts';

const AT = new Date(NOW);
const QUESTIONS = [
  ...readFileSync(join(import.meta.dirname, '../../src/docs/data.md'), 'utf8').matchAll(/```sql\n(.*?)```/gs),
].map(([, sql = '']) => sql);

let market: Buffer | undefined;

/** Makes the catalogue of a market in which something was seen, paid for, sold twice and removed: a copy of the first one. */
async function makeMarket(): Promise<Catalogue> {
  const file = join(makeFolder(), 'catalogue.sqlite');
  if (market) writeFileSync(file, market);
  const catalogue = await makeCatalogue(file);
  if (!market) await liveOn(catalogue);
  market ??= catalogue.engine.sqlite.serialize();
  return catalogue;
}

async function liveOn(catalogue: Catalogue): Promise<void> {
  const world = await makeWorld(catalogue);
  for (const slug of ['one', 'two', 'gone']) {
    await world.declare({
      slug,
      base_url: `https://${slug}.example-provider.com`,
      description: `Tells the weather. ${slug === 'gone' ? 'zqremovedzq' : ''}`,
      routes: ['/v1/a', '/v1/b'].map((path) =>
        makeRoute({ path, description: 'The weather of today.', terms: [makeTerms({ amount: 1000 })] }),
      ),
    });
  }
  for (let hours = 1; hours < 140; hours += 6) for (const slug of ['one', 'two']) await world.look(hours, { slug });
  await recordPaid(catalogue, 'one', { path: '/v1/a', id: '5f3a0c53-3b6e-4a0e-8d43-000000000001' });
  await recordPaid(catalogue, 'two', { path: '/v1/b', id: '5f3a0c53-3b6e-4a0e-8d43-000000000002', status: 500 });
  await writeCatalogue(catalogue, '2026-12-01T00:00:00.000Z', async (writing) => {
    await recordDeclaration(
      writing,
      makeDeclaration({
        slug: 'two',
        base_url: 'https://two.example-provider.com',
        routes: [makeRoute({ path: '/v1/b', terms: [makeTerms({ amount: 2000 })] })],
      }),
    );
    await delistListing(writing, 'gone', { by: 'provider', reason: 'moved away' });
  });
}

/** Makes a copy and opens it, as somebody who downloaded it does. */
async function takeCopy() {
  const { published } = await openTestReading(await makeMarket());
  const folder = makeFolder();
  const download = await makeDownload(published, folder, AT);
  const bytes = gunzipSync(readFileSync(join(folder, download.file)));
  const file = join(folder, 'taken.sqlite');
  writeFileSync(file, bytes);
  return { download, bytes, file, folder, published };
}

describe('the copy for everybody', () => {
  it('answers the ten questions of its page, each with something', async () => {
    const { file } = await takeCopy();
    const copy = new Sqlite(file, { readonly: true });
    expect(QUESTIONS).toHaveLength(10);
    for (const sql of QUESTIONS) expect([sql, copy.prepare(sql).all().length > 0]).toEqual([sql, true]);
    copy.close();
  });

  it('has the tables that its page shows and no other, and nothing in them or between them that was removed', async () => {
    const { file, bytes, download } = await takeCopy();
    const copy = new Sqlite(file, { readonly: true });
    const tables = copy
      .prepare<[], string>("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
      .pluck()
      .all();
    copy.close();
    expect(tables).toEqual([...SCHEMA.matchAll(/CREATE TABLE (\w+)/g)].map(([, name]) => name).sort());
    expect(bytes.includes('zqremovedzq')).toBe(false);
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(download.sha256);
    expect(bytes.length).toBe(download.bytes);
  });

  it('is made again once it is old, and at once where a listing was removed', async () => {
    const catalogue = await makeMarket();
    const reading = await openTestReading(catalogue);
    const folder = makeFolder();
    const isDue = (minutes: number) => {
      reading.refresh();
      return isDownloadDue(reading.published, folder, new Date(AT.getTime() + minutes * 60_000));
    };
    expect(isDue(0)).toBe(true);
    const first = await makeDownload(reading.published, folder, AT);
    expect(isDue(60)).toBe(false);
    await declareListings(
      catalogue,
      [makeDeclaration({ slug: 'new', base_url: 'https://new.example-provider.com' })],
      '2026-12-02T00:00:00.000Z',
    );
    expect([isDue(1), isDue(16)]).toEqual([false, true]);
    await removeListing(catalogue, 'one', { by: 'operator', reason: 'asked' }, '2026-12-03T00:00:00.000Z');
    expect(isDue(1)).toBe(true);
    const second = await makeDownload(reading.published, folder, AT);
    expect(second.revision).toBeGreaterThan(first.revision);
    expect(readdirSync(folder).sort()).toEqual(['catalogue.json', second.file].sort());
  });

  it('is made again at once where a listing is held that was live, and not for one that never was', async () => {
    const catalogue = await makeMarket();
    const reading = await openTestReading(catalogue);
    const folder = makeFolder();
    await makeDownload(reading.published, folder, AT);
    const holdBack = async (slug: string) => {
      const declaration = makeDeclaration({ slug, base_url: `https://${slug}.example-provider.com`, routes: [] });
      await declareListings(catalogue, [declaration], '2026-12-02T00:00:00.000Z');
      reading.refresh();
      return isDownloadDue(reading.published, folder, AT);
    };
    expect([await holdBack('never-live'), await holdBack('two')]).toEqual([false, true]);
  });

  it('is made again where its description is cut short, or it is of what was lost in a restore', async () => {
    const catalogue = await makeMarket();
    const { published } = await openTestReading(catalogue);
    const folder = makeFolder();
    const made = await makeDownload(published, folder, AT);
    const description = join(folder, 'catalogue.json');
    writeFileSync(description, '{"revision":');
    expect([findDownload(folder), isDownloadDue(published, folder, AT)]).toEqual([undefined, true]);
    writeFileSync(description, JSON.stringify({ ...made, revised_at: '2026-11-30T00:00:00.000Z' }));
    expect(isDownloadDue(published, folder, AT)).toBe(true);
    await makeDownload(published, folder, AT);
    expect(isDownloadDue(published, folder, AT)).toBe(false);
  });
});

it('the copy is downloaded from the server as it is or compressed, with its digest', async () => {
  const server = await serveSiteFixture();
  const packed = await ask(server, '/catalogue.sqlite', { headers: { 'Accept-Encoding': 'gzip' } });
  expect(packed).toMatchObject({
    status: 200,
    headers: { 'content-type': 'application/vnd.sqlite3', 'content-encoding': 'gzip', 'x-catalogue-revision': '1' },
  });
  const plain = await ask(server, '/catalogue.sqlite');
  expect(plain.body.equals(gunzipSync(packed.body))).toBe(true);
  const preferred = await ask(server, '/catalogue.sqlite', { headers: { 'Accept-Encoding': 'identity, gzip;q=0.5' } });
  expect(preferred.headers['content-encoding']).toBeUndefined();
  const { text } = await ask(server, '/catalogue.sqlite.sha256');
  expect(text).toBe(`${createHash('sha256').update(plain.body).digest('hex')}  catalogue.sqlite\n`);
  const head = await ask(server, '/catalogue.sqlite', { method: 'HEAD' });
  expect([head.status, head.headers['content-length'], head.body.length]).toEqual([200, String(plain.body.length), 0]);
  const again = await ask(server, '/catalogue.sqlite', { headers: { 'If-None-Match': String(plain.headers.etag) } });
  expect([again.status, again.body.length]).toEqual([304, 0]);

  const fresh = await serveSiteFixture({ written: false });
  expect((await ask(fresh, '/catalogue.sqlite')).status).toBe(404);
  await rebuildAgain({ config: fresh.fixture.config });
  expect((await ask(fresh, '/catalogue.sqlite')).status).toBe(200);
});

function findCopy({ fixture }: TestServer): Download & { folder: string } {
  const folder = getSitePaths(fixture.config.siteDir).download;
  const download = findDownload(folder);
  if (!download) throw new Error('no copy was made');
  return { ...download, folder };
}

it('a copy whose file was lost is answered as none, and made again with the next rebuild', async () => {
  const server = await serveSiteFixture();
  const { folder, file } = findCopy(server);
  rmSync(join(folder, file));
  for (const coding of ['gzip', 'identity']) {
    expect((await ask(server, '/catalogue.sqlite', { headers: { 'Accept-Encoding': coding } })).status).toBe(404);
  }
  await rebuildAgain({ config: server.fixture.config });
  expect((await ask(server, '/catalogue.sqlite')).status).toBe(200);
});

it('a download that is broken off leaves no file open', async () => {
  const server = await serveSiteFixture();
  const { folder, file } = findCopy(server);
  writeFileSync(join(folder, file), gzipSync(randomBytes(8_000_000)));
  const isOpen = () => listOpenFiles().includes(join(folder, file));
  for (const coding of ['gzip', 'identity']) {
    await breakOff(server, coding, () => expect(isOpen()).toBe(true));
    await expect.poll(isOpen).toBe(false);
  }
});

function listOpenFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      return [readlinkSync(join('/proc/self/fd', name))];
    } catch {
      // The descriptor that the folder was listed by is closed by now.
      return [];
    }
  });
}

/** Breaks a download off when the first bytes have come. */
function breakOff({ url }: TestServer, coding: string, atFirst: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'Accept-Encoding': coding };
    const asked = request(`${url}/catalogue.sqlite`, { headers, agent: false }, (response) => {
      response.once('data', () => {
        atFirst();
        response.destroy();
        resolve();
      });
    });
    asked.once('error', reject).end();
  });
}
