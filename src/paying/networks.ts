import type { KeySource, PayerConfig } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { readKeyFile } from '../keys.ts';
import { NETWORKS, type Network, type NetworkKey } from '../model/network.ts';
import type { RpcUrls } from './nodes.ts';
import type { Chain, ChainReader, Rail } from './rail.ts';

// The chain libraries take long to load, so they are imported only when needed.

/**
 * Opens payments on every network of which a node is set, for each family with a key. Throws `bad_input` (`no_node`) for a
 * key with no node of its family, and what reading a key throws.
 */
export async function openRails({ keys, rpcUrls }: PayerConfig): Promise<Rail[]> {
  const rails: Rail[] = [];
  for (const chain of Object.values(NETWORKS)) {
    const source = keys[chain.family];
    const [first, ...others] = rpcUrls[chain.key];
    if (!source) continue;
    if (first === undefined) {
      const family = Object.values(NETWORKS).filter((other) => other.family === chain.family);
      if (family.every((other) => rpcUrls[other.key].length === 0)) throw buildNoNode(chain);
      continue;
    }
    const wallet = { privateKey: readKey(source), rpcUrls: [first, ...others] } as const;
    if (chain.family === 'evm') rails.push((await import('./evm/rail.ts')).openEvmRail(chain, wallet));
    else rails.push(await (await import('./svm/rail.ts')).openSvmRail(chain, wallet));
  }
  return rails;
}

function buildNoNode({ label, nodeSetting }: Network): ServiceError {
  return new ServiceError('bad_input', `The wallet on ${label} has a key, but ${nodeSetting} is not set.`, {
    hint: `${nodeSetting} takes the http(s) address of a node of ${label}.`,
    reason: 'no_node',
  });
}

/** Opens a chain at one node or two, without a wallet. */
export async function openChain(network: NetworkKey, rpcUrls: RpcUrls): Promise<Chain> {
  const chain = NETWORKS[network];
  if (chain.family === 'evm') return (await import('./evm/chain.ts')).openEvmChain(chain, rpcUrls);
  return (await import('./svm/chain.ts')).openSvmChain(chain, rpcUrls);
}

/** Opens one node of a network to check receipts. */
export async function openChainReader(network: NetworkKey, rpcUrl: string): Promise<ChainReader> {
  const chain = NETWORKS[network];
  if (chain.family === 'evm') return (await import('./evm/chain.ts')).openEvmReader(chain, rpcUrl);
  return (await import('./svm/chain.ts')).openSvmReader(chain, rpcUrl);
}

function readKey(source: KeySource): string {
  return 'key' in source ? source.key : readKeyFile(source.file, 'PAYER_EVM_KEY_FILE or PAYER_SOLANA_KEY_FILE');
}
