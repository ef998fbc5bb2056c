import { readFile, stat } from 'node:fs/promises';

/**
 * Reads a file of at most `most` bytes. Returns the reason why not for a larger one, and for what is no file: a pipe would make
 * reading wait for its writer, and a device has no end. Throws errors of the file system.
 */
export async function readLimitedFile(path: string, most: number): Promise<Uint8Array | 'not_a_file' | 'too_large'> {
  const stats = await stat(path);
  if (!stats.isFile()) return 'not_a_file';
  return stats.size > most ? 'too_large' : await readFile(path);
}
