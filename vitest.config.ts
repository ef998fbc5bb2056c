import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';

/** A worker for each core: much of what is tested is other processes, which the tests wait for. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    env: {
      // A developer's own settings, and the wallet among them, are no part of a test.
      ENV_FILES: 'off',
      // As in every entry point: a process that a test starts need not compile what another one compiled before.
      NODE_COMPILE_CACHE: resolve(import.meta.dirname, 'node_modules/.cache/compiled'),
    },
    // Generous: a machine where others work too is several times slower, and a test waits for what happens.
    testTimeout: 120_000,
    hookTimeout: 240_000,
    pool: 'forks',
    maxWorkers: '100%',
    // Modules are loaded once for each worker, not once for each file.
    isolate: false,
  },
});
