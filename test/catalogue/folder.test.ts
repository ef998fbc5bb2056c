import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createFolder } from '../../src/catalogue/folder.ts';
import { makeFolder } from '../builders.ts';
import { skipWithout } from '../skipped.ts';

it('makes what is missing, and leaves what is there', () => {
  const folder = join(makeFolder(), 'a/b/c');
  createFolder(folder);
  createFolder(folder);
  expect(existsSync(folder)).toBe(true);
});

it('names the folder that cannot be made', () => {
  const file = join(makeFolder(), 'file');
  writeFileSync(file, '');
  expect(() => createFolder(join(file, 'below/deep'))).toThrow(`The folder ${file}/below cannot be made: ENOTDIR`);
});

// In a process of its own, since a folder that cannot be made once made the process hang.
it.for([
  ['src/catalogue/database.ts', 'openCatalogue(file, { identity: "x", at: "2026-11-20T12:00:00.000Z" })'],
  ['src/catalogue/lock.ts', 'findLock(file)'],
])('ends with that also where the system does not say why: %s', ([module, call], context) => {
  skipWithout('processes', context);
  const url = new URL(`../../${module}`, import.meta.url);
  const code = `const { openCatalogue, findLock } = await import(process.argv[1]);
    const file = '/proc/nowhere/catalogue.sqlite';
    try { await ${call}; } catch ({ code, reason, message }) { console.log(code, reason, message); }`;
  const ran = spawnSync(process.execPath, ['--input-type=module', '-e', code, url.href], {
    encoding: 'utf8',
  });
  expect(ran.stdout).toMatch(/^unavailable no_folder The folder \/proc\/nowhere cannot be made: ENOENT/);
});
