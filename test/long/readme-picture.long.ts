import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');

it('the picture of the README shows what the page of the demonstration says today', async () => {
  const args = ['--import', './scripts/require-node.mjs', 'scripts/picture.ts', '--check'];
  const { stderr } = await promisify(execFile)(process.execPath, args, { cwd: ROOT }).catch((error) => error);
  expect(stderr).toBe('');
});
