import { z } from 'zod';
import { type Family, NETWORKS, type NetworkKey } from './chains.ts';

export { type Family, NETWORKS, type NetworkKey };

export type Network = (typeof NETWORKS)[NetworkKey];
export type EvmNetwork = Extract<Network, { family: 'evm' }>;
export type SvmNetwork = Extract<Network, { family: 'svm' }>;

/** The keys of all networks, the preferred one first. */
export const networkKey = z.enum(Object.values(NETWORKS).map(({ key }) => key));

/** The network that is assumed if none is named. Every listing has an entry of it. */
export const [DEFAULT_NETWORK] = Object.keys(NETWORKS) as [NetworkKey];

/** Words of each family: for a block, for the nonce of a payment, and for the form of an account. */
export const FAMILY_WORDS: Readonly<Record<Family, { block: string; nonce: string; account: string }>> = {
  evm: { block: 'Block', nonce: 'Nonce', account: '0x and 40 hexadecimal digits' },
  svm: { block: 'Slot', nonce: 'Memo', account: '32 bytes in base 58' },
};

/** The contract (Permit2) that moves USDC of the scheme `upto`, at the same address on every chain of the family `evm`. */
export const PERMIT2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3';

/** Returns true if a network is of the family `evm`. */
export function isEvm(key: NetworkKey): boolean {
  return NETWORKS[key].family === 'evm';
}

/** Writes the names of all networks: `Base or Solana`. */
export function nameNetworks(joint: 'or' | 'and' = 'or'): string {
  return new Intl.ListFormat('en-GB', { type: joint === 'or' ? 'disjunction' : 'conjunction' }).format(
    Object.values(NETWORKS).map(({ label }) => label),
  );
}

/** Finds a network by its key (x402 v1 `base`) or its CAIP-2 identifier (x402 v2 `eip155:8453`). */
export function findNetwork(name: string): Network | undefined {
  return Object.values(NETWORKS).find(({ key, id }) => key === name || id === name);
}

/** Finds a network by what people write for it: `Base Mainnet`, `8453`, `solana-mainnet-beta`. */
export function findNamedNetwork(text: string): Network | undefined {
  const name = text.toLowerCase().replace(/[ _:-]/g, '');
  return (
    findNetwork(text) ?? Object.values(NETWORKS).find(({ key, aliases }) => key === name || aliases.includes(name))
  );
}

/** Returns true if two accounts, assets or hashes of a network are the same: on EVM in upper or lower case, on Solana exactly. */
export function isSameOn(key: NetworkKey, one: string, other: string): boolean {
  return isEvm(key) ? one.toLowerCase() === other.toLowerCase() : one === other;
}

/** Returns true if `asset` is USDC on that network. */
export function isUsdc(key: NetworkKey, asset: string): boolean {
  return isSameOn(key, asset, NETWORKS[key].usdc);
}

/** Returns true if a first block is that of the public network, and not of a local test chain. */
export function isPublicChain(key: NetworkKey, genesis: string): boolean {
  return genesis.startsWith(NETWORKS[key].genesis);
}

/** The chain of a payment: the network, and whether it is the public one. */
interface PaidChain {
  readonly network: NetworkKey;
  readonly public_chain: boolean;
}

/**
 * Names the chain of a payment by the `name` of its network: `Base`, or `a local test chain for Base`, where money has no value.
 */
export function nameChain({ network, public_chain }: PaidChain, name: string = NETWORKS[network].label): string {
  return public_chain ? name : `a local test chain for ${name}`;
}

/** Returns true if a listing is paid on a network, by dated evidence or by a declaration of its sources. */
export function isPaidOn({ advertised, declared }: Pick<NetworkEntry, 'advertised' | 'declared'>): boolean {
  return advertised || declared === true;
}

/** A network entry as documents carry it (specification, "Network entry"). */
export const networkEntry = z
  .object({
    id: z.string().describe('Chain identifier: eip155:8453 for Base, solana:<chain reference> for Solana'),
    key: networkKey,
    label: z.string().describe('Display name of the network'),
    advertised: z.boolean().describe('Whether the provider currently advertises payment on this network'),
    declared: z
      .literal(true)
      .optional()
      .describe('There where the sources name it now, and no dated evidence ever showed it'),
    settlement_verified: z.boolean().describe('Whether a paid test call succeeded on this network'),
    last_verified_at: z.iso
      .datetime()
      .nullable()
      .describe('Time of the last verified payment; null when never verified'),
    last_seen_at: z.iso.datetime().nullable().describe('Time of the latest dated evidence; null while not advertised'),
  })
  .meta({ id: 'NetworkEntry' });
export type NetworkEntry = z.infer<typeof networkEntry>;
