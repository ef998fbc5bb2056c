import type { Payment } from '../model/payment.ts';
import type { Chain } from './rail.ts';

/** One thing that a receipt says, and what the chain says of it. */
export interface ReceiptCheck {
  what: string;
  passed: boolean;
  found: string;
}

const WORDS = { not_settled: 'not settled', disputed: 'something else' };

/** Asks the chain for all that a receipt says of a payment. Throws `unavailable` where it cannot be asked. */
export async function checkReceipt(chain: Chain, receipt: Payment): Promise<ReceiptCheck[]> {
  const finding = await chain.findSettlement(receipt);
  if (finding.state !== 'settled') {
    const found = finding.state === 'open' ? 'nothing, so far' : `${WORDS[finding.state]}: ${finding.reason}`;
    const isAsRecorded = receipt.state === 'not_settled' && finding.state === 'not_settled';
    return [
      { what: `${receipt.amount} atomic USDC from ${receipt.payer} to ${receipt.pay_to}`, passed: isAsRecorded, found },
    ];
  }
  const { settlement } = finding;
  const recorded = receipt.settlement;
  const compare = (what: string, said: unknown, found: unknown): ReceiptCheck => ({
    what: `${what} ${said ?? 'not recorded'}`,
    passed: said === found,
    found: String(found),
  });
  return [
    { what: `paid with the nonce ${receipt.nonce}`, passed: true, found: 'the one payment that carries it' },
    {
      what: `${receipt.amount} atomic USDC from ${receipt.payer} to ${receipt.pay_to}`,
      passed: true,
      found: 'just that transfer',
    },
    compare('transaction', recorded?.transaction, settlement.transaction),
    compare('block', recorded?.block, settlement.block),
    compare('block hash', recorded?.block_hash, settlement.block_hash),
    ...(settlement.log_index === null ? [] : [compare('log index', recorded?.log_index, settlement.log_index)]),
    compare('time', recorded?.settled_at, settlement.settled_at),
    compare('first block', recorded?.genesis, settlement.genesis),
  ];
}
