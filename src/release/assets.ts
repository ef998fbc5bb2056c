import { constants, copyFileSync, mkdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isMissing, listNames } from './folders.ts';
import type { PageCode } from './page-code.ts';

/** The folder of hashed assets, in the compiled pages and beside the releases. */
export const ASSETS_FOLDER = '_astro';

/** How long an asset that no release uses any more stays, for pages that are still open somewhere. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * Puts the hashed assets of the compiled pages beside the releases, which they outlive. Their time of change is that of
 * their last use; what has not been used for 30 days goes. A name stands for one content, so what is there stays.
 */
export function publishAssets(code: PageCode, assetsDir: string, now: Date): void {
  const [from, to] = [join(code.clientDir, ASSETS_FOLDER), join(assetsDir, ASSETS_FOLDER)];
  mkdirSync(to, { recursive: true });
  for (const name of listNames(from)) {
    publishAsset(join(from, name), join(to, name));
    utimesSync(join(to, name), now, now);
  }
  for (const name of listNames(to)) {
    const file = join(to, name);
    if (now.getTime() - statSync(file).mtimeMs > KEPT_MS) rmSync(file, { recursive: true, force: true });
  }
}

/** Written beside its place and renamed, so that nobody reads half of it. */
function publishAsset(from: string, to: string): void {
  try {
    if (statSync(to).size === statSync(from).size) return;
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  const unfinished = join(dirname(to), `.${process.pid}.unfinished`);
  copyFileSync(from, unfinished, constants.COPYFILE_FICLONE);
  renameSync(unfinished, to);
}
