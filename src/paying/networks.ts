import type { KeySource, PayerConfig } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { NETWORKS, type NetworkKey } from '../model/network.ts';
import { readKeyFile } from './key-file.ts';
import type { Chain, ChainReader, Rail } from './rail.ts';

// The chain libraries take long to load, so they are imported only when needed.

/**
 * Opens payments on every network with a key. Throws `bad_input` (`no_node`) for a key without a node, and what reading
 * a key throws.
 */
export async function openRails({ evmKey, solanaKey, evmRpcUrls, solanaRpcUrl }: PayerConfig): Promise<Rail[]> {
  const rails: Rail[] = [];
  const [first, ...others] = evmRpcUrls;
  if (evmKey) {
    if (first === undefined) throw buildNodeFailure('base', 'EVM_RPC_URL');
    const { openBaseRail } = await import('./base/rail.ts');
    rails.push(openBaseRail({ privateKey: readKey(evmKey), rpcUrls: [first, ...others] }));
  }
  if (solanaKey) {
    if (solanaRpcUrl === null) throw buildNodeFailure('solana', 'SOLANA_RPC_URL');
    const { openSolanaRail } = await import('./solana/rail.ts');
    rails.push(await openSolanaRail({ privateKey: readKey(solanaKey), rpcUrl: solanaRpcUrl }));
  }
  return rails;
}

function buildNodeFailure(network: NetworkKey, setting: string): ServiceError {
  const { label } = NETWORKS[network];
  return new ServiceError('bad_input', `The wallet on ${label} has a key, but ${setting} is not set.`, {
    hint: `${setting} takes the http(s) address of a node of ${label}.`,
    reason: 'no_node',
  });
}

/** Opens a chain at one node, without a wallet. */
export async function openChain(network: NetworkKey, rpcUrl: string): Promise<Chain> {
  if (network === 'base') return (await import('./base/chain.ts')).openBaseChain([rpcUrl]);
  return (await import('./solana/chain.ts')).openSolanaChain(rpcUrl);
}

/** Opens one node of a network to check receipts. */
export async function openChainReader(network: NetworkKey, rpcUrl: string): Promise<ChainReader> {
  if (network === 'base') return (await import('./base/chain.ts')).openBaseReader(rpcUrl);
  return (await import('./solana/chain.ts')).openSolanaReader(rpcUrl);
}

function readKey(source: KeySource): string {
  return 'key' in source ? source.key : readKeyFile(source.file);
}
