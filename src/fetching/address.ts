import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Longest address, in UTF-16 units: common servers and proxies accept request lines of this length. */
const MAX_URL_LENGTH = 2048;

/** White space, control characters, and invisible or direction-changing characters that make two addresses look alike. */
const UNSAFE_CHARACTERS = /[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}\\]|\p{Cs}/u;

/** Reasons why an address is refused before any network access. */
export type RefusalReason = 'bad_url' | 'not_https' | 'userinfo' | 'blocked_address' | 'blocked_host' | 'blocked_port';

/** The refusal of an address. The message is one sentence that quotes at most the host. */
export interface Refusal {
  reason: RefusalReason;
  message: string;
}

export interface OutsideUrlOptions {
  /** True to allow also `http`, local names, and loopback and private addresses (demo and tests). */
  allowPrivateNetworks: boolean;
}

/**
 * Parses an address from outside, or returns why it may not be fetched. Pure: it looks nothing up, so an allowed name
 * may still resolve to a forbidden address; the guarded client checks that when it connects. The returned URL has no
 * fragment and no dot after the host. Tell the results apart by `instanceof URL`. Never throws.
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
  // One dot at the end means that the name is complete (RFC 1034 section 3.1); two are invalid.
  if (/[^.]\.$/.test(url.hostname)) url.hostname = url.hostname.slice(0, -1);
  return findHostProblem(url.hostname, options) ?? findPortProblem(url) ?? url;
}

/** Checks the text as written, before the URL parser silently corrects it (drops tabs, turns backslashes, adds slashes). */
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
    return buildRefusal('blocked_host', `The host ${hostname} has a meaning only within a network.`);
  return undefined;
}

function findPortProblem(url: URL): Refusal | undefined {
  if (!isBlockedPort(url.port)) return undefined;
  return buildRefusal('blocked_port', `The port ${url.port} belongs to another protocol than HTTP.`);
}

function buildRefusal(reason: RefusalReason, message: string): Refusal {
  return { reason, message };
}

/**
 * Ranges within a private network. Only these are allowed with `allowPrivateNetworks`, except metadata services of
 * clouds.
 */
const PRIVATE_RANGES = new Set(['loopback', 'private', 'uniqueLocal', 'carrierGradeNat']);

/** Global unicast, the only part of IPv6 that is allocated (RFC 4291 section 2.4; IANA IPv6 address space registry). */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/**
 * Addresses that a cloud host answers itself, and that may hand out its credentials: Azure's platform services at a
 * public address, and the metadata services of Alibaba, AWS, Google and Scaleway at private ones. All other metadata
 * services are link-local or reserved.
 */
const METADATA_ADDRESSES = new Set(
  ['168.63.129.16', '100.100.100.200', 'fd00:ec2::254', 'fd20:ce::254', 'fd00:42::42'].map(toCanonical),
);

function toCanonical(text: string): string {
  return ipaddr.parse(text).toNormalizedString();
}

/**
 * Finds the reason why an IP address may not be connected to, as one word (`loopback`, `private`, `ipv4Mapped` …);
 * undefined if it may. Takes the textual forms of both families; anything else is `unreadable`. Everything except plain
 * global unicast is refused: the IANA special-purpose registries (RFC 6890), multicast, unallocated IPv6, and IPv6
 * forms that contain an IPv4 address (mapped, NAT64, 6to4, Teredo), which a router would unpack without our notice.
 */
export function findAddressProblem(text: string, options: { allowPrivateNetworks: boolean }): string | undefined {
  // URL parsers and resolvers return canonical addresses, so any spelling but the strict form is a trick.
  const isIPv4 = ipaddr.IPv4.isValidFourPartDecimal(text);
  if (!isIPv4 && !ipaddr.IPv6.isValid(text)) return 'unreadable';
  const address = ipaddr.parse(text);
  if (METADATA_ADDRESSES.has(address.toNormalizedString())) return 'metadata';
  const range = address.range();
  if (PRIVATE_RANGES.has(range)) return options.allowPrivateNetworks ? undefined : range;
  if (range !== 'unicast') return range;
  if (address instanceof ipaddr.IPv6) return address.match(GLOBAL_UNICAST) ? undefined : 'unallocated';
  return undefined;
}

/** Longest domain name, in its textual form (RFC 1035 section 2.3.4). */
const MAX_NAME_LENGTH = 253;

/** Letters, digits, hyphens, and the underscore that some hosting services use. */
const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;

/** The last label is never numeric, because the name would be read as an IPv4 address (RFC 3696 section 2). */
const LAST_LABEL = /^(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})$/;

/**
 * Last labels of local names, which are never public services: special-use names (RFC 6761, RFC 6762 with appendix G,
 * RFC 7686, RFC 8375, RFC 9476), `internal`, `home`, `corp` and `mail` (reserved for private use by ICANN), and names
 * that home routers assign. `example` is left out on purpose: RFC 6761 section 6.5 asks programs to treat it like any
 * other name.
 */
const LOCAL_LAST_LABELS = new Set([
  ...['localhost', 'localdomain', 'local', 'internal', 'intranet', 'private', 'corp', 'home', 'lan', 'mail'],
  ...['test', 'invalid', 'onion', 'alt', 'arpa'],
]);

/** Names that cloud hosts answer with their metadata service. */
const METADATA_NAMES = new Set([
  ...['metadata.google.internal', 'metadata.goog', 'metadata.tencentyun.com', 'instance-data.ec2.internal'],
]);

/**
 * Reasons why a host name is refused: `syntax` (not a name), `metadata`, or `local` (has a meaning only within a
 * network).
 */
type HostNameProblem = 'syntax' | 'metadata' | 'local';

/**
 * Finds the reason why a lower-case ASCII host name without trailing dot is refused; undefined if it is allowed. Local
 * names (one label, `.local`, `.internal` …) are allowed with private networks; metadata names never are.
 */
function findHostNameProblem(name: string, options: { allowPrivateNetworks: boolean }): HostNameProblem | undefined {
  const labels = name.split('.');
  const last = labels.at(-1) ?? '';
  if (name.length > MAX_NAME_LENGTH || !labels.every((label) => LABEL.test(label))) return 'syntax';
  if ([...METADATA_NAMES].some((known) => name === known || name.endsWith(`.${known}`))) return 'metadata';
  if (options.allowPrivateNetworks) return undefined;
  if (labels.length === 1 || LOCAL_LAST_LABELS.has(last)) return 'local';
  return LAST_LABEL.test(last) ? undefined : 'syntax';
}

/**
 * Ports of other protocols (mail, file sharing, remote login …), to which browsers send no HTTP either, so that nobody
 * can make us talk to such a service (Fetch standard, "port blocking").
 */
const BLOCKED_PORTS = new Set([
  ...[0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104],
  ...[109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526],
  ...[530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045],
  ...[4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080],
]);

/**
 * Returns whether a URL's port belongs to another protocol. Takes the `port` of a parsed URL; empty is the default
 * port.
 */
function isBlockedPort(port: string): boolean {
  return port !== '' && BLOCKED_PORTS.has(Number(port));
}
