import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');

it('the pictures of the README show what the pages of the demonstration say today', async () => {
  const args = ['--import', './scripts/require-node.mjs', 'scripts/pictures.ts', '--check'];
  const { stderr } = await promisify(execFile)(process.execPath, args, { cwd: ROOT }).catch((error) => error);
  expect(stderr).toBe('');
});
