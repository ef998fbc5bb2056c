import { parseOutsideUrl } from '../fetching/address.ts';
import type { Note, Refusal } from './findings.ts';

/**
 * Parses the address of something to be listed. Addresses that the guarded client would not fetch are refused, and so
 * are tunnels and preview deployments, which do not last. Tell the results apart by `instanceof URL`.
 */
export function parseListedUrl(text: unknown, options: { allowPrivateNetworks: boolean }): URL | Refusal {
  if (typeof text !== 'string') return { code: 'bad_url', message: 'The address is not text.' };
  const url = parseOutsideUrl(text, options);
  if (!(url instanceof URL)) return { code: url.reason, message: url.message };
  if (isEphemeralHost(url.hostname)) {
    return { code: 'ephemeral_host', message: `The host ${url.hostname} is a tunnel and will not last.` };
  }
  if (isPreviewHost(url.hostname)) {
    return { code: 'preview_host', message: `The host ${url.hostname} is a preview deployment and will not last.` };
  }
  return url;
}

/**
 * Parses the address of a resource as `parseListedUrl` does. An address with http:// is taken with https://, and noted:
 * feeds are full of addresses that a proxy, which ends TLS, wrote. An address with a port of its own is refused,
 * because the same port does not speak TLS.
 */
export function parseResourceUrl(text: string, options: { allowPrivateNetworks: boolean }, note: Note): URL | Refusal {
  const url = parseListedUrl(text, options);
  if (url instanceof URL || url.code !== 'not_https' || !/^http:/i.test(text)) return url;
  if (URL.parse(text)?.port !== '') return url;
  const secure = parseListedUrl(
    text.replace(/^http:/i, 'https:').replace(/^(https:\/\/[^/?#]+):80(?=[/?#]|$)/, '$1'),
    options,
  );
  if (secure instanceof URL) note('http_as_https');
  return secure;
}

/** A segment that matches any: `*`, `**`, `*name`, and `[id]` or `[...id]` of a framework's folders. */
const WILDCARD = /(?<=\/)(?:\*{1,2}([A-Za-z_]\w{0,79})?|\[(?:\.{3})?([A-Za-z_]\w{0,79})\])(?=\/|$)/g;

/** Returns whether a path has a segment that matches any, in another form than a template. */
export function hasWildcard({ pathname }: URL): boolean {
  return pathname.search(WILDCARD) >= 0;
}

/**
 * Returns the path of an address with its fixed query, with templates as they were written: URL parsing escapes the
 * braces of `{id}`, and nothing else that matters here. A wildcard becomes a template (`{any}`), because nobody can call
 * it as it is.
 */
export function getTemplatePath(url: URL): string {
  const path = url.pathname.replace(/%7B/gi, '{').replace(/%7D/gi, '}');
  let wildcards = 0;
  const templates = path.replace(WILDCARD, (_all, starred?: string, bracketed?: string) => {
    wildcards += 1;
    return `{${starred ?? bracketed ?? `any${wildcards === 1 ? '' : wildcards}`}}`;
  });
  return `${templates}${url.search}`;
}

/** Returns the path of an address as `getTemplatePath` does, from a base address on; undefined if it is not below that. */
export function findPathBelow(base: URL, url: URL): string | undefined {
  const prefix = base.pathname.replace(/\/+$/, '');
  const whole = getTemplatePath(url);
  return url.origin === base.origin && whole.startsWith(`${prefix}/`) ? whole.slice(prefix.length) : undefined;
}

/** Domains of tunnels to somebody's own machine. When a tunnel closes, its address is gone or belongs to somebody else. */
const TUNNEL_DOMAINS = [
  ...['ngrok.io', 'ngrok.app', 'ngrok.dev', 'ngrok-free.app', 'ngrok-free.dev', 'trycloudflare.com', 'loca.lt'],
  ...['localtunnel.me', 'localhost.run', 'lhr.life', 'lhr.rocks', 'serveo.net', 'serveousercontent.com', 'bore.pub'],
  ...['pinggy.link', 'pinggy.io', 'tunnelmole.net', 'tunnelto.dev', 'zrok.io', 'devtunnels.ms', 'app.github.dev'],
  ...['gitpod.io', 'webcontainer.io', 'csb.app'],
];

/** Returns whether a host is a tunnel of a known service. Takes a host name in lower case. */
function isEphemeralHost(hostname: string): boolean {
  return TUNNEL_DOMAINS.some((domain) => hostname === domain || hostname.endsWith(`.${domain}`));
}

/** Hosts that a platform makes for one commit, branch or pull request of a project. */
const PREVIEW_HOSTS = [
  /-git-[a-z0-9-]+-[a-z0-9-]+\.vercel\.app$/,
  /^(?:deploy-preview-\d+|[0-9a-f]{24})--[a-z0-9-]+\.netlify\.app$/,
  /^[0-9a-f]{8}\.[a-z0-9-]+\.pages\.dev$/,
  /^[0-9a-f]{8}-[a-z0-9-]+\.[a-z0-9-]+\.workers\.dev$/,
  /-pr-\d+\.(?:up\.railway\.app|onrender\.com|herokuapp\.com)$/,
  /^pr-\d+\.[a-z0-9]+\.amplifyapp\.com$/,
];

/** The nine characters before the team in the host of a Vercel deployment: `shop-k3x9w2pqz-team.vercel.app`. */
const VERCEL_DEPLOYMENT = /^[a-z0-9-]+?-([a-z0-9]{9})-[a-z0-9-]+\.vercel\.app$/;

/** Names with a digit inside that people use, so that they are no sign of a random one. */
const NAMES_WITH_DIGITS = /web[23]|x402|erc\d+|[pb]2[pb]|mp[34]|s3|l2/g;

/** Returns whether a host is a preview deployment of a known platform. Takes a host name in lower case. */
function isPreviewHost(hostname: string): boolean {
  if (PREVIEW_HOSTS.some((pattern) => pattern.test(hostname))) return true;
  if (!VERCEL_DEPLOYMENT.test(hostname)) return false;
  const parts = hostname.replace('.vercel.app', '').split('-').slice(1, -1);
  return parts.some((part) => part.length === 9 && isRandom(part));
}

/** Returns whether letters and digits look random: digits before letters, a q without u, or many consonants in a row. */
function isRandom(part: string): boolean {
  const plain = part.replace(NAMES_WITH_DIGITS, '');
  return /\d[a-z]/.test(plain) || /q(?!u)/.test(plain) || /[bcdfghjklmnpqrstvwxz]{5}/.test(plain);
}
