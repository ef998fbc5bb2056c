import { cpSync, rmSync, truncateSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { PROJECT_DIR } from '../../src/release/code-version.ts';
import { openPageCode } from '../../src/release/compiling.ts';
import { findPageCode } from '../../src/release/page-code.ts';

const onEvent = () => undefined;

it('compiles damaged pages again, beside what a server may be running', async () => {
  const codeDir = join(PROJECT_DIR, `dist/code-of-test-${process.pid}`);
  onTestFinished(() => rmSync(codeDir, { recursive: true, force: true }));
  const { version, folder } = await openPageCode({ onEvent });
  const damaged = join(codeDir, basename(folder));
  cpSync(folder, damaged, { recursive: true });
  truncateSync(join(damaged, 'server/entry.mjs'), 100);

  const again = await openPageCode({ onEvent, codeDir });
  expect(again.folder).not.toBe(damaged);
  expect(findPageCode(version, codeDir)).toEqual(again);
  expect((await openPageCode({ onEvent, codeDir })).folder).toBe(again.folder);
});
