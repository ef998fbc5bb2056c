import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { cleanText } from './text.ts';

/** Query parameters that say which part of a feed is asked for, not which feed it is. */
const PAGING_PARAMETERS = new Set(['limit', 'offset']);

/** Hexadecimal digits of the mark that tells files of one name apart. */
const MARK_LENGTH = 8;

/** Query parameters whose value may be a secret. */
const SECRET_PARAMETER = /key|token|secret|auth|sig|pass/i;

/**
 * Returns the name that tells one source from every other on record: an address as `getSourceName` gives it, a file's
 * base name with a mark of where the file lies (`feed.json#5d1f6a90`), or `wanted`, which stays the file's when it
 * moves. Two files that share a name by accident are two sources: else each would withdraw the listings of the other.
 * Throws what the file system does where there is no such file.
 */
export async function identifySource(pathOrAddress: string, wanted?: string): Promise<string> {
  if (wanted !== undefined) return isWebAddress(wanted) ? getSourceName(wanted) : wanted;
  if (isWebAddress(pathOrAddress)) return getSourceName(pathOrAddress);
  const path = await realpath(pathOrAddress);
  const mark = createHash('sha256').update(path).digest('hex').slice(0, MARK_LENGTH);
  return `${getSourceName(path)}#${mark}`;
}

/**
 * Returns the name of a source as people know it: a feed's address without paging, user name and secrets, or a file's
 * base name. Never a path of this machine, since readers see it and since a file may move.
 */
export function getSourceName(pathOrAddress: string): string {
  const url = isWebAddress(pathOrAddress) ? URL.parse(pathOrAddress) : null;
  if (!url) return getFileName(pathOrAddress);
  const query = [...url.searchParams].filter(([name]) => !PAGING_PARAMETERS.has(name) && !SECRET_PARAMETER.test(name));
  const search = new URLSearchParams(query.sort(([a], [b]) => (a < b ? -1 : 1))).toString();
  return `${url.origin}${url.pathname}${search && `?${search}`}`;
}

/** Returns whether a source is fetched over the web; everything else is a file. */
export function isWebAddress(pathOrAddress: string): boolean {
  return /^https?:\/\//i.test(pathOrAddress);
}

function getFileName(path: string): string {
  const name = path.split(/[/\\]+/).findLast((part) => part !== '' && part !== '.');
  return cleanText(name ?? '', 'title') || 'file';
}
