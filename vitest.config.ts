import { defineConfig } from 'vitest/config';

/** A worker for each core: much of what is tested is other processes, which the tests wait for. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: '100%',
    // Modules are loaded once for each worker, not once for each file.
    isolate: false,
  },
});
