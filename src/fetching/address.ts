import { isIP } from 'node:net';
import { findAddressProblem } from './address-ranges.ts';
import { findHostNameProblem } from './host-names.ts';
import { isBlockedPort } from './ports.ts';

/** Longest address taken, in UTF-16 units: what the common servers and proxies still accept as a request line. */
const MAX_URL_LENGTH = 2048;

/** White space, control characters, and the invisible or direction-changing ones that make two addresses look alike. */
const UNSAFE_CHARACTERS = /[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}\\]|\p{Cs}/u;

/** Why an address is refused before any network is touched. */
export type RefusalReason = 'bad_url' | 'not_https' | 'userinfo' | 'blocked_address' | 'blocked_host' | 'blocked_port';

/** An address that may not be fetched. The message is one sentence that quotes no more than the host. */
export interface Refusal {
  reason: RefusalReason;
  message: string;
}

export interface OutsideUrlOptions {
  /** Also take `http`, local names, and loopback and private addresses (demo and tests). */
  allowPrivateNetworks: boolean;
}

/**
 * Parses an address that somebody outside gave, and says what is wrong with it where it may not be fetched
 * (architecture decision 7). Pure: looks nothing up, so a name that passes may still resolve to a forbidden address;
 * the guarded client checks that when it connects. The URL given back has no fragment and no dot after the host.
 * Tell the two outcomes apart by `instanceof URL`. Never throws.
 */
export function parseOutsideUrl(text: string, options: OutsideUrlOptions): URL | Refusal {
  const textProblem = findTextProblem(text);
  if (textProblem) return textProblem;
  const url = URL.parse(text);
  if (!url) return buildRefusal('bad_url', 'The address is not a valid URL.');
  if (url.protocol !== 'https:' && !options.allowPrivateNetworks) {
    return buildRefusal('not_https', 'The address must begin with https://.');
  }
  url.hash = '';
  // One dot at the end only says that the name is complete (RFC 1034 section 3.1); two make it no name at all.
  if (/[^.]\.$/.test(url.hostname)) url.hostname = url.hostname.slice(0, -1);
  return findHostProblem(url.hostname, options) ?? findPortProblem(url) ?? url;
}

/** Checks the text as written, before the URL parser silently mends it (drops tabs, turns backslashes, adds slashes). */
function findTextProblem(text: string): Refusal | undefined {
  if (text.length > MAX_URL_LENGTH) {
    return buildRefusal('bad_url', `The address is longer than ${MAX_URL_LENGTH} characters.`);
  }
  if (UNSAFE_CHARACTERS.test(text)) {
    return buildRefusal('bad_url', 'The address contains white space, a backslash, or an invisible character.');
  }
  const authority = /^https?:\/\/([^/?#]+)/i.exec(text)?.[1];
  if (authority === undefined) return buildRefusal('bad_url', 'The address does not begin with https:// and a host.');
  if (authority.includes('@')) return buildRefusal('userinfo', 'The address carries a user name or password.');
  return undefined;
}

function findHostProblem(hostname: string, options: OutsideUrlOptions): Refusal | undefined {
  const literal = hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(literal)) {
    const problem = findAddressProblem(literal, options);
    if (!problem) return undefined;
    return buildRefusal('blocked_address', `The address ${literal} is not a public one (${problem}).`);
  }
  const problem = findHostNameProblem(hostname, options);
  if (problem === 'syntax') return buildRefusal('bad_url', 'The host of the address is not a valid domain name.');
  if (problem === 'metadata') return buildRefusal('blocked_host', `The host ${hostname} is a cloud metadata service.`);
  if (problem === 'local')
    return buildRefusal('blocked_host', `The host ${hostname} has a meaning only inside a network.`);
  return undefined;
}

function findPortProblem(url: URL): Refusal | undefined {
  if (!isBlockedPort(url.port)) return undefined;
  return buildRefusal('blocked_port', `The port ${url.port} belongs to another protocol than HTTP.`);
}

function buildRefusal(reason: RefusalReason, message: string): Refusal {
  return { reason, message };
}
