import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { getCodeVersion, PROJECT_DIR } from '../../src/release/code-version.ts';
import { openPageCode } from '../../src/release/compiling.ts';
import { findPageCode } from '../../src/release/page-code.ts';
import { makeFolder } from '../builders.ts';

const onEvent = () => undefined;

it.each([
  ['the entry is cut off', (folder: string) => truncateSync(join(folder, 'server/entry.mjs'), 100)],
  ['the entry is gone', (folder: string) => rmSync(join(folder, 'server/entry.mjs'))],
  ['the list of files is gone', (folder: string) => rmSync(join(folder, 'files.json'))],
  ['the list of files is cut off', (folder: string) => truncateSync(join(folder, 'files.json'), 10)],
  [
    'one letter differs',
    (folder: string) => {
      const file = join(folder, 'server/entry.mjs');
      writeFileSync(file, readFileSync(file, 'utf8').replace('handler', 'hendler'));
    },
  ],
])('does not take compiled pages for whole where %s, and takes older ones of the same code', async (_, damage) => {
  const { version, folder } = await openPageCode({ onEvent });
  const codeDir = makeFolder();
  const [older, newer] = [join(codeDir, `${version}-1`), join(codeDir, `${version}-2`)];
  cpSync(folder, newer, { recursive: true });
  expect(findPageCode(version, codeDir)?.folder).toBe(newer);
  damage(newer);
  expect(findPageCode(version, codeDir)).toBeUndefined();
  cpSync(folder, older, { recursive: true });
  expect(findPageCode(version, codeDir)?.folder).toBe(older);
});

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

it('are compiled ahead by npm run compile, for the code as it is', () => {
  const args = ['--import', './scripts/require-node.mjs', 'scripts/compile.ts'];
  const said = execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  expect(said).toBe(`The pages of version ${getCodeVersion()} are compiled.\n`);
  expect(findPageCode(getCodeVersion())).toBeDefined();
});
