import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { isObject } from '../../src/model/json.ts';

const ROOT = resolve(import.meta.dirname, '../..');

it('an object is neither null nor a list nor anything plain', () => {
  expect([{}, { a: 1 }, Object.create(null)].map(isObject)).toEqual([true, true, true]);
  expect([null, [], 'x', 1, true, undefined].some(isObject)).toBe(false);
});

it('what an object is, is declared once', () => {
  const declared = globSync('src/**/*.ts', { cwd: ROOT }).filter((file) =>
    /function isObject\(/.test(readFileSync(join(ROOT, file), 'utf8')),
  );
  expect(declared).toEqual(['src/model/json.ts']);
});
