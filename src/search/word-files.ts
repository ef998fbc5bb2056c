import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Reads a file of `data/words`; the README there describes the files. */
export function readWordFile(name: string): Buffer {
  // The pages are compiled into another folder, so the project's folder is searched for upwards.
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
