import { cpSync, existsSync, rmSync, truncateSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openPageCode } from '../../src/release/compiling.ts';
import { findPageCode, getCodeVersion, PROJECT_DIR } from '../../src/release/page-code.ts';
import { makeFolder } from '../builders.ts';
import { rebuildAgain } from '../release/rebuilding.ts';
import { makeReleaseFixture } from '../release/release-fixture.ts';

const onEvent = () => undefined;

it('compiles damaged pages again, beside what a server may be running', async () => {
  const codeDir = join(PROJECT_DIR, `dist/code-of-test-${process.pid}`);
  onTestFinished(() => rmSync(codeDir, { recursive: true, force: true }));
  const { version, folder } = await openPageCode({ onEvent });
  const damaged = join(codeDir, basename(folder));
  cpSync(folder, damaged, { recursive: true });
  truncateSync(join(damaged, 'server/entry.mjs'), 100);

  const again = await openPageCode({ onEvent, codeDir });
  expect(again.folder).not.toBe(damaged);
  expect(findPageCode(version, codeDir)).toEqual(again);
  expect((await openPageCode({ onEvent, codeDir })).folder).toBe(again.folder);
});

it('compiles the pages again when it is told to, and renders every one of them to the same bytes', async () => {
  const fixture = await makeReleaseFixture(makeFolder(), { count: 20 });
  await rebuildAgain({ config: fixture.config });
  await fixture.put([0], 'second');
  await rebuildAgain({ config: fixture.config });
  const listHashes = () => [...fixture.readPages()].map(([path, { hash }]) => `${path} ${hash}`).sort();
  const [hashes, compiled] = [listHashes(), findPageCode(getCodeVersion())];
  expect(await rebuildAgain({ config: fixture.config, force: true })).toMatchObject({ outcome: 'released', linked: 0 });
  expect(listHashes()).toEqual(hashes);
  // Beside what a server may be running.
  const again = findPageCode(getCodeVersion())?.folder ?? '';
  expect(again > String(compiled?.folder)).toBe(true);
  expect(existsSync(String(compiled?.entry))).toBe(true);
});
