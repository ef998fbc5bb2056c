import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildRow, formatSection, formatTable, type Row } from '../scripts/bench/measuring.ts';

const ROOT = resolve(import.meta.dirname, '..');
const MANUAL = readFileSync(join(ROOT, 'src/docs/speed.md'), 'utf8');

function runBench(...args: string[]) {
  return spawnSync(process.execPath, ['scripts/bench.ts', ...args], { cwd: ROOT, encoding: 'utf8' });
}

describe('npm run bench', () => {
  it('names its benchmarks, which are those of the manual', () => {
    const { status, stdout } = runBench('--help');
    const names = [...stdout.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name);
    const table = MANUAL.slice(MANUAL.indexOf('| benchmark '), MANUAL.indexOf('## How it is measured'));
    expect(status).toBe(0);
    expect(names).toEqual([...table.matchAll(/^\| `([a-z]+)`/gm)].map(([, name]) => name));
  });

  // A long test has it refuse a wrong number of listings.
  it('says that there is no such benchmark, and measures nothing', () => {
    const { status, stdout, stderr } = runBench('nonsense');
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toContain('There is no benchmark nonsense.');
    expect(stderr).toContain('hint: npm run bench -- ');
  });
});

/** Reads the rows of a table of the manual. */
function readRows(table: string): Row[] {
  const [names = [], , ...lines] = table.split('\n').map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const read = (cell: string) => (/^-?[\d,]+(\.\d+)?$/.test(cell) ? Number(cell.replaceAll(',', '')) : cell);
  return lines.map((cells) => {
    const entries = cells.map((cell, at) => [names[at], read(cell)]).filter(([, value]) => value !== '');
    return Object.fromEntries(entries);
  });
}

describe('the figures of the manual', () => {
  const sections = [...MANUAL.matchAll(/<!-- (\w+) -->\n\n(.*?)\n\n<!-- \/\1 -->/gs)];

  it('are of every benchmark', () => {
    expect(sections.map(([, name]) => name)).toEqual(['directory', 'search', 'start', 'rebuilds', 'liars']);
  });

  it.each(sections.map(([, name = '', text = '']) => [name, text]))('say of %s what its table says', (name, text) => {
    expect(text).toBe(formatSection(name, readRows(text.slice(text.indexOf('| listings')))));
  });
});

describe('a section of the manual', () => {
  const base = { listings: 10_000, unit: 's' };

  it('counts and names the goals that are missed, and those whose figure could not be measured', () => {
    const rows: Row[] = [
      buildRow({ ...base, what: 'a', ours: 6, theirs: 12, goal: 'ratio ≤ 0.5' }),
      buildRow({ ...base, what: 'b', ours: 350, goal: 'ours < 350' }),
      buildRow({ ...base, what: 'c', ours: 1, cpu_ratio: 1.2, goal: 'cpu_ratio ≥ 1.2' }),
      buildRow({ ...base, what: 'd', ours: 1, goal: 'cpu_ratio ≥ 1.2' }),
      buildRow({ ...base, what: 'e', ours: 1 }),
    ];
    expect(formatSection('start', rows).split('\n\n')).toEqual([
      '`start`: goals reached: 2 of 4. Missed: b (10,000); d (10,000).',
      formatTable(rows),
    ]);
  });

  it('says where there are no goals', () => {
    expect(formatSection('start', [buildRow({ ...base, what: 'e', ours: 1 })])).toMatch(/^`start`: no goal is set\.\n/);
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
