import ipaddr from 'ipaddr.js';

/**
 * Ranges that stay inside a network of one's own. These alone open up when private networks are allowed, the metadata
 * services of clouds excepted.
 */
const PRIVATE_RANGES = new Set(['loopback', 'private', 'uniqueLocal', 'carrierGradeNat']);

/** Global unicast, the only part of IPv6 that is given out (RFC 4291 section 2.4; IANA IPv6 address space registry). */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/**
 * Answered by the cloud host itself, which may hand out its credentials: Azure's platform services, whose number is a
 * public one, and the metadata services of Alibaba, AWS, Google and Scaleway, whose numbers are private ones. All others
 * are link-local or reserved.
 */
const METADATA_ADDRESSES = new Set(
  ['168.63.129.16', '100.100.100.200', 'fd00:ec2::254', 'fd20:ce::254', 'fd00:42::42'].map(toCanonical),
);

function toCanonical(text: string): string {
  return ipaddr.parse(text).toNormalizedString();
}

/**
 * Tells why an IP address may not be connected to, as one word (`loopback`, `private`, `ipv4Mapped` …), or gives
 * undefined when it may. Takes the textual forms of both families; what cannot be read as an address is `unreadable`.
 * Everything that is not plain global unicast is refused: the IANA special-purpose registries (RFC 6890), multicast,
 * unallocated IPv6, and IPv6 forms that carry an IPv4 address inside (mapped, NAT64, 6to4, Teredo), whose inner
 * address a router would unpack behind our back.
 */
export function findAddressProblem(text: string, options: { allowPrivateNetworks: boolean }): string | undefined {
  // Strict form only: what came through URL parsing or a resolver is canonical, so a lax spelling here is a trick.
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
