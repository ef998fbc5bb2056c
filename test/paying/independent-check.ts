import { checkOnBase } from './independent-base.ts';
import { checkOnSolana } from './independent-solana.ts';

/**
 * The fields of a receipt document that are checked here. They are declared again, so that nothing is shared with the
 * code that wrote it.
 */
export interface ReceiptDocument {
  receipt: {
    network: string;
    network_id: string;
    asset: string;
    amount: string;
    amount_usdc: string;
    payer: string;
    pay_to: string;
    nonce: string;
    signature: string | null;
    expires_at: string;
    sent_at: string | null;
    public_chain: boolean;
    transaction_url: string | null;
    request: { method: string; url: string; body: string | null; hash: string };
    settlement: {
      transaction: string;
      block: number;
      block_hash: string;
      log_index: number | null;
      settled_at: string;
      genesis: string;
    };
  };
  check: { json_rpc: { method: string; params: unknown[]; expect: string }[] };
}

/** Asks a node; throws its error if it refuses. */
export type Asking = <Answer>(method: string, params: unknown[]) => Promise<Answer>;

/** Opens plain JSON-RPC on a node. */
export function openAsking(rpcUrl: string): Asking {
  return async <Answer>(method: string, params: unknown[]): Promise<Answer> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const response = await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    const answer = await response.json();
    if (answer.error) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result;
  };
}

/**
 * Checks a receipt like anybody with the document and a node, and without our code: bytes are decoded by hand. Returns
 * the wrong claims of the document; empty if all are true.
 */
export async function listFalsehoods(document: ReceiptDocument, rpcUrl: string): Promise<string[]> {
  const { receipt } = document;
  const ask = openAsking(rpcUrl);
  const claims = receipt.network === 'base' ? await checkOnBase(receipt, ask) : await checkOnSolana(receipt, ask);
  const atomic = receipt.amount.padStart(7, '0');
  const usdc = `${atomic.slice(0, -6)}.${atomic.slice(-6)}`.replace(/0+$/, '').replace(/\.$/, '');
  return Object.entries({ ...claims, amount_usdc: receipt.amount_usdc === usdc })
    .filter(([, isSo]) => !isSo)
    .map(([claim]) => claim);
}
