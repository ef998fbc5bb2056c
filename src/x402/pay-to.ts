import { NETWORKS, type NetworkKey } from '../model/network.ts';

const BASE58_ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const SOLANA_KEY_BYTES = 32;

/**
 * Parses the account that is paid, or gives undefined for anything else than an account of that network: empty text, a
 * URN, an opaque id, the zero address, the USDC contract itself. Base addresses come back in lower case, so that two
 * spellings of one account are one; Solana's are case-sensitive and stay.
 */
export function parsePayTo(network: NetworkKey, text: unknown): string | undefined {
  if (typeof text !== 'string' || text.length > 64) return undefined;
  const account = network === 'base' ? parseEvmAddress(text) : parseSolanaKey(text);
  return account === undefined || account === getAssetAccount(network) ? undefined : account;
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

function getAssetAccount(network: NetworkKey): string {
  return network === 'base' ? NETWORKS.base.usdc.toLowerCase() : NETWORKS[network].usdc;
}
