import type { Problem } from '../views/problem.ts';

/** What a request is told whose address is none. */
export const MALFORMED_ADDRESS = {
  status: 400,
  code: 'malformed_address',
  detail: 'The address is malformed.',
  hint: 'Percent-encode what is not ASCII (as UTF-8), spaces and "%" itself; curl -G --data-urlencode "q=…" does.',
} as const satisfies Partial<Problem>;

/** What a request asks for: the path as sent, without the query, and the path that the service itself would write. */
export interface Target {
  readonly path: string;
  /** Decoded, without a trailing slash. Never used to reach a file: pages are looked up by name. */
  readonly canonical: string;
  /** With the question mark; empty where there is none. */
  readonly query: string;
}

/**
 * Parses a request target (RFC 9112, section 3.2): a path, or a whole http(s) address, of which the path counts. Undefined
 * for what is no address of anything: broken percent-encoding, control characters or backslashes in any spelling.
 */
export function parseTarget(target: string): Target | undefined {
  const local = target.startsWith('/') ? target : getLocalPart(target);
  if (local === undefined) return undefined;
  const at = local.indexOf('?');
  const [path, query] = at < 0 ? [local, ''] : [local.slice(0, at), local.slice(at)];
  const decoded = decodePath(path);
  if (decoded === undefined) return undefined;
  const canonical = decoded.length > 1 && decoded.endsWith('/') ? decoded.replace(/\/+$/, '') || '/' : decoded;
  return { path, canonical, query };
}

function getLocalPart(target: string): string | undefined {
  const url = /^https?:\/\//i.test(target) ? URL.parse(target) : null;
  return url ? `${url.pathname}${url.search}` : undefined;
}

function decodePath(path: string): string | undefined {
  let decoded = path;
  try {
    if (path.includes('%')) decoded = decodeURIComponent(path);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these are refused
  return /[\x00-\x1f\x7f\\]/.test(decoded) ? undefined : decoded;
}
