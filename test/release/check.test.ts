import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getHash } from '../../src/published/hash.ts';
import { checkRelease } from '../../src/release/check.ts';
import { findCurrentRelease } from '../../src/release/release.ts';
import { getShardName } from '../../src/release/shards.ts';
import { openSnapshotReading } from '../../src/release/snapshot-reading.ts';
import { makeFolder } from '../builders.ts';
import { rebuildAgain } from './rebuilding.ts';
import { makeReleaseFixture, type ReleaseFixture } from './release-fixture.ts';

let fixture: ReleaseFixture;
const root = mkdtempSync(join(tmpdir(), 'catalogue-'));

beforeAll(async () => {
  fixture = await makeReleaseFixture(root, { count: 4 });
  await rebuildAgain({ config: fixture.config });
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Checks a copy of the release after something was done to it. */
function checkAfter(damage: (folder: string, replace: (path: string, text: string) => void) => void): void {
  const release = findCurrentRelease(fixture.config.releasesDir);
  if (!release) throw new Error('no release');
  const folder = join(makeFolder(), 'release');
  mkdirSync(folder);
  for (const name of readdirSync(release.folder)) {
    cpSync(realpathSync(join(release.folder, name)), join(folder, name), { recursive: true });
  }
  let { header } = release;
  const replace = (path: string, text: string) => {
    const shard = getShardName(path);
    const manifest = join(folder, shard, 'list.json');
    const pages = JSON.parse(readFileSync(manifest, 'utf8'));
    pages[path].hash = getHash(text);
    writeFileSync(join(folder, pages[path].file), text);
    const list = JSON.stringify(pages);
    writeFileSync(manifest, list);
    header = { ...header, shards: { ...header.shards, [shard]: getHash(list) } };
  };
  damage(folder, replace);
  const reading = openSnapshotReading(fixture.config);
  try {
    checkRelease({ header, folder, releasesDir: fixture.config.releasesDir, reading });
  } finally {
    reading.published.close();
  }
}

describe('the check of a release', () => {
  it('passes what was made', () => {
    expect(() => checkAfter(() => undefined)).not.toThrow();
  });

  it('finds a page without its file', () => {
    expect(() => checkAfter((folder) => rmSync(join(folder, 'api.ap/api-2.html')))).toThrow('/api/api-2');
  });

  it('finds bytes that were not rendered', () => {
    expect(() => checkAfter((folder) => writeFileSync(join(folder, 'root/index.html'), ''))).toThrow(
      'The page / of the new release is not what was rendered.',
    );
  });

  it('finds the page of another listing', () => {
    expect(() => checkAfter((_, replace) => replace('/api/api-2', fixture.read('api.ap/api-3.html')))).toThrow(
      '/api/api-2 of the new release is of another listing',
    );
  });

  it.each([
    ['/api/none', true],
    ['http://catalogue.example/_astro/none.css', true],
    ['/api/none.md', true],
    ['/api/api-3?from=home#routes', false],
    ['/api/api-3.md', false],
    ['/agent/list', false],
    ['https://elsewhere.example/none', false],
    ['#main', false],
    ['/api/none', false, 'rel="nofollow ugc"'],
  ])('judges a link to %s', (link, isDead, rel = '') => {
    const check = () => checkAfter((_, replace) => replace('/', `<a href="${link}" ${rel}>link</a>`));
    if (isDead) expect(check).toThrow(/links to \/.*none.*, which is not there/);
    else expect(check).not.toThrow();
  });

  it("takes a contact page at the service's own address for one that is there", async () => {
    const settings = { CONTACT_URL: 'http://catalogue.example/contact' };
    const { config, read } = await makeReleaseFixture(makeFolder(), { count: 1, settings });
    await expect(rebuildAgain({ config })).resolves.toMatchObject({ outcome: 'released' });
    expect(read('root/index.html')).toContain('href="http://catalogue.example/contact"');
  });
});
