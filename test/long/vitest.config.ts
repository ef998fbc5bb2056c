import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';

/** The tests that take minutes, one after the other: `npm run test:long`. */
export default defineConfig({
  root: resolve(import.meta.dirname, '../..'),
  test: {
    env: { ENV_FILES: 'off' },
    include: ['test/long/**/*.long.ts'],
    testTimeout: 900_000,
    pool: 'forks',
    fileParallelism: false,
  },
});
