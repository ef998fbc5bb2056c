import { expect, it } from 'vitest';
import { findJsonFaults } from '../../src/model/json-text.ts';

it.each([
  ['{"a":1,"a":2}', ['/a']],
  ['{"a":{"b":[{"c":1,"c":2}]},"x":1}', ['/a/b/0/c']],
  ['{"a/b":{"~":1,"~":2}}', ['/a~1b/~0']],
  [String.raw`{"a":1,"\u0061":2}`, ['/a']],
  ['[{"a":1},{"a":1}]', []],
  ['{"__proto__":1,"constructor":2}', []],
])('duplicate keys of %s', (text, duplicates) => {
  expect(findJsonFaults(text)).toEqual({ duplicates, error: null });
});

it.each([
  ['', 1, 1],
  ['{"a":1,}', 1, 8],
  ['{\n  "a": 1\n  "b": 2\n}', 3, 3],
  ['{"a": tru}', 1, 7],
  ['[1, 2', 1, 6],
  ['{"a": "x\ny"}', 1, 9],
  ['{} {}', 1, 4],
  ['{a: 1}', 1, 2],
  ['{"a": 01}', 1, 8],
])('the place where %j stops being JSON', (text, line, column) => {
  expect(() => JSON.parse(text)).toThrow();
  expect(findJsonFaults(text).error).toEqual({ line, column });
});

it('takes what a JSON parser takes', () => {
  const text = JSON.stringify({ a: [1, -2.5e-7, 'x"\\\n', { b: null }, [], {}], c: true, d: '€' }, null, 2);
  for (const good of [text, 'null', ' 0 ', '"a"', '\uFEFF{}'])
    expect(findJsonFaults(good)).toEqual({ duplicates: [], error: null });
});

it('is bounded in nesting and in what it reports', () => {
  expect(findJsonFaults('['.repeat(500_000))).toEqual({ duplicates: [], error: null });
  const repeated = `{${Array.from({ length: 1000 }, () => '"a":1').join()}}`;
  expect(findJsonFaults(repeated).duplicates).toHaveLength(8);
});
