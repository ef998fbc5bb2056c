import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const SHOWN = [...README.matchAll(/!\[[^\]]+\]\((\.github\/[^)]+)\)/g)].map(([, file = '']) => join(ROOT, file));

describe('the pictures of the README', () => {
  it('are there, small, and all that were taken', () => {
    const taken = readdirSync(join(ROOT, '.github')).filter((name) => /\.(?:png|webp)$/.test(name));
    expect(SHOWN.toSorted()).toEqual(taken.map((name) => join(ROOT, '.github', name)).sort());
    for (const file of SHOWN) expect([file, existsSync(file) && statSync(file).size < 100_000]).toEqual([file, true]);
  });

  it('show what the pages of the demonstration say today', async () => {
    const args = ['--import', './scripts/require-node.mjs', 'scripts/pictures.ts', '--check'];
    const { stderr } = await promisify(execFile)(process.execPath, args, { cwd: ROOT }).catch((error) => error);
    expect(stderr).toBe('');
  });
});
