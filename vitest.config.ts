import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { SETTINGS } from './src/config.ts';

// The settings of whoever runs the tests are no part of them, nor of the processes that they start.
for (const { name } of [...SETTINGS.service, ...SETTINGS.payer]) delete process.env[name];

/**
 * Files whose tests wait for processes and chains. They begin first, so that no worker is left alone with one at the end,
 * and since processes start quicker from a worker that is still small.
 */
const LONG = [
  'http/processes',
  'http/entry-point',
  'paying/kills',
  'site/rebuild',
  'site/watch',
  'site/killed',
  'cli/entry-point',
].map((name) => resolve(import.meta.dirname, `test/${name}.test.ts`));

/** Runs the long files first, and then the others as Vitest has them. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const getPlace = ({ moduleId }: TestSpecification) => LONG.indexOf(moduleId) + 1 || LONG.length + 1;
    return sorted.toSorted((a, b) => getPlace(a) - getPlace(b));
  }
}

/**
 * Longest that a test, a hook or the wait for a condition may take, in milliseconds. It ends those that hang; tests set no
 * limits of their own, since a machine where others work too is several times slower.
 */
const LONGEST_MS = 300_000;

export default defineConfig({
  test: {
    reporters: ['default', './test/skipped.ts'],
    env: {
      // A developer's own settings, and the wallet among them, are no part of a test.
      ENV_FILES: 'off',
      // As in every entry point: a process that a test starts need not compile what another one compiled before.
      NODE_COMPILE_CACHE: resolve(import.meta.dirname, 'node_modules/.cache/compiled'),
    },
    testTimeout: LONGEST_MS,
    hookTimeout: LONGEST_MS,
    expect: { poll: { timeout: LONGEST_MS } },
    pool: 'forks',
    // Most of what a test makes is forgotten at once: with room for it, collecting that takes less of all work.
    execArgv: ['--max-semi-space-size=64'],
    // One more than there are cores, since tests wait for other processes. Each worker warms up by itself, so more cost more.
    maxWorkers: availableParallelism() + 1,
    // Modules are loaded once for each worker, not once for each file.
    isolate: false,
    sequence: { sequencer: LongFirst },
    include: ['test/**/*.test.ts'],
    // Node loads TypeScript by itself. What Vite makes of modules looks every import up again at each use, which costs a
    // twelfth of all work.
    experimental: { viteModuleRunner: false, nodeLoader: false },
  },
});
