import { isPublicName } from '../evidence/domains.ts';
import { parseOutsideUrl } from '../fetching/address.ts';

export const BAD_ADDRESS = {
  status: 400,
  code: 'bad_address',
  detail: 'That is not the address of an API that everybody can reach.',
  hint: 'Enter a host such as api.example.com, or the https address of a route.',
} as const;

/** Parses an address or a bare host that a provider typed; undefined for anything else. */
export function readAddress(text: string, allowPrivateNetworks: boolean): URL | undefined {
  const written = text.trim();
  const isWhole = /^https?:\/\//i.test(written);
  if (!isWhole && !isPublicName(written.split(/[/:?#]/)[0] ?? '')) return undefined;
  const secured = allowPrivateNetworks ? written : written.replace(/^http:/i, 'https:');
  const url = parseOutsideUrl(isWhole ? secured : `https://${written}`, { allowPrivateNetworks });
  return url instanceof URL ? url : undefined;
}
