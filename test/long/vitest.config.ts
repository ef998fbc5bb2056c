import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { SETTINGS } from '../../src/config.ts';

// As in the short tests.
for (const { name } of [...SETTINGS.service, ...SETTINGS.payer]) delete process.env[name];

/** The tests that take minutes, one after the other: `npm run test:long`. */
export default defineConfig({
  root: resolve(import.meta.dirname, '../..'),
  test: {
    reporters: ['default', './test/long/campaigns.ts', './test/skipped.ts'],
    env: { ENV_FILES: 'off' },
    include: ['test/long/**/*.long.ts'],
    testTimeout: 900_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 900_000 } },
    pool: 'forks',
    fileParallelism: false,
  },
});
