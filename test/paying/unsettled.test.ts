import { expect, it } from 'vitest';
import type { Payment } from '../../src/model/payment.ts';
import type { Chain, ChainFinding } from '../../src/paying/rail.ts';
import { checkUnsettled } from '../../src/paying/receipt-check.ts';

const PAYMENT = {
  amount: 1000,
  payer: '0xpayer',
  pay_to: '0xpayee',
  state: 'not_settled',
  reason: 'expired',
} as Payment;

it.each<[Partial<ChainFinding>, boolean, string]>([
  [{ state: 'not_settled', reason: 'expired' }, true, 'not settled: expired'],
  [{ state: 'open' }, false, 'nothing, so far'],
])('of a payment recorded as not settled, a chain that says %j is told as it is', async (finding, passed, found) => {
  const chain = { findSettlement: async () => finding } as unknown as Chain;
  expect(await checkUnsettled(chain, PAYMENT)).toMatchObject([
    { field: 'state', what: '1000 atomic USDC from 0xpayer to 0xpayee', passed, found },
  ]);
});
