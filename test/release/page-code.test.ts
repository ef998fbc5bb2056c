import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openPageCode } from '../../src/release/compiling.ts';
import { findPageCode, getCodeVersion } from '../../src/release/page-code.ts';
import { makeFolder } from '../builders.ts';

const onEvent = () => undefined;

// A forced rebuild compiles where nothing whole is found; a long test damages what was compiled.
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

it('are compiled ahead by npm run compile, for the code as it is', () => {
  const args = ['--import', './scripts/require-node.mjs', 'scripts/compile.ts'];
  const said = execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  expect(said).toBe(`The pages of version ${getCodeVersion()} are compiled.\n`);
  expect(findPageCode(getCodeVersion())).toBeDefined();
});
