import type { KeySource, PayerConfig } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { NETWORKS, type NetworkKey } from '../model/network.ts';
import { readKeyFile } from './key-file.ts';
import type { RpcUrls } from './nodes.ts';
import type { Chain, ChainReader, Rail } from './rail.ts';

// The chain libraries take long to load, so they are imported only when needed.

/**
 * Opens payments on every network with a key. Throws `bad_input` (`no_node`) for a key without a node, and what reading
 * a key throws.
 */
export async function openRails({ evmKey, solanaKey, rpcUrls }: PayerConfig): Promise<Rail[]> {
  const rails: Rail[] = [];
  if (evmKey) {
    const { openBaseRail } = await import('./base/rail.ts');
    rails.push(openBaseRail({ rpcUrls: getUrls('base', rpcUrls.base), privateKey: readKey(evmKey) }));
  }
  if (solanaKey) {
    const { openSolanaRail } = await import('./solana/rail.ts');
    rails.push(await openSolanaRail({ rpcUrls: getUrls('solana', rpcUrls.solana), privateKey: readKey(solanaKey) }));
  }
  return rails;
}

function getUrls(network: NetworkKey, [first, ...others]: readonly string[]): RpcUrls {
  if (first !== undefined) return [first, ...others];
  const { label } = NETWORKS[network];
  const setting = network === 'base' ? 'EVM_RPC_URL' : 'SOLANA_RPC_URL';
  throw new ServiceError('bad_input', `The wallet on ${label} has a key, but ${setting} is not set.`, {
    hint: `${setting} takes the http(s) address of a node of ${label}.`,
    reason: 'no_node',
  });
}

/** Opens a chain at one node or two, without a wallet. */
export async function openChain(network: NetworkKey, rpcUrls: RpcUrls): Promise<Chain> {
  if (network === 'base') return (await import('./base/chain.ts')).openBaseChain(rpcUrls);
  return (await import('./solana/chain.ts')).openSolanaChain(rpcUrls);
}

/** Opens one node of a network to check receipts. */
export async function openChainReader(network: NetworkKey, rpcUrl: string): Promise<ChainReader> {
  if (network === 'base') return (await import('./base/chain.ts')).openBaseReader(rpcUrl);
  return (await import('./solana/chain.ts')).openSolanaReader(rpcUrl);
}

function readKey(source: KeySource): string {
  return 'key' in source ? source.key : readKeyFile(source.file);
}
