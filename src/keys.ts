import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { ServiceError } from './errors.ts';

/**
 * Reads the private key in a file. Throws `bad_input` if the file cannot be read, and `refused` (`key_file_open`) if
 * others than its owner may read or write it. `setting` names the file. No message contains any part of the key.
 */
export function readKeyFile(file: string, setting: string): string {
  let opened: number | undefined;
  try {
    // The file is opened once, so that the checked file is the one that is read.
    opened = openSync(file, 'r');
    const { mode } = fstatSync(opened);
    if ((mode & 0o077) !== 0) {
      throw new ServiceError('refused', `Others than its owner may read or write the key file ${file}.`, {
        hint: `chmod 600 ${file}`,
        reason: 'key_file_open',
      });
    }
    return readFileSync(opened, 'utf8').trim();
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    const word = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    throw new ServiceError('bad_input', `The key file ${file} cannot be read (${word}).`, {
      hint: `${setting} names a file that contains only a private key.`,
      reason: 'key_file',
    });
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}
