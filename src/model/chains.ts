/** The kind of a chain, which decides how it names accounts, signs payments and counts blocks: Ethereum's or Solana's. */
export type Family = 'evm' | 'svm';

interface AnyChain {
  /** Its name in x402 version 1, and in our documents. */
  readonly key: string;
  /** CAIP-2 chain identifier. */
  readonly id: string;
  readonly label: string;
  /** Other spellings that providers use, in lower case and without spaces, hyphens, colons and underscores. */
  readonly aliases: readonly string[];
  /** True if its name is also an ordinary word, so that a request with it need not mean the chain. */
  readonly isWord: boolean;
  /** The USDC contract or mint, as the chain spells it. */
  readonly usdc: string;
  /** Digits after the decimal point of that token. All amounts of the service are in millionths. */
  readonly decimals: 6;
  /** Hash of the first block, or the start of it. It tells the public chain from a local one with the same id. */
  readonly genesis: string;
  /** The setting that names a node of the chain; with `_SECOND` appended, that of a second node. */
  readonly nodeSetting: string;
  /** Returns the address of a public page that shows one transaction. */
  readonly getTransactionUrl: (transaction: string) => string;
  /** Returns the address of a public page that shows one account. */
  readonly getAccountUrl: (account: string) => string;
  /** Returns the address of a public page that shows one block or slot. */
  readonly getBlockUrl: (block: number) => string;
}

/** A chain with Ethereum's kind of contracts. */
export interface EvmChain extends AnyChain {
  readonly family: 'evm';
  /**
   * The EIP-712 domain of the token, as its contract states it. A signature is valid only for this domain, so it is never taken
   * from an offer, which has one in `extra`.
   */
  readonly domain: { readonly name: string; readonly version: string };
  /** Blocks from the one with a payment, itself included, after which the payment counts as confirmed. */
  readonly confirmations: number;
  /** The coin that pays for transactions. */
  readonly coin: string;
}

/** A chain that runs Solana's programs. */
export interface SvmChain extends AnyChain {
  readonly family: 'svm';
}

type Chain = EvmChain | SvmChain;

/**
 * The chains that payments are listed, checked and made on (specification, "Authentication" 3), the preferred one first. No rule
 * outside this table names a chain, only texts do; one more entry adds one more chain.
 */
const TABLE = {
  base: {
    key: 'base',
    family: 'evm',
    id: 'eip155:8453',
    label: 'Base',
    aliases: ['basemainnet', '8453'],
    isWord: true,
    usdc: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    decimals: 6,
    domain: { name: 'USD Coin', version: '2' },
    genesis: '0xf712aa9241cc24369b143cf6dce85f0902a9731e70d66818a3a5845b296c73dd',
    confirmations: 10,
    coin: 'ETH',
    nodeSetting: 'EVM_RPC_URL',
    getTransactionUrl: (transaction) => `https://basescan.org/tx/${transaction}`,
    getAccountUrl: (account) => `https://basescan.org/address/${account}`,
    getBlockUrl: (block) => `https://basescan.org/block/${block}`,
  },
  solana: {
    key: 'solana',
    family: 'svm',
    id: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    label: 'Solana',
    aliases: ['sol', 'solanamainnet', 'solanamainnetbeta'],
    isWord: false,
    usdc: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    decimals: 6,
    genesis: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    nodeSetting: 'SOLANA_RPC_URL',
    getTransactionUrl: (transaction) => `https://solscan.io/tx/${transaction}`,
    getAccountUrl: (account) => `https://solscan.io/account/${account}`,
    getBlockUrl: (block) => `https://solscan.io/block/${block}`,
  },
} as const satisfies Readonly<Record<string, Chain>>;

export type NetworkKey = keyof typeof TABLE;

/** The chains by their key. */
export const NETWORKS: {
  readonly [Key in NetworkKey]: Extract<Chain, { family: (typeof TABLE)[Key]['family'] }> & {
    readonly key: Key;
    readonly nodeSetting: (typeof TABLE)[Key]['nodeSetting'];
  };
} = TABLE;
