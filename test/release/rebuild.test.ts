import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { openCatalogue } from '../../src/catalogue/database.ts';
import { readConfig } from '../../src/config.ts';
import { getHash } from '../../src/published/hash.ts';
import type { RebuildEvent } from '../../src/release/events.ts';
import { rebuild } from '../../src/release/rebuild.ts';
import { getPlace, getShardName, linkShard } from '../../src/release/shards.ts';
import { makeFolder } from '../builders.ts';
import { rebuildAgain } from './rebuilding.ts';
import { getContent, listReleaseFolders, makeReleaseFixture, type ReleaseFixture } from './release-fixture.ts';

const getInode = ({ config }: ReleaseFixture, file: string) => statSync(join(config.releasesDir, 'current', file)).ino;

describe('a rebuild', () => {
  it('makes a complete release, and none where nothing changed', async () => {
    const fixture = await makeReleaseFixture(makeFolder());
    const events: RebuildEvent[] = [];
    const first = await rebuildAgain({ config: fixture.config, onEvent: (event) => events.push(event) });
    expect(first).toMatchObject({ outcome: 'released', linked: 0, release: { identity: 'fixture', revision: 1 } });
    expect(events.at(-1)).toMatchObject({ type: 'rendering', done: first.release.page_count });
    const pages = fixture.readPages();
    expect(pages.size).toBe(first.release.page_count);
    for (const path of ['/', '/404', '/llms.txt', '/verified', '/api/api-3']) expect(pages.has(path)).toBe(true);
    expect(pages.get('/api/api-3')).toMatchObject({ file: 'api.ap/api-3.html', type: 'text/html; charset=utf-8' });
    expect(fixture.read('api.ap/api-3.html')).toContain('Title3 first');
    const [stylesheet] = /\/_astro\/[\w.-]+\.css/.exec(fixture.read('root/index.html')) ?? [];
    expect(existsSync(join(fixture.config.releasesDir, 'assets', String(stylesheet)))).toBe(true);

    expect(await rebuildAgain({ config: fixture.config })).toEqual({ outcome: 'unchanged', release: first.release });
    expect(listReleaseFolders(fixture)).toEqual([first.release.id]);
  });

  it('renders what a change shows on and links the rest, with the same bytes as a full one', async () => {
    const fixture = await makeReleaseFixture(makeFolder(), { count: 40 });
    await rebuildAgain({ config: fixture.config });
    const kept = getInode(fixture, 'api.ap/api-11.html');
    const changed = getInode(fixture, 'api.ap/api-0.html');
    await fixture.put([0], 'second');
    const second = await rebuildAgain({ config: fixture.config });
    expect(second).toMatchObject({ outcome: 'released', release: { revision: 2 } });
    expect('rendered' in second && second.rendered).toBeLessThan(40);
    expect('linked' in second && second.linked).toBeGreaterThan(30);
    expect(getInode(fixture, 'api.ap/api-11.html')).toBe(kept);
    expect(getInode(fixture, 'api.ap/api-0.html')).not.toBe(changed);
    expect(fixture.read('api.ap/api-0.html')).toContain('Title0 second');

    const full = { ...fixture.config, releasesDir: `${fixture.config.releasesDir}-full` };
    expect(await rebuildAgain({ config: full })).toMatchObject({ outcome: 'released', linked: 0 });
    expect(getContent(full)).toEqual(getContent(fixture.config));
  });

  it('starts from scratch for other settings and for another catalogue in the same place', async () => {
    const folder = makeFolder();
    const fixture = await makeReleaseFixture(folder);
    await rebuildAgain({ config: fixture.config });
    const renamed = { ...fixture.config, serviceTitle: 'Another Title' };
    expect(await rebuildAgain({ config: renamed })).toMatchObject({ outcome: 'released', linked: 0 });
    expect(fixture.read('root/index.html')).toContain('Another Title');

    const elsewhere = await makeReleaseFixture(makeFolder(), { count: 3, identity: 'another' });
    await elsewhere.catalogue.close();
    const other = { ...fixture.config, catalogueAddress: elsewhere.config.catalogueAddress };
    expect(await rebuildAgain({ config: other })).toMatchObject({
      outcome: 'released',
      linked: 0,
      release: { identity: 'another' },
    });
    expect([...fixture.readPages().keys()].filter((path) => /^\/api\/[^.]+$/.test(path))).toHaveLength(3);

    // Back at the first settings, the first release is still there to build upon.
    expect(await rebuildAgain({ config: fixture.config })).toMatchObject({ outcome: 'released', rendered: 0 });
  });

  it('does not build upon a state that a restored catalogue has not been through', async () => {
    const folder = makeFolder();
    const fixture = await makeReleaseFixture(folder, { count: 3 });
    const backup = join(folder, 'backup.sqlite');
    await fixture.catalogue.engine.sqlite.backup(backup);
    await fixture.put([1], 'lost');
    await rebuildAgain({ config: fixture.config });
    expect(fixture.read('api.ap/api-1.html')).toContain('Title1 lost');

    // The same revision number again, with other content under it.
    const restored = await makeReleaseFixture(makeFolder(), { count: 0 });
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
    expect(await rebuildAgain({ config })).toMatchObject({ outcome: 'released', linked: 0 });
    expect(fixture.read('api.ap/api-1.html')).toContain('Title1 first');
  });

  it('is of one revision while writers go on', async () => {
    const fixture = await makeReleaseFixture(makeFolder(), { count: 20 });
    const all = Array.from({ length: 20 }, (_, number) => number);
    await rebuildAgain({ config: fixture.config });
    for (let round = 0; round < 2; round += 1) {
      await fixture.put(all, `before${round}`);
      let isMoved = false;
      const { release } = await rebuildAgain({
        config: fixture.config,
        onEvent: async ({ type }) => {
          if (type === 'rendering' && !isMoved) await fixture.put(all, `after${round}`);
          isMoved ||= type === 'rendering';
        },
      });
      const editions = all.map((number) => /Title\d+ (\w+)/.exec(fixture.read(`api.ap/api-${number}.html`))?.[1]);
      expect(new Set(editions)).toEqual(new Set([`before${round}`]));
      expect(fixture.read('root/llms.txt')).not.toContain(`after${round}`);
      expect(release.revision).toBe(2 + 2 * round);
    }
  });

  it('has every page compressed beside it, and links those forms with it', async () => {
    const fixture = await makeReleaseFixture(makeFolder(), { count: 40 });
    await rebuildAgain({ config: fixture.config });
    const current = join(fixture.config.releasesDir, 'current');
    for (const [path, { file, bytes, forms }] of fixture.readPages()) {
      const page = readFileSync(join(current, file));
      const names = bytes < 1024 ? [] : ['br', 'gz'];
      expect([path, Object.keys(forms ?? {})]).toEqual([path, names]);
      if (bytes < 1024) continue;
      expect(brotliDecompressSync(readFileSync(join(current, `${file}.br`)))).toEqual(page);
      expect(gunzipSync(readFileSync(join(current, `${file}.gz`)))).toEqual(page);
    }
    const kept = getInode(fixture, 'api.ap/api-11.html.br');
    const changed = getInode(fixture, 'api.ap/api-0.html.br');
    await fixture.put([0], 'second');
    await rebuildAgain({ config: fixture.config });
    expect(getInode(fixture, 'api.ap/api-11.html.br')).toBe(kept);
    expect(getInode(fixture, 'api.ap/api-0.html.br')).not.toBe(changed);
  });

  it.each([
    ['is gone', (file: string) => rmSync(file)],
    ['is cut off', (file: string) => truncateSync(file, 100)],
    ['has other bytes', (file: string) => writeFileSync(file, 'x'.repeat(statSync(file).size))],
    ['is there, but its compressed form is gone', (file: string) => rmSync(`${file}.br`)],
    ['is there, but its compressed form is cut off', (file: string) => truncateSync(`${file}.gz`, 100)],
  ])('renders a page again whose file %s in the last release', async (_, damage) => {
    const fixture = await makeReleaseFixture(makeFolder(), { count: 12 });
    const { release } = await rebuildAgain({ config: fixture.config });
    const events: RebuildEvent[] = [];
    const onEvent = (event: RebuildEvent) => events.push(event);
    damage(join(fixture.config.releasesDir, 'releases', release.id, 'api.ap/api-6.html'));
    await fixture.put([0], 'second');
    const second = await rebuildAgain({ config: fixture.config });
    expect(second).toMatchObject({ outcome: 'released', linked: expect.any(Number) });
    expect(fixture.read('api.ap/api-6.html')).toContain('Title6 first');

    damage(join(fixture.config.releasesDir, 'releases', second.release.id, 'api.ap/api-7.html'));
    const mended = await rebuildAgain({ config: fixture.config, onEvent });
    expect(mended).toMatchObject({ outcome: 'released', rendered: 1 });
    expect(events).toContainEqual({ type: 'mending', damage: expect.stringContaining(second.release.id) });
    expect(fixture.read('api.ap/api-7.html')).toContain('Title7 first');
    expect(await rebuildAgain({ config: fixture.config })).toMatchObject({ outcome: 'unchanged' });
  });

  it('takes pages for what they are after a copy of the folder, which changes their times', async () => {
    const fixture = await makeReleaseFixture(makeFolder(), { count: 4 });
    const { release } = await rebuildAgain({ config: fixture.config });
    const folder = join(fixture.config.releasesDir, 'releases', release.id);
    utimesSync(join(folder, 'api.ap/api-1.html'), 1, 1);
    expect(await rebuildAgain({ config: fixture.config })).toMatchObject({ outcome: 'unchanged' });
  });

  it('builds from scratch where what it built upon looks untouched and is not what was rendered', async () => {
    const fixture = await makeReleaseFixture(makeFolder(), { count: 40 });
    const { release } = await rebuildAgain({ config: fixture.config });
    const folder = join(fixture.config.releasesDir, 'releases', release.id);
    const file = join(folder, getPlace('/api/api-11', 'api/api-11.html'));
    writeFileSync(file, 'x'.repeat(statSync(file).size));
    pretendUntouched(folder, '/api/api-11');
    await fixture.put([0], 'second');
    const events: RebuildEvent[] = [];
    const second = await rebuildAgain({ config: fixture.config, onEvent: (event) => events.push(event) });
    expect(second).toMatchObject({ outcome: 'released', linked: 0 });
    expect(events).toContainEqual({
      type: 'mending',
      damage: expect.stringMatching(/^The page \/api\/api-11 of the new release is not what was rendered\.$/),
    });
    expect(fixture.read('api.ap/api-11.html')).toContain('Title11 first');
  });

  it.each([
    ['is gone', (file: string) => rmSync(file)],
    ['is cut off', (file: string) => truncateSync(file, 100)],
    ['has other bytes', (file: string) => writeFileSync(file, 'x'.repeat(statSync(file).size))],
  ])('does not count as a release what has a list of pages that %s', async (_, damage) => {
    const fixture = await makeReleaseFixture(makeFolder(), { count: 2 });
    const { release } = await rebuildAgain({ config: fixture.config });
    const content = getContent(fixture.config);
    damage(join(fixture.config.releasesDir, 'releases', release.id, 'root/list.json'));
    expect(await rebuildAgain({ config: fixture.config })).toMatchObject({ outcome: 'released', linked: 0 });
    expect(getContent(fixture.config)).toEqual(content);
    expect(await rebuildAgain({ config: fixture.config })).toMatchObject({ outcome: 'unchanged' });
  });

  it('puts assets back that are gone or cut off, without a new release', async () => {
    const fixture = await makeReleaseFixture(makeFolder(), { count: 2 });
    const { release } = await rebuildAgain({ config: fixture.config });
    const assets = join(fixture.config.releasesDir, 'assets/_astro');
    const [name = ''] = Object.keys(release.assets);
    const mend = async () => {
      const events: RebuildEvent[] = [];
      const result = await rebuildAgain({ config: fixture.config, onEvent: (event) => events.push(event) });
      expect(result).toEqual({ outcome: 'unchanged', release });
      return events;
    };
    rmSync(assets, { recursive: true });
    expect(await mend()).toEqual([{ type: 'mending', damage: expect.stringContaining(name) }]);
    truncateSync(join(assets, name), 3);
    expect(await mend()).toEqual([{ type: 'mending', damage: `Lost or damaged: ${name}.` }]);
    expect(readdirSync(assets).sort()).toEqual(Object.keys(release.assets).sort());
    expect(statSync(join(assets, name)).size).toBe(release.assets[name]);
    expect(await mend()).toEqual([]);
  });

  it('keeps three releases, and removes what killed rebuilds left', async () => {
    const fixture = await makeReleaseFixture(makeFolder(), { count: 2 });
    mkdirSync(join(fixture.config.releasesDir, 'releases/.20200101T000000000Z-r1.unfinished/api'), { recursive: true });
    writeFileSync(join(fixture.config.releasesDir, 'releases/.20200101T000000000Z-r1.unfinished/api/x.html'), 'half');
    const ids: string[] = [];
    for (const edition of ['a', 'b', 'c', 'd', 'e']) {
      await fixture.put([0], edition);
      ids.push((await rebuildAgain({ config: fixture.config })).release.id);
    }
    expect(listReleaseFolders(fixture)).toEqual(ids.slice(-3));
  });

  it('waits for the one before it', async () => {
    const fixture = await makeReleaseFixture(makeFolder());
    const waited: string[] = [];
    const results = await Promise.all(
      [1, 2].map(() =>
        rebuild({ config: fixture.config, onEvent: ({ type }) => type === 'waiting' && waited.push(type) }),
      ),
    );
    expect(results.map(({ outcome }) => outcome).sort()).toEqual(['released', 'unchanged']);
    expect(waited.length).toBeGreaterThanOrEqual(1);
    expect(listReleaseFolders(fixture)).toHaveLength(1);
  });
});

describe('a rebuild that cannot be done', () => {
  it('says that there is no catalogue', async () => {
    const config = readConfig({ CATALOGUE: join(makeFolder(), 'none.sqlite'), RELEASES: join(makeFolder(), 'dist') });
    await expect(rebuild({ config })).rejects.toMatchObject({ code: 'not_found', reason: 'no_catalogue' });
  });

  it('says what lies in the place of the link to the current release', async () => {
    const fixture = await makeReleaseFixture(makeFolder());
    const current = join(fixture.config.releasesDir, 'current');
    mkdirSync(current, { recursive: true });
    await expect(rebuild({ config: fixture.config })).rejects.toMatchObject({
      code: 'conflict',
      reason: 'current_not_a_link',
      message: `${current} is a folder, where the link to the current release should be.`,
      hint: expect.stringContaining('Move it away'),
    });
    rmSync(current, { recursive: true });
    writeFileSync(current, '');
    await expect(rebuild({ config: fixture.config })).rejects.toThrow(`${current} is a file, where`);
  });

  it('says that it was stopped, and leaves the current release', async () => {
    const fixture = await makeReleaseFixture(makeFolder());
    const { release } = await rebuild({ config: fixture.config });
    await fixture.put([0], 'second');
    const stopping = new AbortController();
    const stopped = rebuild({ config: fixture.config, signal: stopping.signal });
    setTimeout(() => stopping.abort(), 100);
    await expect(stopped).rejects.toMatchObject({ code: 'unavailable', reason: 'stopped' });
    expect(getContent(fixture.config).revision).toBe(release.revision);
  });
});

/** Lets a page of a release look as if nobody wrote to its file since; a time cannot be set back to the nanosecond. */
function pretendUntouched(folder: string, path: string): void {
  const shard = getShardName(path);
  const header = JSON.parse(readFileSync(join(folder, 'release.json'), 'utf8'));
  const pages = JSON.parse(readFileSync(join(folder, shard, 'list.json'), 'utf8'));
  pages[path].written = statSync(join(folder, pages[path].file)).mtimeMs;
  const list = JSON.stringify(pages);
  writeFileSync(join(folder, shard, 'list.json'), list);
  const hash = getHash(list);
  renameSync(realpathSync(join(folder, shard)), join(folder, '../../shards', hash));
  rmSync(join(folder, shard));
  linkShard(join(folder, shard), hash);
  header.shards[shard] = hash;
  writeFileSync(join(folder, 'release.json'), JSON.stringify(header));
}
