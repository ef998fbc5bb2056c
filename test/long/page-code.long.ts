import { existsSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findPageCode, getCodeVersion } from '../../src/site/page-code.ts';
import { makeFolder } from '../builders.ts';
import { rebuildAgain } from '../site/rebuilding.ts';
import { makeSiteFixture } from '../site/site-fixture.ts';

it('compiles the pages again when it is told to, and writes every one of them to the same bytes', async () => {
  const fixture = await makeSiteFixture(makeFolder(), { count: 20 });
  await rebuildAgain({ config: fixture.config });
  await fixture.put([0], 'second');
  await rebuildAgain({ config: fixture.config });
  const listHashes = () => [...fixture.readPages()].map(([path, { etag }]) => `${path} ${etag}`).sort();
  const [hashes, compiled] = [listHashes(), findPageCode(getCodeVersion())];
  truncateSync(join(fixture.config.siteDir, 'api/api-7.html'), 100);
  expect(await rebuildAgain({ config: fixture.config, force: true })).toMatchObject({
    outcome: 'written',
    unchanged: 0,
  });
  expect(listHashes()).toEqual(hashes);
  expect(fixture.read('api/api-7.html')).toContain('Title7 first');
  // Beside what a server may be running.
  const again = findPageCode(getCodeVersion())?.folder ?? '';
  expect(again > String(compiled?.folder)).toBe(true);
  expect(existsSync(String(compiled?.entry))).toBe(true);
});
