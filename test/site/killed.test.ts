import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { acquireLock, findLock } from '../../src/catalogue/lock.ts';
import { getSitePaths } from '../../src/site/paths.ts';
import { makeFolder } from '../builders.ts';
import { makeWritten, rebuildAgain } from './rebuilding.ts';
import { getContent } from './site-fixture.ts';

const ROOT = resolve(import.meta.dirname, '../..');

it('leaves nothing running when the command that began it is killed, and the next rebuild is right', async () => {
  const fixture = await makeWritten(makeFolder());
  const { lock } = getSitePaths(fixture.config.siteDir);
  const env = {
    ...process.env,
    CATALOGUE: fixture.config.catalogueAddress,
    SITE: fixture.config.siteDir,
    BASE_URL: fixture.config.baseUrl,
  };
  await fixture.put(
    Array.from({ length: 8 }, (_, number) => number),
    'second',
  );
  const command = spawn(process.execPath, ['scripts/rebuild.ts'], { cwd: ROOT, env, stdio: 'ignore' });
  while (isFree(lock)) await sleep(5);
  command.kill('SIGKILL');
  await once(command, 'exit');
  // The process that was rendering holds the lock; it ends by itself when its parent is gone.
  const free = await acquireLock(lock);
  free.release();
  await rebuildAgain({ config: fixture.config });
  const content = getContent(fixture.config);
  expect(fixture.read('api/api-7.html')).toContain('Title7 second');
  const elsewhere = { ...fixture.config, siteDir: join(makeFolder(), 'site') };
  await rebuildAgain({ config: elsewhere });
  expect(getContent(elsewhere)).toEqual(content);
});

function isFree(file: string): boolean {
  const lock = findLock(file);
  lock?.release();
  return lock !== undefined;
}
