import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isMissing } from './folders.ts';

/** The project's own folder, which holds `src/`. Pages must be compiled inside it (Astro's rule). */
export const PROJECT_DIR = resolve(import.meta.dirname, '../..');

/** What decides what compiled pages are, besides `src/`. */
const OTHER_INPUTS = ['astro.config.mjs', 'package.json', 'package-lock.json', 'tsconfig.json'];

/** Gives the version of the code: a hash of the sources and of the versions of all packages. Takes a few milliseconds. */
export function getCodeVersion(projectDir = PROJECT_DIR): string {
  const hash = createHash('sha256');
  const sources = readdirSync(join(projectDir, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  for (const file of [...sources, ...OTHER_INPUTS.map((name) => join(projectDir, name))]) {
    const content = readInput(file);
    hash.update(`${file.slice(projectDir.length)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 16);
}

/** A file that went away between listing and reading counts as empty: the version is computed again after a build. */
function readInput(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    if (isMissing(error)) return Buffer.alloc(0);
    throw error;
  }
}
