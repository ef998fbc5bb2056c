import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { type BaseChain, type BaseChainOptions, startBaseChain } from './chain-base.ts';
import { type SolanaChain, startSolanaChain } from './chain-solana.ts';
import { type Facilitator, openFacilitator } from './facilitator.ts';
import { openFeed } from './feed.ts';
import { PLANS } from './providers/plans.ts';
import { openProvider, type Provider } from './providers/provider.ts';
import type { ProviderPlan } from './providers/route.ts';
import { openToolDesk, type ToolDesk } from './providers/tool-desk.ts';
import type { SlotOptions } from './solana/slots.ts';

/** A market on loopback: chains, a facilitator and sellers. It uses no other network, and ends with the process. */
export interface Market {
  readonly base: BaseChain;
  /** Solana; undefined if the market was started without it. */
  readonly solana: SolanaChain | undefined;
  readonly facilitator: Facilitator;
  readonly providers: readonly Provider[];
  /** A seller of tools over MCP; undefined if the market was started without it. */
  readonly toolDesk: ToolDesk | undefined;
  /** A Bazaar feed of all that is sold. */
  readonly feedUrl: string;
  stop(): Promise<void>;
}

export interface MarketOptions {
  /** True to start Solana, too. */
  solana?: boolean;
  plans?: readonly ProviderPlan[];
  /** True to open the seller of tools over MCP. */
  tools?: boolean;
  chains?: BaseChainOptions & SlotOptions;
}

/** Starts the market, in about half a second. Stops the parts before one that does not start. */
export async function startMarket({
  solana = true,
  plans = PLANS,
  tools = false,
  chains = {},
}: MarketOptions = {}): Promise<Market> {
  const started: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const end of started.splice(0).reverse()) await end();
  };
  const keep = <Part>(part: Part, end: () => Promise<void>): Part => {
    started.push(end);
    return part;
  };
  try {
    const [base, ledger] = await Promise.all([
      startBaseChain(chains).then((chain) => keep(chain, chain.stop)),
      solana ? startSolanaChain(chains).then((chain) => keep(chain, chain.stop)) : undefined,
    ]);
    const facilitator = await openFacilitator({ base, solana: ledger });
    keep(facilitator, facilitator.close);
    const providers = await Promise.all(
      plans.map(async (plan) => {
        const provider = await openProvider(plan, { facilitator, solana: ledger });
        return keep(provider, provider.close);
      }),
    );
    const payTo = privateKeyToAddress(generatePrivateKey());
    const { url: facilitatorUrl, evmAddress: facilitatorAddress } = facilitator;
    const toolDesk = tools ? await openToolDesk({ facilitatorUrl, facilitatorAddress, payTo }) : undefined;
    if (toolDesk) keep(toolDesk, toolDesk.close);
    const feed = await openFeed(providers, toolDesk?.items);
    keep(feed, feed.close);
    return { base, solana: ledger, facilitator, providers, toolDesk, feedUrl: feed.feedUrl, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Returns the provider with a key. Throws if the market has none. */
export function getProvider({ providers }: Market, key: string): Provider {
  const found = providers.find(({ plan }) => plan.key === key);
  if (found) return found;
  throw new RangeError(`No provider of the market has the key ${key}.`);
}
