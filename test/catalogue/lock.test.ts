import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { acquireLock, findLock } from '../../src/catalogue/lock.ts';
import { makeFolder } from '../builders.ts';

it('is held by one, and by the next once it is released', () => {
  const file = join(makeFolder(), 'deep/rebuild.lock');
  const lock = findLock(file);
  expect(lock).toBeDefined();
  expect(findLock(file)).toBeUndefined();
  lock?.release();
  const next = findLock(file);
  expect(next).toBeDefined();
  next?.release();
});

it('is free as soon as its holder is killed, without anybody clearing up', async () => {
  const file = join(makeFolder(), 'rebuild.lock');
  const module = join(import.meta.dirname, '../../src/catalogue/lock.ts');
  const code = `const { findLock } = await import(process.argv[1]);
    globalThis.lock = findLock(process.argv[2]); console.log('held'); setInterval(() => {}, 1000);`;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', code, module, file]);
  await once(holder.stdout, 'data');
  expect(findLock(file)).toBeUndefined();
  const waited: string[] = [];
  const waiting = acquireLock(file, () => waited.push('waiting'));
  holder.kill('SIGKILL');
  (await waiting).release();
  expect(waited).toEqual(['waiting']);
});

it('says which file cannot be a lock', () => {
  expect(() => findLock('/dev/null/rebuild.lock')).toThrow(/The lock \/dev\/null\/rebuild\.lock cannot be taken/);
});
