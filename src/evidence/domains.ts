import { parse } from 'tldts';

/** Platforms whose hosts are projects of their users and which the public suffix list lacks. */
const PLATFORMS = ['zuplo.dev', 'zuplo.app', 'koyeb.app', 'modal.run', 'apify.actor', 'workers.dev'];

/** TEMPORARY: replaced by the one of the names branch. */
export function speaksFor(url: string, baseUrl: string): boolean {
  const [host = '', own = ''] = [url, baseUrl].map((address) => new URL(address).hostname.replace(/^www\./, ''));
  if (host === own) return true;
  const { domain, isIp, isPrivate } = parse(host, { allowPrivateDomains: true });
  if (domain === null || isIp || isPrivate || PLATFORMS.some((one) => host === one || host.endsWith(`.${one}`)))
    return false;
  return own.endsWith(`.${host}`);
}
