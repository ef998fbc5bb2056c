import { parseListedUrl } from './outside-address.ts';

/** Prefix of the name whose TXT records say where a host describes its paid resources (draft-jeftovic-x402-dns-discovery). */
export const TEXT_RECORD_PREFIX = '_x402.';

/** Most addresses that are taken from the records of one host. */
const MAX_ADDRESSES = 4;

/**
 * Lists the addresses that `_x402` TXT records name, in their order: `v=x4021;descriptor=api;url=https://…`. Records of
 * another kind, and addresses that may not be fetched, are left out.
 */
export function listRecordAddresses(texts: readonly string[], options: { allowPrivateNetworks: boolean }): URL[] {
  return texts
    .flatMap((text) => {
      const fields = new Map(text.split(';').map(readField));
      if (!/^x402/i.test(fields.get('v') ?? '')) return [];
      const url = parseListedUrl(fields.get('url'), options);
      return url instanceof URL ? [url] : [];
    })
    .slice(0, MAX_ADDRESSES);
}

function readField(field: string): [name: string, value: string] {
  const at = field.indexOf('=');
  return [field.slice(0, at).trim().toLowerCase(), field.slice(at + 1).trim()];
}
