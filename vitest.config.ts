import { defineConfig } from 'vitest/config';

/** A worker for each core: much of what is tested is other processes, which the tests wait for. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: '100%',
  },
});
