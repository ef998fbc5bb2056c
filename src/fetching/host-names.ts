/** Longest name in the domain name system, in its textual form (RFC 1035 section 2.3.4). */
const MAX_NAME_LENGTH = 253;

/** Letters, digits, hyphens, and the underscore that some hosting services put in host names. */
const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;

/** A last label is never numeric: that would be read as an IPv4 address (RFC 3696 section 2). */
const LAST_LABEL = /^(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})$/;

/**
 * Last labels that mean "here" and never a public service: special-use names (RFC 6761, RFC 6762 with appendix G,
 * RFC 7686, RFC 8375, RFC 9476), `internal`, `home`, `corp` and `mail` (reserved for private use by ICANN), and what
 * home routers hand out. `example` is left out on purpose: RFC 6761 section 6.5 asks programs not to single it out.
 */
const LOCAL_LAST_LABELS = new Set([
  ...['localhost', 'localdomain', 'local', 'internal', 'intranet', 'private', 'corp', 'home', 'lan', 'mail'],
  ...['test', 'invalid', 'onion', 'alt', 'arpa'],
]);

/** Names under public suffixes that cloud hosts answer with their metadata service. */
const METADATA_NAMES = new Set([
  ...['metadata.google.internal', 'metadata.goog', 'metadata.tencentyun.com', 'instance-data.ec2.internal'],
]);

/** Why a host name is refused: `syntax` (not a name at all), `metadata`, or `local` (means something only here). */
export type HostNameProblem = 'syntax' | 'metadata' | 'local';

/**
 * Tells why a lower-case ASCII host name without trailing dot may not be asked for, or gives undefined when it may.
 * Local names (one label, `.local`, `.internal` …) pass when private networks are allowed; metadata names never do.
 */
export function findHostNameProblem(
  name: string,
  options: { allowPrivateNetworks: boolean },
): HostNameProblem | undefined {
  const labels = name.split('.');
  const last = labels.at(-1) ?? '';
  if (name.length > MAX_NAME_LENGTH || !labels.every((label) => LABEL.test(label))) return 'syntax';
  if ([...METADATA_NAMES].some((known) => name === known || name.endsWith(`.${known}`))) return 'metadata';
  if (options.allowPrivateNetworks) return undefined;
  if (labels.length === 1 || LOCAL_LAST_LABELS.has(last)) return 'local';
  return LAST_LABEL.test(last) ? undefined : 'syntax';
}
