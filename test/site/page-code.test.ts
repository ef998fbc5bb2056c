import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openPageCode } from '../../src/site/compiling.ts';
import { findPageCode, getCodeVersion, removeOldPageCode } from '../../src/site/page-code.ts';
import { openRecord } from '../../src/site/record.ts';
import { publishAssets } from '../../src/site/write-site.ts';
import { makeFolder } from '../builders.ts';

const onEvent = () => undefined;

const DAY = 24 * 60 * 60 * 1000;
const NOW = new Date('2026-11-20T12:00:00.000Z');

it('the pages that were compiled last for a version are found, and none that are not whole', async () => {
  const { version, folder } = await openPageCode({ onEvent });
  const codeDir = makeFolder();
  expect(findPageCode(version, codeDir)).toBeUndefined();
  cpSync(folder, join(codeDir, `.compiling-${version}-1`), { recursive: true });
  expect(findPageCode(version, codeDir)).toBeUndefined();
  for (const name of ['1', '2']) cpSync(folder, join(codeDir, `${version}-${name}`), { recursive: true });
  expect(findPageCode(version, codeDir)?.folder).toBe(join(codeDir, `${version}-2`));
});

it('what was compiled more than a week ago goes, but for the last of these', () => {
  const codeDir = makeFolder();
  for (const [name, days] of [
    ['0123456789abcdef-1', 20],
    ['0123456789abcdef-2', 8],
    ['fedcba9876543210-1', 6],
    ['fedcba9876543210-2', 0],
    ['own', 30],
  ] as const) {
    const at = new Date(NOW.getTime() - days * DAY);
    mkdirSync(join(codeDir, name, 'server'), { recursive: true });
    utimesSync(join(codeDir, name), at, at);
  }
  removeOldPageCode(codeDir, NOW);
  expect(readdirSync(codeDir).sort()).toEqual([
    '0123456789abcdef-2',
    'fedcba9876543210-1',
    'fedcba9876543210-2',
    'own',
  ]);
});

it('assets stay for a week after their last use, with their compressed forms', async () => {
  const [clientDir, folder] = [makeFolder(), makeFolder()];
  const record = openRecord(join(makeFolder(), 'site.sqlite'));
  const code = { version: 'test', folder: '', entry: '', clientDir };
  mkdirSync(join(clientDir, '_astro'));
  const list = () => readdirSync(join(folder, '_astro')).sort();
  const style = join(clientDir, '_astro/style.1.css');
  writeFileSync(style, 'a {}'.repeat(1000));
  await publishAssets(code, { folder, record }, new Date(NOW.getTime() - 8 * DAY));
  expect(list()).toEqual(['style.1.css', 'style.1.css.br', 'style.1.css.gz']);
  await publishAssets(code, { folder, record }, new Date(NOW.getTime() - 6 * DAY));
  rmSync(style);
  writeFileSync(join(clientDir, '_astro/style.2.css'), 'b {}');
  writeFileSync(join(folder, '_astro/own.css'), 'of somebody else');
  await publishAssets(code, { folder, record }, NOW);
  expect(list()).toEqual(['own.css', 'style.1.css', 'style.1.css.br', 'style.1.css.gz', 'style.2.css']);
  await publishAssets(code, { folder, record }, new Date(NOW.getTime() + 2 * DAY));
  expect(list()).toEqual(['own.css', 'style.2.css']);
  record.close();
});

it('are compiled ahead by npm run compile, for the code as it is', () => {
  const args = ['--import', './scripts/require-node.mjs', 'scripts/compile.ts'];
  const said = execFileSync(process.execPath, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  expect(said).toBe(`The pages of version ${getCodeVersion()} are compiled.\n`);
  expect(findPageCode(getCodeVersion())).toBeDefined();
});
