import { z } from 'zod';

export const networkKey = z.enum(['base', 'solana']);
export type NetworkKey = z.infer<typeof networkKey>;

interface Network {
  readonly key: NetworkKey;
  /** CAIP-2 chain identifier. */
  readonly id: string;
  readonly label: string;
  /** The USDC contract or mint, as the network spells it. */
  readonly usdc: string;
  /** Hash of the first block, or how it begins: what tells the public chain from a local one that claims its id. */
  readonly genesis: string;
  /** Gives a public page that shows one transaction. */
  readonly getTransactionUrl: (transaction: string) => string;
  /** Gives a public page that shows one account. */
  readonly getAccountUrl: (account: string) => string;
  /** Gives a public page that shows one block (Base) or slot (Solana). */
  readonly getBlockUrl: (block: number) => string;
}

/** The two networks of the service (specification, "Authentication" 3). */
export const NETWORKS: Readonly<Record<NetworkKey, Network>> = {
  base: {
    key: 'base',
    id: 'eip155:8453',
    label: 'Base',
    usdc: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    genesis: '0xf712aa9241cc24369b143cf6dce85f0902a9731e70d66818a3a5845b296c73dd',
    getTransactionUrl: (transaction) => `https://basescan.org/tx/${transaction}`,
    getAccountUrl: (account) => `https://basescan.org/address/${account}`,
    getBlockUrl: (block) => `https://basescan.org/block/${block}`,
  },
  solana: {
    key: 'solana',
    id: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    label: 'Solana',
    usdc: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    genesis: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    getTransactionUrl: (transaction) => `https://solscan.io/tx/${transaction}`,
    getAccountUrl: (account) => `https://solscan.io/account/${account}`,
    getBlockUrl: (block) => `https://solscan.io/block/${block}`,
  },
};

/** What a signature over USDC on Base names as its domain (EIP-712): x402 carries it as `extra` of an offer. */
export const BASE_USDC_DOMAIN = { name: 'USD Coin', version: '2' } as const;

/** The contract on Base (Permit2) that moves USDC of the scheme `upto`, once a wallet has allowed it to. */
export const BASE_PERMIT2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3';

/** Finds a network by its key (x402 v1 `base`) or its CAIP-2 identifier (x402 v2 `eip155:8453`). */
export function findNetwork(name: string): Network | undefined {
  return Object.values(NETWORKS).find(({ key, id }) => key === name || id === name);
}

/** Says whether `asset` names USDC on that network. Base addresses are compared without regard to case, mints exactly. */
export function isUsdc(key: NetworkKey, asset: string): boolean {
  const { usdc } = NETWORKS[key];
  return key === 'base' ? asset.toLowerCase() === usdc.toLowerCase() : asset === usdc;
}

/** Says whether a first block is that of the public network, rather than of a local test chain. */
export function isPublicChain(key: NetworkKey, genesis: string): boolean {
  return genesis.startsWith(NETWORKS[key].genesis);
}

/** A network entry as documents carry it (specification, "Network entry"). */
export const networkEntry = z
  .object({
    id: z.string().describe('Chain identifier: eip155:8453 for Base, solana:<chain reference> for Solana'),
    key: networkKey,
    label: z.string().describe('Display name of the network'),
    advertised: z.boolean().describe('Whether the provider currently advertises payment on this network'),
    settlement_verified: z.boolean().describe('Whether a paid test call succeeded on this network'),
    last_verified_at: z.iso
      .datetime()
      .nullable()
      .describe('Time of the last verified payment; null when never verified'),
    last_seen_at: z.iso.datetime().nullable().describe('Time of the latest dated evidence; null while not advertised'),
  })
  .meta({ id: 'NetworkEntry' });
export type NetworkEntry = z.infer<typeof networkEntry>;
