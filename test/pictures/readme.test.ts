import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const SHOWN = [...README.matchAll(/!\[[^\]]+\]\((\.github\/[^)]+)\)/g)].map(([, file = '']) => join(ROOT, file));

// A long test compares what they show with the demonstration.
it('the pictures of the README are there, small, and all that were taken', () => {
  const taken = readdirSync(join(ROOT, '.github')).filter((name) => /\.(?:png|webp)$/.test(name));
  expect(SHOWN.toSorted()).toEqual(taken.map((name) => join(ROOT, '.github', name)).sort());
  for (const file of SHOWN) expect([file, existsSync(file) && statSync(file).size < 100_000]).toEqual([file, true]);
});
