import type { KeySource, PayerConfig } from '../config.ts';
import { openBaseRail } from '../settlement/base/rail.ts';
import { readKeyFile } from '../settlement/key-file.ts';
import type { Rail } from '../settlement/rail.ts';
import { openSolanaRail } from '../settlement/solana/rail.ts';

/** Opens paying on every network that there is both a key and a node for. Throws what reading a key throws. */
export async function openRails({ evmKey, solanaKey, evmRpcUrls, solanaRpcUrl }: PayerConfig): Promise<Rail[]> {
  const rails: Rail[] = [];
  const [first, ...others] = evmRpcUrls;
  if (evmKey && first !== undefined) {
    rails.push(openBaseRail({ privateKey: readKey(evmKey), rpcUrls: [first, ...others] }));
  }
  if (solanaKey && solanaRpcUrl !== null) {
    rails.push(await openSolanaRail({ privateKey: readKey(solanaKey), rpcUrl: solanaRpcUrl }));
  }
  return rails;
}

function readKey(source: KeySource): string {
  return 'key' in source ? source.key : readKeyFile(source.file);
}
