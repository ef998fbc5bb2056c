import type { Declaration } from '../model/declaration.ts';
import { NETWORKS, type NetworkKey } from '../model/network.ts';
import type { Terms } from '../model/terms.ts';
import { formatUsdc, parseUsdc } from '../model/usdc.ts';
import { MAX_PLAUSIBLE_AMOUNT, parsePayTo } from '../x402/offer-fields.ts';
import type { ManifestContext } from './manifest-context.ts';
import { formatPath } from './manifest-issues.ts';
import type { Manifest, ManifestRoute } from './manifest-schema.ts';
import type { Path } from './manifest-yaml.ts';

/** Builds a route's terms, one for each network that it is paid on; none where it states no price. */
export function buildTerms(
  given: ManifestRoute,
  networks: readonly NetworkKey[],
  index: number,
  context: ManifestContext,
): Terms[] {
  for (const key of Object.keys(given.pay_to ?? {}) as NetworkKey[]) {
    if (networks.includes(key)) continue;
    const message = `pay_to names ${key}, but the route is not paid on ${key}; add it to networks, or remove it.`;
    context.refuse('bad_pay_to', ['routes', index, 'pay_to', key], message);
  }
  if (given.price_usdc === undefined) return [];
  const amount = readAmount(given.price_usdc, ['routes', index, 'price_usdc'], context);
  if (amount === undefined) return [];
  return networks.map((network) => {
    const payTo = given.pay_to?.[network];
    const account = payTo === undefined ? null : parsePayTo(network, payTo);
    if (account === undefined) {
      const message = `pay_to.${network} is not an account of ${NETWORKS[network].label}.`;
      context.refuse('bad_pay_to', ['routes', index, 'pay_to', network], message);
    }
    return {
      network,
      scheme: 'exact',
      asset: NETWORKS[network].usdc,
      amount,
      pay_to: account ?? null,
      max_timeout_seconds: null,
      x402_version: null,
    };
  });
}

/** Reads the price of a listing without routes, or its range; null where it states none that can be taken. */
export function readPriceRange(
  { price_usdc: price, routes = [] }: Manifest,
  context: ManifestContext,
): Declaration['price'] {
  if (price === undefined || routes.length > 0) return null;
  if (typeof price === 'string') {
    const amount = readAmount(price, ['price_usdc'], context);
    return amount === undefined ? null : { min: amount, max: amount };
  }
  const min = readAmount(price.min, ['price_usdc', 'min'], context);
  const max = readAmount(price.max, ['price_usdc', 'max'], context);
  if (min === undefined || max === undefined) return null;
  if (min > max) context.refuse('manifest_bad_value', ['price_usdc'], 'The min of price_usdc is above its max.');
  return { min, max };
}

/** Reads a price into atomic USDC; undefined, and the manifest is refused, where nobody can mean it. */
function readAmount(text: string, path: Path, { refuse }: ManifestContext): number | undefined {
  const amount = parseUsdc(text);
  if (amount !== undefined && amount <= MAX_PLAUSIBLE_AMOUNT) return amount;
  const bound = `a price is at most ${formatUsdc(MAX_PLAUSIBLE_AMOUNT)} USDC`;
  refuse(
    'implausible_price',
    path,
    `${formatPath(path)} is ${text} USDC for one request, which is not plausible; ${bound}.`,
  );
  return undefined;
}
