import { parse } from 'tldts';

/** Suffixes under which anybody gets a host, and which the public suffix list lacks. */
const PLATFORMS = [
  ...['apify.actor', 'azurecontainerapps.io', 'fastmcp.app', 'glitch.me', 'gradio.live', 'koyeb.app', 'loca.lt'],
  ...['modal.run', 'nip.io', 'proxy.runpod.net', 'serveo.net', 'sevalla.app', 'sslip.io', 'zuplo.app', 'zuplo.dev'],
];

/** Returns whether a host is on a platform that the public suffix list lacks. */
export function isUnlistedPlatform(hostname: string): boolean {
  return PLATFORMS.some((platform) => hostname === platform || hostname.endsWith(`.${platform}`));
}

/** Returns whether a text is the name of a host below a suffix of the public internet: `api.example.com`. */
export function isPublicName(text: string): boolean {
  const { hostname, domain, isIcann } = parse(text);
  return hostname === text.toLowerCase() && domain !== null && isIcann === true;
}

/** Returns whether a host is on a platform: hosts beside it belong to others, and its name is no evidence. */
export function isOnPlatform(hostname: string): boolean {
  return isUnlistedPlatform(hostname) || parse(hostname, { allowPrivateDomains: true }).isPrivate === true;
}

/**
 * Returns the domain of one party: `coingecko.com` for `api.coingecko.com`, and on platforms the part of one user, as
 * `anna.workers.dev`; the host itself if it has none.
 */
export function getDomain(baseUrl: string): string {
  const { hostname } = new URL(baseUrl);
  if (isUnlistedPlatform(hostname)) return hostname;
  return parse(hostname, { allowPrivateDomains: true }).domain ?? hostname;
}

/** Returns the registered domain of a host, for a host without one the host with its port. `domain` is that of `getDomain`. */
export function getProviderDomain(host: string, domain = getDomain(`https://${host}`)): string {
  return host.replace(/:\d+$/, '') === domain ? host : domain;
}

/** Returns the label that somebody registered: `coingecko` for `api.coingecko.com`; empty for a host on a platform or without a domain. */
export function getRegisteredLabel(baseUrl: string): string {
  const { hostname } = new URL(baseUrl);
  return isOnPlatform(hostname) ? '' : (parse(hostname).domainWithoutSuffix ?? '');
}

/**
 * Returns whether a document at one address speaks for the API at another: it does for its own host, at any port, and for
 * the hosts below it, but never for those beside or above it. `www.` counts as its parent. A document on a platform, at
 * an IP address, at a name of one label or at a public suffix speaks for that very host alone.
 */
export function speaksFor(documentUrl: string, baseUrl: string): boolean {
  const [own, other] = [documentUrl, baseUrl].map((url) => new URL(url).hostname.replace(/\.$/, '')) as [
    string,
    string,
  ];
  if (own === other) return true;
  if (isOnPlatform(own) || isOnPlatform(other)) return false;
  const parent = own.replace(/^www\./, '');
  // An IP address, a name of one label and a public suffix have no domain.
  return parse(parent).domain !== null && (other === parent || other.endsWith(`.${parent}`));
}
