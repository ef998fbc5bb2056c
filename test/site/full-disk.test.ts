import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { makeFolder } from '../builders.ts';
import { makeWritten, rebuildAgain } from './rebuilding.ts';
import { getContent } from './site-fixture.ts';

/** Runs a command in a mount namespace of its own; part of util-linux. */
const UNSHARE = 'unshare';

/** Mounts a small file system that nobody else sees and that goes with the process. */
const MOUNT = 'mount -t tmpfs -o size=6m none "$1" && exec "$2" "$3" "$1" "$4"';

it('fails in one sentence on a full disk, leaves every page whole, and is right again once there is room', async (context) => {
  const [disk, elsewhere] = [makeFolder(), makeFolder()];
  const trial = spawnSync(UNSHARE, ['-rm', 'sh', '-c', 'mount -t tmpfs -o size=6m none "$1"', 'sh', disk]);
  if (trial.status !== 0)
    return context.skip('no file system can be mounted: run the tests as root, or where users may make namespaces');
  const { config, catalogue } = await makeWritten(elsewhere);
  await catalogue.close();
  const script = fileURLToPath(new URL('./full-disk.ts', import.meta.url));
  const ran = spawnSync(UNSHARE, ['-rm', 'sh', '-c', MOUNT, 'sh', disk, process.execPath, script, elsewhere], {
    encoding: 'utf8',
  });
  expect(ran.stderr).toBe('');
  const { failures, before, during, after } = JSON.parse(ran.stdout);
  expect(failures).toHaveLength(2);
  for (const failure of failures) {
    expect(failure).toMatchObject({
      code: 'unavailable',
      reason: 'disk_full',
      message: `The disk that holds ${disk}/site is full.`,
    });
  }
  expect(during.revision).toBe(before.revision);
  for (const [file, hash] of Object.entries(during.files))
    expect([before.files[file], after.files[file]]).toContain(hash);
  expect(after.revision).toBe(2);
  // From scratch, where there is nothing to build upon.
  const whole = { ...config, siteDir: join(elsewhere, 'whole') };
  await rebuildAgain({ config: whole });
  expect(getContent(whole)).toEqual(after);
});
