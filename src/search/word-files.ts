import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Reads a file of `data/words`, whose README tells what is in them. */
export function readWordFile(name: string): Buffer {
  // Compiled with the pages, this code lies in another folder of the project.
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const file = join(folder, 'data/words', name);
    if (existsSync(file) || folder === dirname(folder)) return readFileSync(file);
  }
}

/** Reads the lines of a text in `data/words`, without those that begin with `#`. */
export function readWordLines(name: string): string[] {
  const lines = readWordFile(name).toString('utf8').split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#'));
}
