import { findNetwork, isUsdc, NETWORKS, type NetworkKey } from '../model/network.ts';
import type { OfferProblem } from './offer-problem.ts';

/** Test networks by their CAIP-2 identifier, where the name alone would not tell. */
const TEST_NETWORKS = new Set([
  ...['eip155:84532', 'eip155:11155111', 'eip155:80002', 'eip155:43113', 'eip155:421614', 'eip155:11155420'],
  ...['eip155:1952', 'eip155:1328', 'eip155:4202', 'eip155:97', 'eip155:5042002'],
  ...['solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', 'solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z'],
]);
const TEST_NAME = /sepolia|testnet|devnet|fuji|amoy|goerli|holesky|(?:^|[-:])test(?:$|[-:])/i;

/** Names of a currency, where the protocol wants the contract or mint. */
const ASSET_NAME = /^(?:usdc?|usd coin|iso4217:[a-z]{3}|[a-z]{2,6})$/i;

/** Finds the network of an offer: `{ key, isUsual }`, or why it is not taken. `isUsual` is false for a foreign spelling. */
export function findOfferNetwork(
  raw: unknown,
  version: 1 | 2 | null,
): { key: NetworkKey; isUsual: boolean } | { code: OfferProblem } {
  if (typeof raw !== 'string' || raw.trim() === '') return { code: 'no_network' };
  const name = raw.trim();
  if (TEST_NETWORKS.has(name) || TEST_NAME.test(name)) return { code: 'test_network' };
  const exact = findNetwork(name);
  const network = exact ?? findNetwork(name.toLowerCase());
  if (!network) return { code: 'unsupported_network' };
  const usual = version === null ? name : version === 1 ? network.key : network.id;
  return { key: network.key, isUsual: exact !== undefined && name === usual };
}

/** Finds why the asset of an offer is not the USDC of its network. */
export function findAssetProblem(key: NetworkKey, raw: unknown): OfferProblem | undefined {
  if (typeof raw !== 'string' || raw.trim() === '') return 'no_asset';
  if (isUsdc(key, raw)) return undefined;
  return ASSET_NAME.test(raw.trim()) ? 'asset_not_an_address' : 'not_usdc';
}

/** Says whether an asset is the USDC of a main network. */
export function isMainnetUsdc(raw: unknown): boolean {
  return typeof raw === 'string' && Object.values(NETWORKS).some(({ key }) => isUsdc(key, raw));
}
