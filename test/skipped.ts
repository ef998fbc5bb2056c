import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { beforeEach, type TestContext } from 'vitest';
import type { Reporter, TestModule } from 'vitest/node';
import { HAS_POSTGRES } from '../scripts/postgres.ts';

/** What some tests need beyond the packages of npm: how to find whether it is there, and what is said where it is not. */
const NEEDS = {
  corpus: [
    () =>
      ['bazaar-2026-03', 'bazaar-2026-08', 'provider-openapi', 'recorded-402', 'requests'].every((folder) =>
        existsSync(resolve(import.meta.dirname, '../../shared/corpus', folder)),
      ),
    'no recorded feeds and requests: they belong in ../shared/corpus, beside the project',
  ],
  postgres: [() => HAS_POSTGRES, 'no PostgreSQL from npm for this system: run the tests on Linux or macOS'],
  processes: [() => existsSync('/proc/self/task'), 'no list of processes in /proc: run the tests on Linux'],
  // A shell's own answer for a command that is not there has a status, too.
  python: [() => spawnSync('python3', ['--version']).status === 0, 'no Python: install python3'],
  full_device: [() => existsSync('/dev/full'), 'no /dev/full: run the tests on Linux'],
  script: [() => existsSync('/usr/bin/script'), 'no program script: install bsdutils'],
} as const;

const found = new Map<keyof typeof NEEDS, boolean>();

/** Returns whether something is there. It is looked for once in each worker, and only where a test needs it. */
function isThere(need: keyof typeof NEEDS): boolean {
  const known = found.get(need) ?? NEEDS[need][0]();
  found.set(need, known);
  return known;
}

/** Skips a test where what it needs is not there. Called without a test, it skips each test of the file or group. */
export function skipWithout(need: keyof typeof NEEDS, test?: TestContext): void {
  const [, why] = NEEDS[need];
  if (test) test.skip(!isThere(need), why);
  else beforeEach((context) => context.skip(!isThere(need), why));
}

/** Prints at the end of a run which tests were skipped, why, and what they need. */
export default class SkippedReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) =>
      [...module.children.allTests('skipped')].flatMap((test) => {
        const result = test.result();
        // Those that a filter leaves out have no note.
        return result.state === 'skipped' && result.note ? [{ name: test.fullName, module, note: result.note }] : [];
      }),
    );
    if (skipped.length === 0) return;
    console.log(`Skipped, and what each needs:`);
    for (const [note, tests] of Map.groupBy(skipped, (one) => one.note)) {
      console.log(`  ${note}`);
      for (const { module, name } of tests) console.log(`    ${module.relativeModuleId}: ${name}`);
    }
  }
}
