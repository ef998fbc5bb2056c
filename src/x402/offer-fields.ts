import { type Family, findNetwork, isUsdc, NETWORKS, type NetworkKey, networkKey } from '../model/network.ts';
import { parseAtomicUsdc } from '../model/usdc.ts';

/**
 * Reasons why an offer is not taken. With the codes for another network or asset the offer may be good, but not for
 * this service (specification, "Authentication" 3). With the other codes nobody can pay it.
 */
export type OfferProblem = OtherNetworkProblem | 'not_usdc' | BrokenProblem;

/** Reasons for an offer on a network that the service does not list. */
type OtherNetworkProblem = 'unsupported_network' | 'test_network' | 'test_network_mainnet_asset';

/** Reasons for an offer on a network of the service, or on none, that cannot be paid as it is. */
type BrokenProblem =
  | 'bad_offer'
  | 'bad_scheme'
  | 'no_network'
  | 'no_asset'
  | 'asset_not_an_address'
  | 'no_amount'
  | 'bad_amount'
  | 'zero_amount'
  | 'implausible_price'
  | 'bad_pay_to';

const OTHER_NETWORK: readonly string[] = [
  'unsupported_network',
  'test_network',
  'test_network_mainnet_asset',
] satisfies OtherNetworkProblem[];

/** Returns whether an offer was left out only because of its network. */
export function isOnOtherNetwork(problem: string): boolean {
  return OTHER_NETWORK.includes(problem);
}

/** CAIP-2 identifiers of test networks, for those whose name does not say so. */
const TEST_NETWORKS = new Set([
  ...['eip155:84532', 'eip155:11155111', 'eip155:80002', 'eip155:43113', 'eip155:421614', 'eip155:11155420'],
  ...['eip155:1952', 'eip155:1328', 'eip155:4202', 'eip155:97', 'eip155:5042002'],
  ...['solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', 'solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z'],
]);
const TEST_NAME = /sepolia|testnet|devnet|fuji|amoy|goerli|holesky|(?:^|[-:])test(?:$|[-:])/i;

/** Names of a currency, in place of the contract or mint that the protocol requires. */
const ASSET_NAME = /^(?:usdc?|usd coin|iso4217:[a-z]{3}|[a-z]{2,6})$/i;

/**
 * Finds the network of an offer, or the reason why it is not taken. `isUsual` is false for another spelling than that
 * of the version.
 */
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

/** Finds the fault of an offer's asset; undefined if it is the USDC of its network. */
export function findAssetProblem(key: NetworkKey, raw: unknown): OfferProblem | undefined {
  if (typeof raw !== 'string' || raw.trim() === '') return 'no_asset';
  if (isUsdc(key, raw)) return undefined;
  return ASSET_NAME.test(raw.trim()) ? 'asset_not_an_address' : 'not_usdc';
}

/** Returns whether an asset is the USDC of a main network. */
export function isMainnetUsdc(raw: unknown): boolean {
  return typeof raw === 'string' && networkKey.options.some((key) => isUsdc(key, raw));
}

/**
 * Highest plausible price of one request, in atomic USDC: 1,000 USDC. The most expensive of some thousand real offers
 * asks 10 USDC, and mistakes that were seen (a wrong number of decimals) ask 100,000.
 */
export const MAX_PLAUSIBLE_AMOUNT = 1_000_000_000;

/** The name of a payment scheme. */
export const SCHEME = /^[a-z][a-z0-9_-]{0,31}$/i;

/**
 * Parses an amount as x402 writes it, a string of decimal digits that counts atomic units, or returns why it is not
 * one. The protocol's own schema takes any text; signs, exponents, fractions and currency symbols are refused here.
 */
export function parseOfferAmount(raw: unknown): number | OfferProblem {
  if (raw === undefined || raw === null || raw === '') return 'no_amount';
  if (typeof raw !== 'string' || !/^\d{1,80}$/.test(raw)) return 'bad_amount';
  if (/^0+$/.test(raw)) return 'zero_amount';
  const amount = parseAtomicUsdc(raw.replace(/^0+/, ''));
  return amount === undefined || amount > MAX_PLAUSIBLE_AMOUNT ? 'implausible_price' : amount;
}

const BASE58_ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const SOLANA_KEY_BYTES = 32;

/**
 * Finds the account in a text, and its family; undefined for anything else: empty text, a URN, an opaque id, the zero address. An
 * address does not show its chain, because every chain of a family has it. EVM addresses are returned in lower case, so that two
 * spellings of one account are equal; Solana's are case-sensitive and stay unchanged.
 */
export function findAccount(text: unknown): { account: string; family: Family } | undefined {
  if (typeof text !== 'string' || text.length > 64) return undefined;
  const [evm, svm] = [parseEvmAddress(text), parseSolanaKey(text)];
  if (evm !== undefined) return { account: evm, family: 'evm' };
  return svm === undefined ? undefined : { account: svm, family: 'svm' };
}

/** Parses the payee. Returns undefined for text that is no account of that network, and for its USDC contract. */
export function parsePayTo(network: NetworkKey, text: unknown): string | undefined {
  const found = findAccount(text);
  return found?.family !== NETWORKS[network].family || isUsdc(network, found.account) ? undefined : found.account;
}

function parseEvmAddress(text: string): string | undefined {
  if (!/^0x[0-9a-f]{40}$/i.test(text) || /^0x0{40}$/i.test(text)) return undefined;
  return text.toLowerCase();
}

/** A Solana account is 32 bytes in base 58 (Solana documentation, "Accounts"). */
function parseSolanaKey(text: string): string | undefined {
  if (text.length < 32 || text.length > 44) return undefined;
  let value = 0n;
  for (const character of text) {
    const digit = BASE58_ALPHABET.indexOf(character);
    if (digit < 0) return undefined;
    value = value * 58n + BigInt(digit);
  }
  if (value === 0n) return undefined;
  const leadingZeros = text.length - text.replace(/^1+/, '').length;
  return leadingZeros + Math.ceil(value.toString(16).length / 2) === SOLANA_KEY_BYTES ? text : undefined;
}
