import { renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { syncPath } from './folders.ts';
import { getReleasePaths } from './release.ts';

/**
 * Gives a finished release its own name and lets `current` name it, each in one step that either happened or did not,
 * and makes both durable in this order.
 */
export async function swapCurrent(releasesDir: string, folder: string, id: string): Promise<void> {
  const { releases, current } = getReleasePaths(releasesDir);
  renameSync(folder, join(releases, id));
  await syncPath(releases);
  const link = join(releasesDir, `.current.${id}.unfinished`);
  symlinkSync(join('releases', id), link);
  renameSync(link, current);
  await syncPath(releasesDir);
}
