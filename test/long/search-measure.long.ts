import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFolder } from '../builders.ts';

const ROOT = resolve(import.meta.dirname, '../..');

const SUBJECTS =
  'harvest glacier violin lighthouse meteor orchid pottery falcon harbour tapestry volcano windmill'.split(' ');

/** Writes a data set of a listing for each subject, of whose two routes one is asked for. */
function writeSet(folder: string): void {
  const set = join(folder, 'subjects');
  mkdirSync(set);
  const route = (name: string, description: string) => ({ name, method: 'GET', description, parameters: [] });
  const tools = SUBJECTS.map((subject) => ({
    name: `${subject} desk`,
    description: `Everything on one ${subject}.`,
    apis: [route('history', 'How it came about.'), route('photograph', 'What it looks like.')],
  }));
  const requests = SUBJECTS.flatMap((subject) =>
    ['a photograph of the', 'show me the photograph of this'].map((words) => ({
      query: `${words} ${subject}`,
      routes: [[`${subject} desk`, 'photograph']],
    })),
  );
  const write = (name: string, lines: readonly object[]) =>
    writeFileSync(join(set, name), lines.map((line) => JSON.stringify(line)).join('\n'));
  write('tools.jsonl', tools);
  write('requests.jsonl', requests);
}

function measure(...args: string[]) {
  return spawnSync(process.execPath, ['scripts/bench/search-quality.ts', ...args], { cwd: ROOT, encoding: 'utf8' });
}

describe('the measure of search', () => {
  it('asks other sets and our own, withholds right answers, and writes figures, a comparison and the table', () => {
    const folder = makeFolder();
    writeSet(folder);
    const [json, manual] = [join(folder, 'run.json'), join(folder, 'manual.md')];
    writeFileSync(manual, 'Before.\n\n<!-- quality -->\n\nold\n\n<!-- /quality -->\n\nAfter.\n');
    const first = measure(folder, '--both', '--json', json, '--manual', manual);
    expect(first).toMatchObject({ status: 0, stderr: '' });

    const run = JSON.parse(readFileSync(json, 'utf8'));
    expect(Object.keys(run)).toEqual([
      'subjects',
      'sample',
      'our short requests',
      'our tasks',
      'our requests of any length',
    ]);
    const outcomes = Object.values<object>(run.subjects.outcomes.ours);
    expect(outcomes).toHaveLength(2 * SUBJECTS.length);
    expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome)))).toEqual(
      new Set([
        JSON.stringify({
          ...{ first: 1, five: 1, 'route first': 1, 'route in five': 1, 'shown first': 1, labels: 1, hub: 0 },
        }),
      ]),
    );
    for (const doubt of run.subjects.doubts) expect(doubt).toMatchObject({ AUC: 1 });

    const text = readFileSync(manual, 'utf8');
    expect(text).toMatch(/^Before\.\n\n<!-- quality -->\n\n\| requests .*\|\n\n<!-- \/quality -->\n\nAfter\.\n$/s);
    expect(text).toMatch(/\| subjects \(\d+\) +\| labels +\| 1\.000 \|/);

    const again = measure(folder, '--against', json);
    expect(again.status).toBe(0);
    expect(again.stdout).toMatch(/'ours before' │ '0\.000 \(0\.000, 0\.000\)'/);
  });

  it('says what is wrong with its command line', () => {
    const { status, stderr } = measure('--fast');
    expect(status).toBe(2);
    expect(stderr).toContain("Unknown option '--fast'");
  });
});
