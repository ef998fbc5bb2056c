import { parseOutsideUrl } from '../fetching/address.ts';
import type { FindingCode } from './finding-codes.ts';

export interface AddressProblem {
  code: FindingCode;
  message: string;
}

/**
 * Parses the address of something to be listed. Addresses that the guarded client would not fetch are refused, and so
 * are tunnels, which do not last. Tell the results apart by `instanceof URL`.
 */
export function parseListedUrl(text: unknown, options: { allowPrivateNetworks: boolean }): URL | AddressProblem {
  if (typeof text !== 'string') return { code: 'bad_url', message: 'The address is not text.' };
  const url = parseOutsideUrl(text, options);
  if (!(url instanceof URL)) return { code: url.reason, message: url.message };
  if (isEphemeralHost(url.hostname)) {
    return { code: 'ephemeral_host', message: `The host ${url.hostname} is a tunnel and will not last.` };
  }
  return url;
}

/**
 * Returns the path of an address with its fixed query, with templates as they were written: URL parsing escapes the
 * braces of `{id}`, and nothing else that matters here.
 */
export function getTemplatePath(url: URL): string {
  return `${url.pathname.replace(/%7B/gi, '{').replace(/%7D/gi, '}')}${url.search}`;
}

/** Domains of tunnels to somebody's own machine. When a tunnel closes, its address is gone or belongs to somebody else. */
const TUNNEL_DOMAINS = [
  ...['ngrok.io', 'ngrok.app', 'ngrok.dev', 'ngrok-free.app', 'ngrok-free.dev', 'trycloudflare.com', 'loca.lt'],
  ...['localtunnel.me', 'localhost.run', 'lhr.life', 'lhr.rocks', 'serveo.net', 'serveousercontent.com', 'bore.pub'],
  ...['pinggy.link', 'pinggy.io', 'tunnelmole.net', 'tunnelto.dev', 'zrok.io', 'devtunnels.ms', 'app.github.dev'],
  ...['gitpod.io', 'webcontainer.io', 'csb.app'],
];

/** Returns whether a host is a tunnel of a known service. Takes a host name in lower case. */
export function isEphemeralHost(hostname: string): boolean {
  return TUNNEL_DOMAINS.some((domain) => hostname === domain || hostname.endsWith(`.${domain}`));
}
