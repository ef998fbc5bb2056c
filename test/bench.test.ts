import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildRow, formatTable } from '../scripts/bench/measuring.ts';

const ROOT = resolve(import.meta.dirname, '..');

function runBench(...args: string[]) {
  return spawnSync(process.execPath, ['scripts/bench.ts', ...args], { cwd: ROOT, encoding: 'utf8' });
}

describe('npm run bench', () => {
  it('names its benchmarks, which are those of the manual', () => {
    const { status, stdout } = runBench('--help');
    const names = [...stdout.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name);
    const manual = readFileSync(join(ROOT, 'src/docs/architecture.md'), 'utf8');
    const table = manual.slice(manual.indexOf('| benchmark '), manual.indexOf('Each request asks'));
    expect(status).toBe(0);
    expect(names).toEqual([...table.matchAll(/^\| `([a-z]+)`/gm)].map(([, name]) => name));
    expect(manual).toMatch(/<!-- figures -->\n\n\|.*\|\n\n<!-- \/figures -->/s);
  });

  it.each([
    [['nonsense'], 'There is no benchmark nonsense.'],
    [['--fast'], "Unknown option '--fast'"],
    [['--listings', 'many', 'start'], '--listings takes a whole number.'],
  ])('says what is wrong with %j, and measures nothing', (args, words) => {
    const { status, stdout, stderr } = runBench(...args);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain(words);
    expect(stderr).toContain('hint: npm run bench -- ');
  });
});

describe('a table of results', () => {
  it('has a ratio where two are compared, and no column that nothing is in', () => {
    const base = { listings: 10_000, unit: 's' };
    const rows = [
      buildRow({ ...base, what: 'every page', ours: 6, beside: 'Hugo', theirs: 12 }),
      buildRow({ ...base, what: 'one change', ours: 0.2504 }),
    ];
    expect(formatTable(rows).split('\n')).toEqual([
      '| listings | what       | unit | ours | beside | theirs | ratio |',
      '| -------- | ---------- | ---- | ---- | ------ | ------ | ----- |',
      '| 10,000   | every page | s    | 6    | Hugo   | 12     | 0.5   |',
      '| 10,000   | one change | s    | 0.25 |        |        |       |',
    ]);
  });
});
