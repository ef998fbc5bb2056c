import {
  copyFileSync,
  existsSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { backUpCatalogue, restoreCatalogue } from '../../src/catalogue/backup.ts';
import type { Catalogue } from '../../src/catalogue/database.ts';
import { findLock } from '../../src/catalogue/lock.ts';
import { findListing } from '../../src/catalogue/read/listings.ts';
import { getRevision, writeCatalogue } from '../../src/catalogue/transaction.ts';
import { correctReceipt } from '../../src/catalogue/write/corrections.ts';
import { relistListing } from '../../src/catalogue/write/decisions.ts';
import { createApp } from '../../src/http/app.ts';
import { readRoutesPart } from '../../src/published/cursor.ts';
import { openPublishedForWriting, type Published } from '../../src/published/file.ts';
import { type FollowedFiles, publishCatalogue } from '../../src/published/follow.ts';
import { listPublishedFaults } from '../../src/published/integrity.ts';
import { getItem, iterateRefs, writeDocument } from '../../src/published/listings.ts';
import { startFollowing } from '../../src/published/live-file.ts';
import { openReading } from '../../src/published/reading.ts';
import { openSnapshots } from '../../src/published/snapshot.ts';
import { makeCatalogue, makeDeclaration, makeFolder, makeRoute, makeTerms, NOW } from '../builders.ts';
import { makeWorld } from '../catalogue/evidence-world.ts';
import { fewExamples } from '../few-examples.ts';
import { recordPaid } from '../paid.ts';
import { SITE } from '../site.ts';
import { declareListings, recordDeclaration, removeListing } from '../written.ts';
import { readAll } from './tables.ts';

const BY = 'test';

/** A catalogue, and a published file that follows it when told. */
async function makeFollowed(given?: Catalogue) {
  const catalogue = given ?? (await makeCatalogue());
  const files: FollowedFiles = {
    catalogueAddress: catalogue.address,
    publishedFile: `${catalogue.address}.published`,
    baseUrl: SITE.baseUrl,
  };
  return {
    ...{ catalogue, files },
    follow: (by = BY) => publishCatalogue(files, by),
    read: () => readAll(files.publishedFile),
    /** What a file that is made anew from the catalogue holds. */
    readAnew: async () => {
      const publishedFile = `${catalogue.address}.anew`;
      for (const suffix of ['', '-wal', '-shm']) rmSync(publishedFile + suffix, { force: true });
      await publishCatalogue({ ...files, publishedFile }, BY);
      return readAll(publishedFile);
    },
  };
}

async function put(catalogue: Catalogue, slug: string, text: string): Promise<void> {
  await declareListings(catalogue, [
    makeDeclaration({
      slug,
      base_url: `https://${slug}.example-provider.com`,
      title: `The ${text}`,
      routes: [makeRoute({ path: '/v1/a', terms: [makeTerms({ amount: 1000 })] })],
    }),
  ]);
}

describe('a published catalogue', () => {
  it('that follows step by step holds what one made anew does, whatever is written', async () => {
    const slug = fc.constantFrom('one', 'two', 'three', 'four');
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ kind: fc.constant('put' as const), slug, text: fc.constantFrom('sun', 'sea') }),
      },
      fc.record({
        kind: fc.constantFrom('delist' as const, 'relist' as const, 'pay' as const, 'correct' as const),
        slug,
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
        const { catalogue, follow, read, readAnew } = await makeFollowed();
        let paid = 0;
        for (const one of steps) {
          const state = (await findListing(catalogue, { slug: one.slug }))?.state;
          const id = (number: number) => `5f3a0c53-3b6e-4a0e-8d43-${String(number).padStart(12, '0')}`;
          if (one.kind === 'put') await put(catalogue, one.slug, one.text);
          if (one.kind === 'delist' && state === 'live') {
            await removeListing(catalogue, one.slug, { by: 'operator', reason: 'x' });
          }
          if (one.kind === 'relist' && state === 'delisted') {
            await writeCatalogue(catalogue, NOW, (writing) => relistListing(writing, one.slug, { by: 'operator' }));
          }
          if (one.kind === 'pay' && state !== undefined) {
            paid += 1;
            await recordPaid(catalogue, one.slug, { path: '/v1/a', id: id(paid), status: paid % 2 === 0 ? 500 : 200 });
          }
          if (one.kind === 'correct' && paid > 0) {
            await writeCatalogue(catalogue, NOW, (writing) => correctReceipt(writing, id(paid), `because ${one.slug}`));
          }
          await follow();
          expect(read()).toEqual(await readAnew());
        }
        await catalogue.close();
      }),
      fewExamples(2),
    );
  });

  it('holds the samples of a market as they were published', async () => {
    const world = await makeWorld();
    await world.declare();
    const { follow, read, readAnew } = await makeFollowed(world.catalogue);
    for (let hours = 1; hours < 100; hours += 9) {
      await world.look(hours, hours % 2 === 0 ? { outcome: 'timeout', terms: [] } : {});
      await follow();
      expect(read()).toEqual(await readAnew());
    }
    expect(read().rounds?.length).toBeGreaterThan(3);
  });

  it('holds nothing that is private', async () => {
    const SECRET = 'zqprivatezq';
    const { catalogue, follow, read } = await makeFollowed();
    for (const slug of ['live', 'held', 'gone']) await put(catalogue, slug, 'sun');
    // Everything below is on record, and no reader may see it.
    await writeCatalogue(catalogue, NOW, async (writing) => {
      for (const slug of ['never-live', 'gone']) {
        await recordDeclaration(
          writing,
          makeDeclaration({
            slug,
            base_url: `https://${slug === 'gone' ? 'gone' : SECRET}.example-provider.com`,
            title: slug === 'gone' ? 'Gone' : SECRET,
            docs_url: `https://${SECRET}.example`,
            ...(slug !== 'gone' && { tagline: SECRET, description: SECRET, provider_name: SECRET, routes: [] }),
          }),
        );
      }
    });
    await recordPaid(catalogue, 'live', { path: '/v1/a', id: '5f3a0c53-3b6e-4a0e-8d43-000000000001' });
    await removeListing(catalogue, 'gone', { by: 'operator', reason: 'asked' });
    // A marked secret in the private tables, as if something had put it there.
    catalogue.engine.sqlite.exec(`
      UPDATE payments SET document = json_set(document, '$.reason', '${SECRET}', '$.state', '${SECRET}',
        '$.by_operator', '${SECRET}', '$.head_at', '${SECRET}', '$.prepared_at', '${SECRET}', '$.resolved_at', '${SECRET}');
      INSERT INTO payments (id, route_id, network, day, payer, amount, state, prepared_at, document)
        SELECT '${SECRET}', route_id, network, day, '${SECRET}', 1, 'unknown', prepared_at, document FROM payments LIMIT 1;
      UPDATE declarations SET document = json_set(document, '$.description', '${SECRET}');
      INSERT INTO delistings VALUES ('${SECRET}', 'https://${SECRET}.example', 'operator', '${SECRET}', '${SECRET}', '${NOW}');
      INSERT INTO replies VALUES ('${SECRET}', '${SECRET}', 'https://x.example', 'x', '', '${SECRET}', '${SECRET}', '${NOW}');
      INSERT INTO findings VALUES ('${SECRET}', '${SECRET}', '${SECRET}', 'x', 'noted', '${SECRET}', '${NOW}');
      INSERT INTO hosts (host, robots) VALUES ('https://x.example', '${SECRET}');
      INSERT INTO pulls (id, feed, started_at, pages, items)
        VALUES (1, '${SECRET}', '${SECRET}', 0, 0);
      INSERT INTO feed_items (id, key_hash, feed, item_key, item_hash, pull_id, raw)
        VALUES ('${SECRET}', '${SECRET}', '${SECRET}', '${SECRET}', '${SECRET}', 1, '{"raw":"${SECRET}"}');
      INSERT INTO probe_runs (scope, started_at) VALUES ('${SECRET}', '${SECRET}');
      INSERT INTO samples (listing_id, route_id, host, round, at, outcome, document)
        SELECT listing_id, id, '${SECRET}', 1, '${NOW}', 'timeout', '{"x":"${SECRET}"}' FROM routes;
      UPDATE listing_names SET domain = '${SECRET}', since = '${SECRET}';
    `);
    await follow();
    const all = read();
    const places = Object.entries(all).flatMap(([table, rows]) =>
      rows.filter((row) => JSON.stringify(row).includes(SECRET)).map((row) => [table, row]),
    );
    expect(places).toEqual([]);
    expect(all.listings).toHaveLength(4);
    expect(all.receipts).toHaveLength(1);
  });

  it('that was made from a catalogue before it was restored is made anew', async () => {
    const { catalogue, follow, read, readAnew, files } = await makeFollowed();
    await put(catalogue, 'one', 'sun');
    const backup = join(makeFolder(), 'backup.sqlite');
    await backUpCatalogue(catalogue, backup, { replace: false });
    await put(catalogue, 'one', 'sea');
    await put(catalogue, 'two', 'sea');
    await follow();
    const ask = async (query: string) => {
      const reading = openReading(files.publishedFile, SITE);
      try {
        const response = await createApp({ reading }).request(`${SITE.baseUrl}/agent/changes?${query}`);
        return { status: response.status, ...((await response.json()) as { code?: string; resume_cursor?: string }) };
      } finally {
        reading.published.close();
      }
    };
    const { resume_cursor: late } = await ask('since=0');
    await catalogue.close();
    const renewed = { identity: '0b2f4c52-2c0e-4d52-9a0b-7d7f5a0c9e11', at: '2026-11-21T10:00:00.000Z' };
    const { signal } = new AbortController();
    expect(await restoreCatalogue(backup, catalogue.address, renewed, signal)).toMatchObject({ revision: 2 });
    await follow();
    expect(read()).toEqual(await readAnew());
    expect(read().catalogue).toMatchObject([{ identity: renewed.identity, revision: 2 }]);
    // The cursor is of revision 3, which is not there again yet, and it need not wait for that.
    expect(await ask(`since=${late}`)).toMatchObject({ status: 410, code: 'history_replaced' });
    const restored = await makeCatalogue(catalogue.address);
    await put(restored, 'three', 'sun');
    await put(restored, 'four', 'sun');
    expect(await getRevision(restored)).toBe(4);
    await follow();
    expect(await ask(`since=${late}`)).toMatchObject({ status: 410, code: 'history_replaced' });
    expect(read()).toEqual(await readAnew());
    expect(existsSync(files.publishedFile)).toBe(true);
  });

  it('of another version of the schema is made anew, and a file of something else is refused and left as it is', async () => {
    const { catalogue, follow, read, readAnew, files } = await makeFollowed();
    await put(catalogue, 'one', 'sun');
    await follow();
    const file = new Sqlite(files.publishedFile);
    file.exec('DROP TABLE listings; CREATE TABLE earlier (x); PRAGMA user_version = 999');
    file.close();
    await follow();
    expect(read()).toEqual(await readAnew());

    const others = join(makeFolder(), 'others.sqlite');
    const other = new Sqlite(others);
    other.exec('CREATE TABLE theirs (x)');
    other.close();
    const text = join(makeFolder(), 'notes.txt');
    writeFileSync(text, 'These are notes, and they are longer than the head of a database file. '.repeat(20));
    for (const publishedFile of [others, text, catalogue.address]) {
      await expect(publishCatalogue({ ...files, publishedFile }, BY)).rejects.toThrow(
        /cannot be used as the published catalogue/,
      );
    }
    expect(readAll(others)).toEqual({ theirs: [] });
  });

  it('is made again by other code, and for another address of the service', async () => {
    const { catalogue, follow, read, files } = await makeFollowed();
    await put(catalogue, 'one', 'sun');
    await follow();
    const { answers, listings } = read();
    await follow('other');
    expect(read()).toMatchObject({
      answers,
      listings,
      rendering: [{ code_version: 'other', base_url: SITE.baseUrl }],
    });
    const baseUrl = 'https://two.example';
    await publishCatalogue({ ...files, baseUrl }, 'other');
    const { published, readAtOnce } = openReading(files.publishedFile, { ...SITE, baseUrl });
    const [listing] = readAtOnce(() => Array.from(iterateRefs(published), (ref) => getItem(published, ref)));
    expect(listing?.page_url).toBe(`${baseUrl}/api/one`);
    const shown = { part: readRoutesPart({ limit: 9 }, 'one') };
    expect(writeDocument(published, 'one', shown)).toContain(`"page_url":"${baseUrl}/api/one"`);
    published.close();
    expect(JSON.stringify(read())).not.toContain(SITE.baseUrl);
  });

  it('is compared with the catalogue by what its own code writes', async () => {
    const { catalogue, follow, files } = await makeFollowed();
    await put(catalogue, 'one', 'sun');
    await follow();
    const writing = openPublishedForWriting(files.publishedFile);
    onTestFinished(() => writing.close());
    const listFaults = (by = BY) => listPublishedFaults(catalogue, writing, by);
    expect(await listFaults()).toEqual([]);
    writing.sqlite.exec("UPDATE items SET item = replace(item, 'sun', 'moon')");
    expect(await listFaults()).toEqual(['the table items (one)']);
    expect(await listFaults('newer code')).toEqual([]);
    writing.sqlite.exec('UPDATE counts SET listings = listings + 1');
    expect(await listFaults('newer code')).toEqual(['the table counts']);
  });

  it('is read as it was by those who have it open while another takes its place', async () => {
    const { catalogue, follow, files } = await makeFollowed();
    await put(catalogue, 'one', 'sun');
    await follow();
    const { published, readAtOnce } = openReading(files.publishedFile, SITE);
    onTestFinished(() => published.close());
    const list = () => readAtOnce(() => Array.from(iterateRefs(published), ({ slug }) => slug));
    expect(list()).toEqual(['one']);
    await put(catalogue, 'two', 'sun');
    await follow('other');
    expect(list()).toEqual(['one']);
    published.reopen();
    expect(list()).toEqual(['one', 'two']);
    const beside = readdirSync(join(files.publishedFile, '..')).filter((name) => /published/.test(name));
    expect(beside.filter((name) => /new|former/.test(name))).toEqual([]);
  });

  it('is as it was where following breaks off half-way', async () => {
    const { catalogue, follow, read, readAnew } = await makeFollowed();
    await put(catalogue, 'one', 'sun');
    await follow();
    const before = read();
    await put(catalogue, 'two', 'sun');
    await put(catalogue, 'three', 'sun');
    const broken = catalogue.engine.sqlite.prepare('UPDATE listings SET document = ? WHERE slug = ?');
    const document = JSON.stringify(await findListing(catalogue, { slug: 'three' }));
    broken.run('{"state":"live","routes":[]}', 'three');
    await expect(follow()).rejects.toThrow();
    expect(read()).toEqual(before);
    broken.run(document, 'three');
    await follow();
    expect(read()).toEqual(await readAnew());
  });

  it('is written by who has its lock, and others wait for that', async () => {
    const { catalogue, files, follow, read, readAnew } = await makeFollowed();
    await put(catalogue, 'one', 'sun');
    await follow();
    await put(catalogue, 'two', 'sun');
    const lock = findLock(`${files.publishedFile}.lock`);
    let isThrough = false;
    const waiting = follow('other code').then(() => {
      isThrough = true;
    });
    const elsewhere = publishCatalogue({ ...files, baseUrl: 'https://two.example' }, BY);
    await expect(elsewhere).rejects.toMatchObject({
      reason: 'published_shared',
      message: expect.stringContaining(`a service at ${SITE.baseUrl}, and BASE_URL is https://two.example`),
    });
    // What other code wrote is not taken for what is waited for.
    expect([read().listings?.length, isThrough]).toEqual([1, false]);
    lock?.release();
    await waiting;
    expect(read()).toMatchObject({ rendering: [{ code_version: 'other code' }] });
    await follow();
    expect(read()).toEqual(await readAnew());
  });
});

it('a damaged file is made again', async () => {
  const { catalogue, files, read, readAnew } = await makeFollowed();
  await put(catalogue, 'one', 'sun');
  await publishCatalogue(files, BY);
  truncateSync(files.publishedFile, 5000);
  await publishCatalogue(files, BY);
  expect(read()).toEqual(await readAnew());
  expect(statSync(`${files.publishedFile}.damaged`).size).toBe(5000);
});

it('a file that SQLite does not recognise is left alone, with what to do about it', async () => {
  const { catalogue, files } = await makeFollowed();
  await put(catalogue, 'one', 'sun');
  writeFileSync(files.publishedFile, 'Letters, and no pages. '.repeat(400));
  await expect(publishCatalogue(files, BY)).rejects.toThrow(
    expect.objectContaining({ reason: 'not_a_published_catalogue', hint: expect.stringContaining('Set PUBLISHED') }),
  );
});

describe('following', () => {
  it('shows a change soon after its commit, and goes on after a failure', async () => {
    const { catalogue, files, read } = await makeFollowed();
    await put(catalogue, 'one', 'sun');
    const failures: unknown[] = [];
    const following = await startFollowing(files, BY, (error) => failures.push(error));
    onTestFinished(() => following.close());
    expect(read().listings).toHaveLength(1);
    await put(catalogue, 'two', 'sun');
    while (read().listings?.length !== 2) await new Promise((resolve) => setTimeout(resolve, 5));

    const change = catalogue.engine.sqlite.prepare('UPDATE listings SET document = ?, revision = ? WHERE slug = ?');
    change.run('{"state":"live","routes":[],"reliability":{}}', 9, 'one');
    await put(catalogue, 'three', 'sun');
    while (failures.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(following.findAge()).toBeDefined();
    expect(read().listings).toHaveLength(2);
    change.run('{}', 0, 'one');
    while (read().listings?.length !== 3) await new Promise((resolve) => setTimeout(resolve, 5));
    while (following.findAge() !== undefined) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it('is done by one of two, and by the other once that ends', async () => {
    const { catalogue, files, follow } = await makeFollowed();
    await put(catalogue, 'one', 'sun');
    const failures: unknown[] = [];
    const start = () => startFollowing(files, BY, (error) => failures.push(error));
    const [first, second] = [await start(), await start()];
    onTestFinished(() => second.close());
    const count = (published: Published) =>
      published.prepare<{ count: number }>('SELECT count(*) AS count FROM listings').get()?.count;
    const waitFor = (listings: number) => expect.poll(() => count(second.published)).toBe(listings);
    await put(catalogue, 'two', 'sun');
    await waitFor(2);
    expect(second.findAge()).toBeUndefined();
    // A rebuild beside them waits for what they write.
    await put(catalogue, 'three', 'sun');
    await follow();
    expect(count(second.published)).toBe(3);
    // While there is no file that it can read, who only reads says so.
    const sqlite = new Sqlite(files.publishedFile);
    sqlite.pragma('user_version = 999');
    sqlite.close();
    second.published.reopen();
    await expect.poll(() => second.findObstacle()).toBe('published_being_made');
    expect(() => second.refuseUnservable()).toThrow(expect.objectContaining({ code: 'unavailable' }));
    await first.close();
    await put(catalogue, 'four', 'sun');
    await waitFor(4);
    expect(failures).toEqual([]);
  });

  it('makes a file again that was removed or damaged, and has its readers read that', async () => {
    const { catalogue, files } = await makeFollowed();
    await put(catalogue, 'one', 'sun');
    const failures: unknown[] = [];
    const following = await startFollowing(files, BY, (error) => failures.push(error));
    onTestFinished(() => following.close());
    const list = () => Array.from(iterateRefs(following.published), ({ slug }) => slug);
    expect(list()).toEqual(['one']);
    for (const suffix of ['', '-wal', '-shm']) rmSync(files.publishedFile + suffix);
    await put(catalogue, 'two', 'sun');
    await expect.poll(() => list().length).toBe(2);
    expect(failures).toEqual([]);
    // Another process may have put another one in its place before it was noticed.
    const snapshots = openSnapshots(following.published);
    const before = snapshots();
    copyFileSync(files.publishedFile, `${files.publishedFile}.copy`);
    renameSync(`${files.publishedFile}.copy`, files.publishedFile);
    const openings = following.published.getOpenings();
    await expect.poll(() => list() && following.published.getOpenings()).toBe(openings + 1);
    expect(snapshots()).toEqual(before);
    expect(snapshots()).not.toBe(before);
    following.noteFailure(new Sqlite.SqliteError('database disk image is malformed', 'SQLITE_CORRUPT'));
    expect(following.findObstacle()).toBe('published_damaged');
    await expect.poll(() => following.findObstacle()).toBeUndefined();
    expect(list()).toEqual(['one', 'two']);
    expect(existsSync(`${files.publishedFile}.damaged`)).toBe(true);
    expect(failures).toMatchObject([{ reason: 'published_damaged' }]);
  });

  it('cuts the journal down after a whole rewriting', async () => {
    const { catalogue, files } = await makeFollowed();
    await put(catalogue, 'one', 'sun');
    await publishCatalogue(files, BY);
    const reader = openPublishedForWriting(files.publishedFile);
    onTestFinished(() => reader.close());
    const journal = `${files.publishedFile}-wal`;
    reader.sqlite.exec(
      'CREATE TABLE large (bytes BLOB); INSERT INTO large VALUES (zeroblob(40000000)); DROP TABLE large',
    );
    await put(catalogue, 'two', 'sun');
    await publishCatalogue(files, BY);
    await put(catalogue, 'three', 'sun');
    await publishCatalogue(files, BY);
    expect(statSync(journal).size).toBeLessThan(20_000_000);
  });
});
