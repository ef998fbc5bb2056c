import { defineConfig } from 'vitest/config';

/** A worker for each core: much of what is tested is other processes, which the tests wait for. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // A developer's own settings, and the wallet among them, are no part of a test.
    env: { ENV_FILES: 'off' },
    testTimeout: 30_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: '100%',
    // Modules are loaded once for each worker, not once for each file.
    isolate: false,
  },
});
