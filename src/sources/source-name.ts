import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { cleanText } from './provider-text.ts';

/** Query parameters that select a part of a feed and do not identify it. */
const PAGING_PARAMETERS = new Set(['limit', 'offset']);

/** Hexadecimal digits of the hash that distinguishes files of the same name. */
const MARK_LENGTH = 8;

/** Query parameters whose value may be a secret. */
const SECRET_PARAMETER = /key|token|secret|auth|sig|pass/i;

/**
 * Returns the unique name of a source on record: an address as in `getSourceName`, a file's base name with a hash of
 * its path (`feed.json#5d1f6a90`), or `wanted`, which stays the same when the file moves. Two files with the same base
 * name are two sources; otherwise each would withdraw the listings of the other. Throws the file system's error if
 * there is no such file.
 */
export async function getUniqueSourceName(pathOrAddress: string, wanted?: string): Promise<string> {
  if (wanted !== undefined) return isWebAddress(wanted) ? getSourceName(wanted) : wanted;
  if (isWebAddress(pathOrAddress)) return getSourceName(pathOrAddress);
  const path = await realpath(pathOrAddress);
  const mark = createHash('sha256').update(path).digest('hex').slice(0, MARK_LENGTH);
  return `${getSourceName(path)}#${mark}`;
}

/**
 * Returns the name of a source for people: a feed's address without paging, user name and secrets, or a file's base
 * name. It is never a path of this machine, because readers see it and files may move.
 */
export function getSourceName(pathOrAddress: string): string {
  const url = isWebAddress(pathOrAddress) ? URL.parse(pathOrAddress) : null;
  if (!url) return getFileName(pathOrAddress);
  const query = [...url.searchParams].filter(([name]) => !PAGING_PARAMETERS.has(name) && !SECRET_PARAMETER.test(name));
  const search = new URLSearchParams(query.sort(([a], [b]) => (a < b ? -1 : 1))).toString();
  return `${url.origin}${url.pathname}${search && `?${search}`}`;
}

/** Returns whether a source is a web address; everything else is a file. */
export function isWebAddress(pathOrAddress: string): boolean {
  return /^https?:\/\//i.test(pathOrAddress);
}

function getFileName(path: string): string {
  const name = path.split(/[/\\]+/).findLast((part) => part !== '' && part !== '.');
  return cleanText(name ?? '', 'title') || 'file';
}
