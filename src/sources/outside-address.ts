import { parseOutsideUrl } from '../fetching/address.ts';
import { isEphemeralHost } from './ephemeral-hosts.ts';
import type { FindingCode } from './finding-codes.ts';

export interface AddressProblem {
  code: FindingCode;
  message: string;
}

/**
 * Parses the address of something to be listed. Refused is what the guarded client would not fetch, and tunnels, which
 * do not last. Tell the outcomes apart by `instanceof URL`.
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
 * Returns the path of an address with its fixed query, templates as they were written: URL parsing escapes the braces
 * of `{id}` and nothing else that matters here.
 */
export function getTemplatePath(url: URL): string {
  return `${url.pathname.replace(/%7B/gi, '{').replace(/%7D/gi, '}')}${url.search}`;
}
