import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openCatalogue } from '../../src/catalogue/database.ts';
import { acquireLock } from '../../src/catalogue/lock.ts';
import { type Config, readConfig } from '../../src/config.ts';
import { getHash } from '../../src/published/hash.ts';
import type { RebuildEvent } from '../../src/site/events.ts';
import { getSitePaths } from '../../src/site/paths.ts';
import { rebuild } from '../../src/site/rebuild.ts';
import { openRecord } from '../../src/site/record.ts';
import { openSnapshotReadings } from '../../src/site/snapshot-reading.ts';
import { writeSite } from '../../src/site/write-site.ts';
import { makeFolder } from '../builders.ts';
import { removeListing } from '../written.ts';
import { makeWritten, rebuildAgain } from './rebuilding.ts';
import { findDone, getContent, makeSiteFixture, type SiteFixture } from './site-fixture.ts';

const getInode = ({ config }: SiteFixture, file: string) => statSync(join(config.siteDir, file)).ino;

describe('a rebuild', () => {
  it('writes every page under its address, and none where nothing changed', async () => {
    const fixture = await makeSiteFixture(makeFolder());
    const events: RebuildEvent[] = [];
    const first = await rebuildAgain({ config: fixture.config, onEvent: (event) => events.push(event) });
    expect(first).toMatchObject({ outcome: 'written', removed: 0, unchanged: 0 });
    expect(first.site).toMatchObject({ identity: 'fixture', revision: 1 });
    const pages = fixture.readPages();
    expect(first).toMatchObject({ written: pages.size });
    expect(events.at(-1)).toEqual({ type: 'rendering', done: pages.size, total: pages.size });
    expect(
      [...pages]
        .filter(([path]) => /^\/($|404|llms|verified|api\/api-3)/.test(path))
        .map(([path, { file }]) => [path, file]),
    ).toEqual([
      ['/', 'index.html'],
      ['/404', '404.html'],
      ['/api/api-3', 'api/api-3.html'],
      ['/api/api-3.md', 'api/api-3.md'],
      ['/llms.txt', 'llms.txt'],
      ['/verified', 'verified.html'],
    ]);
    expect(fixture.read('api/api-3.html')).toContain('Title3 first');
    expect(fixture.read('api/api-3.md')).toContain('Title3 first');
    const [stylesheet] = /\/_astro\/[\w.-]+\.css/.exec(fixture.read('index.html')) ?? [];
    expect(fixture.read(String(stylesheet))).toContain('{');
    // Those of listings come before those that link to them.
    const { ctimeMs: home } = statSync(join(fixture.config.siteDir, 'index.html'));
    for (const { file } of pages.values())
      if (file.startsWith('api/'))
        expect(statSync(join(fixture.config.siteDir, file)).ctimeMs).toBeLessThanOrEqual(home);
    expect(existsSync(join(getSitePaths(fixture.config.siteDir).download, 'catalogue.json'))).toBe(true);

    expect(await rebuildAgain({ config: fixture.config })).toEqual({ outcome: 'unchanged', site: first.site });
  });

  it('writes what a change shows on and leaves the rest, with the same bytes as a full one', async () => {
    const fixture = await makeSiteFixture(makeFolder(), { count: 40 });
    await rebuildAgain({ config: fixture.config });
    const kept = getInode(fixture, 'api/api-11.html');
    const changed = getInode(fixture, 'api/api-0.html.br');
    await fixture.put([0], 'second');
    const second = await rebuildAgain({ config: fixture.config });
    expect(second).toMatchObject({ outcome: 'written', site: { revision: 2 } });
    expect('unchanged' in second && second.written / second.unchanged).toBeLessThan(1);
    expect(getInode(fixture, 'api/api-11.html')).toBe(kept);
    expect(getInode(fixture, 'api/api-0.html.br')).not.toBe(changed);
    expect(fixture.read('api/api-0.html')).toContain('Title0 second');

    const full = { ...fixture.config, siteDir: `${fixture.config.siteDir}-full` };
    expect(await rebuildAgain({ config: full })).toMatchObject({ outcome: 'written', unchanged: 0 });
    expect(getContent(full)).toEqual(getContent(fixture.config));
  });

  it('removes the pages of a removed listing and its provider with their compressed forms, and nothing else', async () => {
    const fixture = await makeSiteFixture(makeFolder(), { count: 2 });
    await rebuildAgain({ config: fixture.config });
    const own = join(fixture.config.siteDir, 'api/own.html');
    writeFileSync(own, 'of somebody else');
    await removeListing(fixture.catalogue, 'api-1', { by: 'operator', reason: 'asked' }, '2026-11-21T12:00:00.000Z');
    expect(await rebuildAgain({ config: fixture.config })).toMatchObject({ outcome: 'written', removed: 3 });
    const left = readdirSync(join(fixture.config.siteDir, 'api')).filter((name) => !name.startsWith('api-0'));
    expect(left).toEqual(['own.html']);
    expect(fixture.readPages().has('/api/api-1')).toBe(false);
  });

  it('starts from scratch for other settings, also where that was interrupted, and for another catalogue in the same folder', async () => {
    const fixture = await makeWritten(makeFolder());
    writeFileSync(join(fixture.config.siteDir, 'own.html'), 'of somebody else');
    // As a rebuild leaves it that is stopped while it removes the other pages.
    const record = openRecord(getSitePaths(fixture.config.siteDir).record);
    record.forgetPages(record.listPages().slice(0, 10));
    record.close();
    const baseUrl = 'http://other.example';
    const renamed = { ...fixture.config, serviceTitle: 'Another Title', baseUrl, contactUrl: baseUrl };
    expect(await rebuildAgain({ config: renamed })).toMatchObject({ outcome: 'written', unchanged: 0 });
    expect(fixture.read('index.html')).toContain('Another Title');
    for (const { file } of fixture.readPages().values())
      expect(fixture.read(file)).not.toContain(fixture.config.baseUrl);

    const elsewhere = await makeSiteFixture(makeFolder(), { count: 3, identity: 'another' });
    await elsewhere.catalogue.close();
    const other = { ...fixture.config, catalogueAddress: elsewhere.config.catalogueAddress };
    expect(await rebuildAgain({ config: other })).toMatchObject({ outcome: 'written', unchanged: 0, removed: 0 });
    expect(findDone(fixture.config)).toMatchObject({ identity: 'another' });
    const names = readdirSync(join(fixture.config.siteDir, 'api')).filter((name) => name.endsWith('.html'));
    expect(names.sort()).toEqual(['api-0.html', 'api-1.html', 'api-2.html']);
    expect(fixture.read('own.html')).toBe('of somebody else');
  });

  it('keeps nothing of a state that a restored catalogue has not been through', async () => {
    const folder = makeFolder();
    const fixture = await makeWritten(folder);
    const backup = join(folder, 'backup.sqlite');
    await fixture.catalogue.engine.sqlite.backup(backup);
    await fixture.put([1], 'lost');
    await rebuildAgain({ config: fixture.config });
    expect(fixture.read('api/api-1.html')).toContain('Title1 lost');

    // The same revision number again, with other content under it.
    const restored = await makeSiteFixture(makeFolder(), { count: 0 });
    await restored.catalogue.close();
    copyFileSync(backup, restored.config.catalogueAddress);
    const catalogue = await openCatalogue(restored.config.catalogueAddress, {
      identity: 'x',
      at: '2026-11-20T12:00:00.000Z',
    });
    catalogue.engine.sqlite.exec("UPDATE catalogue SET revision = 2, revised_at = '2026-11-21T00:00:00.000Z'");
    catalogue.engine.sqlite.exec(
      "INSERT INTO changes (revision, at, listing_id, kind, reason, detail) SELECT 2, '2026-11-21T00:00:00.000Z', id, 'described', 'test', '{}' FROM listings LIMIT 1",
    );
    await catalogue.close();
    const config = { ...fixture.config, catalogueAddress: restored.config.catalogueAddress };
    expect(await rebuildAgain({ config })).toMatchObject({ outcome: 'written', unchanged: 0 });
    expect(fixture.read('api/api-1.html')).toContain('Title1 first');
  });

  it('keeps nothing that was written for a state which was lost, by a rebuild that was stopped half-way', async () => {
    const fixture = await makeWritten(makeFolder());
    const { site } = await rebuildAgain({ config: fixture.config });
    const record = openRecord(getSitePaths(fixture.config.siteDir).record);
    record.writeBuild('begun', { ...site, revision: 2, revised_at: '2026-11-22T00:00:00.000Z' });
    record.close();
    await fixture.put([1], 'second');
    expect(await rebuildAgain({ config: fixture.config })).toMatchObject({ outcome: 'written', unchanged: 0 });
  });

  it('is of one revision while writers go on', async () => {
    const fixture = await makeWritten(makeFolder());
    const all = Array.from({ length: 8 }, (_, number) => number);
    await fixture.put(all, 'before1');
    let isMoved = false;
    const { site } = await rebuildAgain({
      config: fixture.config,
      onEvent: async ({ type }) => {
        if (type === 'rendering' && !isMoved) await fixture.put(all, 'after1');
        isMoved ||= type === 'rendering';
      },
    });
    expect(isMoved).toBe(true);
    const editions = all.map((number) => /Title\d+ (\w+)/.exec(fixture.read(`api/api-${number}.html`))?.[1]);
    expect(new Set(editions)).toEqual(new Set(['before1']));
    expect(fixture.read('llms.txt')).not.toContain('after1');
    expect(site.revision).toBe(2);
  });

  it('has every page compressed beside it', async () => {
    const fixture = await makeWritten(makeFolder());
    for (const { file, etag } of fixture.readPages().values()) {
      const place = join(fixture.config.siteDir, file);
      const page = readFileSync(place);
      expect([file, getHash(page)]).toEqual([file, etag]);
      expect([file, existsSync(`${place}.br`), existsSync(`${place}.gz`)]).toEqual([
        file,
        page.length >= 1024,
        page.length >= 1024,
      ]);
      if (page.length < 1024) continue;
      expect(brotliDecompressSync(readFileSync(`${place}.br`))).toEqual(page);
      expect(gunzipSync(readFileSync(`${place}.gz`))).toEqual(page);
    }
  });

  it('writes a page again that is gone, and assets that are gone', async () => {
    const fixture = await makeWritten(makeFolder());
    const page = join(fixture.config.siteDir, 'api/api-7.html');
    rmSync(page);
    expect(await rebuildAgain({ config: fixture.config })).toMatchObject({ outcome: 'written', written: 1 });
    expect(fixture.read('api/api-7.html')).toContain('Title7 first');

    const assets = join(fixture.config.siteDir, '_astro');
    const names = readdirSync(assets).sort();
    rmSync(assets, { recursive: true });
    await rebuildAgain({ config: fixture.config });
    expect(readdirSync(assets).sort()).toEqual(names);
  });

  it('takes pages for what they are after a copy of the folder, which changes their times', async () => {
    const fixture = await makeWritten(makeFolder());
    utimesSync(join(fixture.config.siteDir, 'api/api-1.html'), 1, 1);
    expect(await rebuildAgain({ config: fixture.config })).toMatchObject({ outcome: 'unchanged' });
  });

  it.each([
    ['is gone', (file: string) => rmSync(file)],
    ['is cut off', (file: string) => truncateSync(file, 100)],
    ['has other bytes', (file: string) => writeFileSync(file, 'x'.repeat(statSync(file).size))],
  ])('writes every page again where the record of them %s', async (_, damage) => {
    const fixture = await makeWritten(makeFolder());
    const content = getContent(fixture.config);
    damage(getSitePaths(fixture.config.siteDir).record);
    expect(await rebuildAgain({ config: fixture.config })).toMatchObject({ outcome: 'written', unchanged: 0 });
    expect(getContent(fixture.config)).toEqual(content);
    expect(await rebuildAgain({ config: fixture.config })).toMatchObject({ outcome: 'unchanged' });
  });

  it('writes pages again whose replacing was interrupted, and removes those that are not wanted any more', async () => {
    const fixture = await makeWritten(makeFolder());
    const record = openRecord(getSitePaths(fixture.config.siteDir).record);
    for (const path of ['/api/api-1', '/api/api-9']) {
      record.writePages([{ path, file: `${path.slice(1)}.html`, key: '', etag: '' }]);
      writeFileSync(join(fixture.config.siteDir, `${path.slice(1)}.html`), 'of another time');
    }
    record.close();
    expect(await rebuildAgain({ config: fixture.config })).toMatchObject({
      outcome: 'written',
      written: 1,
      removed: 1,
    });
    expect(fixture.read('api/api-1.html')).toContain('Title1 first');
    expect(existsSync(join(fixture.config.siteDir, 'api/api-9.html'))).toBe(false);
  });

  it('gives a replaced page another time, to the second', async () => {
    const fixture = await makeWritten(makeFolder());
    const seconds: number[] = [];
    for (const edition of ['one', 'two', 'six']) {
      await fixture.put([0], edition);
      await rebuildAgain({ config: fixture.config });
      for (const ending of ['', '.gz']) {
        const { mtimeMs } = statSync(join(fixture.config.siteDir, `api/api-0.html${ending}`));
        seconds.push(Math.floor(mtimeMs / 1000));
      }
    }
    const [ofPage, ofForm] = [0, 1].map((form) => seconds.filter((_, at) => at % 2 === form));
    for (const times of [ofPage, ofForm]) expect(new Set(times).size).toBe(3);
  });

  it('clears away what a killed one left unfinished', async () => {
    const fixture = await makeWritten(makeFolder());
    const { unfinished } = getSitePaths(fixture.config.siteDir);
    mkdirSync(unfinished, { recursive: true });
    writeFileSync(join(unfinished, '1.br'), 'half');
    await rebuildAgain({ config: fixture.config });
    expect(existsSync(unfinished)).toBe(false);
  });

  it('waits for the one before it', async () => {
    const fixture = await makeWritten(makeFolder());
    await fixture.put([0], 'second');
    // As another rebuild holds it.
    const lock = await acquireLock(getSitePaths(fixture.config.siteDir).lock);
    const events: string[] = [];
    const waiting = rebuildAgain({ config: fixture.config, onEvent: ({ type }) => events.push(type) });
    await expect.poll(() => events).toEqual(['waiting']);
    expect(fixture.read('api/api-0.html')).toContain('Title0 first');
    lock.release();
    expect(await waiting).toMatchObject({ outcome: 'written' });
    expect(fixture.read('api/api-0.html')).toContain('Title0 second');
  });

  // It ends the process of all others, so it is the last one.
  it('removes what is gone even where a page cannot be written', async () => {
    const fixture = await makeWritten(makeFolder());
    await removeListing(fixture.catalogue, 'api-1', { by: 'operator', reason: 'asked' }, '2026-11-21T12:00:00.000Z');
    // Nothing can be renamed into the place of the home page.
    rmSync(join(fixture.config.siteDir, 'index.html'));
    mkdirSync(join(fixture.config.siteDir, 'index.html'));
    await expect(rebuildAgain({ config: fixture.config })).rejects.toMatchObject({ reason: 'rebuild_failed' });
    expect(existsSync(join(fixture.config.siteDir, 'api/api-1.html'))).toBe(false);
  });
});

describe('a rebuild that cannot be done', () => {
  /** Rebuilds in this process. */
  const write = (config: Config) => {
    const readings = openSnapshotReadings(config);
    return writeSite({ config, readings, force: false, onEvent: () => undefined, now: () => new Date() });
  };

  it('says that there is no catalogue', async () => {
    const config = readConfig({ CATALOGUE: join(makeFolder(), 'none.sqlite'), SITE: join(makeFolder(), 'site') });
    await expect(write(config)).rejects.toMatchObject({ code: 'not_found', reason: 'no_catalogue' });
  });

  it('says of a folder that nobody can make that it cannot be made', async () => {
    const { config, catalogue } = await makeSiteFixture(makeFolder(), { count: 1 });
    onTestFinished(() => catalogue.close());
    // On a system without /proc it is below a file.
    const siteDir = existsSync('/proc') ? '/proc/no/site' : join(config.catalogueAddress, 'site');
    await expect(write({ ...config, siteDir })).rejects.toMatchObject({ reason: 'no_folder' });
  });

  it('says that it was stopped, and leaves what all pages were last made from', async () => {
    const fixture = await makeWritten(makeFolder());
    const site = findDone(fixture.config);
    await fixture.put([0], 'second');
    const stopping = new AbortController();
    const stopped = rebuild({ config: fixture.config, signal: stopping.signal });
    setTimeout(() => stopping.abort(), 100);
    await expect(stopped).rejects.toMatchObject({ code: 'unavailable', reason: 'stopped' });
    expect(findDone(fixture.config)).toEqual(site);
  });
});
