import { expect, it } from 'vitest';
import { NETWORKS } from '../../src/model/network.ts';
import type { SettledPayment } from '../../src/views/agent-receipt.ts';
import { buildReceiptView } from '../../src/views/pages/receipt-view.ts';
import { SITE } from '../live/serving.ts';
import { makeTerms, NOW } from '../records.ts';

const PAID: SettledPayment = {
  id: '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01',
  route_id: '6a4bdc0c-5b5f-5d3e-9a44-0f3f6f1c2d31',
  ...{ network: 'base', scheme: 'exact', x402_version: 2, asset: NETWORKS.base.usdc, amount: 1000 },
  payer: '0x2222222222222222222222222222222222222222',
  pay_to: makeTerms().pay_to ?? '',
  nonce: `0x${'7'.repeat(64)}`,
  ...{ signature: null, from_block: 1, expires_at: NOW, expires_block: null, state: 'settled', reason: null },
  ...{ delivered: true, unrecognised: null, conforming: 'yes' },
  request: { method: 'GET', url: "https://api.example.com/a?b='c'", headers: {}, body: null, hash: 'a'.repeat(64) },
  answer: {
    at: NOW,
    duration_ms: 5,
    status: 200,
    content_type: 'text/plain',
    size: 3,
    hash: 'b'.repeat(64),
    fields: null,
  },
  seller_receipt: { success: true, transaction: `0x${'f'.repeat(64)}`, network: null, payer: null, error: null },
  settlement: {
    transaction: `0x${'e'.repeat(64)}`,
    ...{ block: 255, block_hash: `0x${'d'.repeat(64)}`, log_index: 3, settled_at: NOW, read_from: 1 },
    genesis: NETWORKS.base.genesis,
  },
  ...{ prepared_at: NOW, sent_at: NOW, resolved_at: NOW },
};
const VIEW = { slug: 'example', route: 'GET /a', site: SITE };

it('shows what a receipt says, and how to check it with and without our software', () => {
  const view = buildReceiptView(PAID, VIEW);
  const facts = Object.fromEntries(view.facts);
  expect(facts).toMatchObject({
    'Paid by': PAID.payer,
    Transaction: PAID.settlement.transaction,
    Block: expect.stringContaining('255, '),
    'Log index': '3',
    'Answer, SHA-256': 'b'.repeat(64),
    "Seller's own receipt": 'names another transaction',
  });
  expect(view.command).toBe(`npm run catalogue -- receipts check ${PAID.id} --rpc <url>`);
  expect(view.calls).toHaveLength(2);
  for (const { code } of view.calls) {
    const [, json = ''] = /-d '([^']*)'$/.exec(code) ?? [];
    expect(JSON.parse(json)).toMatchObject({ method: 'eth_getLogs', params: [{ fromBlock: '0xff', toBlock: '0xff' }] });
  }
  expect(view.statement).toContain('The chain shows that this wallet paid');
});

it('says of a local test chain that its money is worth nothing, and of a failed call that it brought nothing', () => {
  const local = { ...PAID.settlement, genesis: `0x${'1'.repeat(64)}` };
  const view = buildReceiptView({ ...PAID, settlement: local, delivered: false, answer: null }, VIEW);
  expect(view.statement).toContain('A local test chain, whose money is worth nothing');
  expect(view.statement).toContain('No product came back');
  expect(view.facts.map(([label]) => label)).not.toContain('Answer');
});
