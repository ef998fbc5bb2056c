import { access } from 'node:fs/promises';
import { ServiceError } from '../errors.ts';
import { cutText } from '../model/text.ts';
import { isWebAddress } from '../sources/source-name.ts';

/** Missing paths that are named, and the longest part of one that is. */
const NAMED = 3;
const PATH_LENGTH = 100;

/** What an import is to read: manifests, or one feed or document. */
export interface ImportPaths {
  manifests: readonly string[];
  /** A file or an address. */
  document: string | undefined;
}

/** Throws `bad_input`, reason `no_such_file`, where nothing is at a path, so that nothing is made for nothing. */
export async function checkPaths({ manifests, document }: ImportPaths): Promise<void> {
  const missing = await listMissing(manifests);
  if (missing.length > 0) {
    const what = missing.length === 1 ? 'There is no file or folder' : 'There are no files or folders';
    throw buildMissing(`${what} ${formatPaths(missing)}.`, 'Give manifest files, or folders that hold *.yaml files.');
  }
  if (document === undefined || isWebAddress(document) || (await listMissing([document])).length === 0) return;
  throw buildMissing(
    `There is no file ${formatPaths([document])}.`,
    'Give the path of a file, or an address that begins with https://.',
  );
}

async function listMissing(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.allSettled(paths.map((path) => access(path)));
  return paths.filter((_, index) => found[index]?.status === 'rejected');
}

function formatPaths(paths: readonly string[]): string {
  const named = paths.slice(0, NAMED).map((path) => cutText(path, PATH_LENGTH));
  const more = paths.length - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function buildMissing(message: string, hint: string): ServiceError {
  return new ServiceError('bad_input', message, { reason: 'no_such_file', hint });
}
