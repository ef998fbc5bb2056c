import { cleanText } from './text.ts';

/** Query parameters that say which part of a feed is asked for, not which feed it is. */
const PAGING_PARAMETERS = new Set(['limit', 'offset']);

/** Query parameters whose value may be a secret. */
const SECRET_PARAMETER = /key|token|secret|auth|sig|pass/i;

/**
 * Gives the name under which a source is on record: a feed's address without paging, user name and secrets, or a
 * file's base name. Never a path of this machine, since readers see it and since a file may move.
 */
export function getSourceName(pathOrAddress: string): string {
  const url = isWebAddress(pathOrAddress) ? URL.parse(pathOrAddress) : null;
  if (!url) return getFileName(pathOrAddress);
  const query = [...url.searchParams].filter(([name]) => !PAGING_PARAMETERS.has(name) && !SECRET_PARAMETER.test(name));
  const search = new URLSearchParams(query.sort(([a], [b]) => (a < b ? -1 : 1))).toString();
  return `${url.origin}${url.pathname}${search && `?${search}`}`;
}

/** Says whether a source is fetched over the web; everything else is a file. */
export function isWebAddress(pathOrAddress: string): boolean {
  return /^https?:\/\//i.test(pathOrAddress);
}

function getFileName(path: string): string {
  const name = path.split(/[/\\]+/).findLast((part) => part !== '' && part !== '.');
  return cleanText(name ?? '', 'title') || 'file';
}
