import { isPublicName } from '../evidence/domains.ts';
import { parseOutsideUrl } from '../fetching/address.ts';
import { parseUsdc, readTypedPrice } from '../model/usdc.ts';
import type { SubmitPage } from '../views/provider-check.ts';
import type { FileFields } from '../views/submission.ts';

export const BAD_ADDRESS = {
  status: 400,
  code: 'bad_address',
  detail: 'That is not the address of an API that everybody can reach.',
  hint: 'Enter a host such as api.example.com, or the https address of a route.',
} as const;

/** Reads an address, or a bare host, as a provider writes it. */
export function readAddress(text: string, allowPrivateNetworks: boolean): URL | undefined {
  const written = text.trim();
  const isWhole = /^https?:\/\//i.test(written);
  if (!isWhole && !isPublicName(written.split(/[/:?#]/)[0] ?? '')) return undefined;
  const secured = allowPrivateNetworks ? written : written.replace(/^http:/i, 'https:');
  const url = parseOutsideUrl(isWhole ? secured : `https://${written}`, { allowPrivateNetworks });
  return url instanceof URL ? url : undefined;
}

/** Writes the provider's file from three fields, or says which of them is wrong. */
export function writeFile(
  url: URL | undefined,
  { route = '', price = '', about = '' }: FileFields,
): Pick<SubmitPage, 'file' | 'problem'> {
  const fields = { route: route.slice(0, 500), price: price.slice(0, 40), about: about.slice(0, 200).trim() };
  const [, method = 'GET', path] = /^\s*(?:(GET|POST)\s+)?(?:https?:\/\/[^/\s]+)?(\/\S*)\s*$/i.exec(fields.route) ?? [];
  const price_usdc = readTypedPrice(fields.price);
  if (!url) return { problem: BAD_ADDRESS };
  if (path === undefined) return { problem: { detail: 'Enter a route such as GET /v1/quote.' } };
  if (!parseUsdc(price_usdc)) return { problem: { detail: 'Enter a price such as 0.01.' } };
  if (fields.about === '') return { problem: { detail: 'Say in a few words what the route does.' } };
  const routes = [{ method: method.toUpperCase(), path, price_usdc }];
  const facts = { name: url.hostname, tagline: fields.about, routes };
  return { file: { ...fields, text: writeStatement([{ base_url: url.origin, listed: true, facts }]) } };
}

/** Writes a provider's file with these entries. */
export function writeStatement(listings: readonly object[]): string {
  return JSON.stringify({ version: 1, listings }, null, 2);
}
