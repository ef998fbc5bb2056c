import { NETWORKS } from '../../../model/network.ts';
import { type AgentReceipt, buildAgentReceipt } from '../../agent-receipt.ts';
import type { Site } from '../../site.ts';
import { EXAMPLE_PAYEE, EXAMPLE_ROUTE_ID, EXAMPLE_SEEN, EXAMPLE_SLUG } from './catalogue.ts';

export const EXAMPLE_RECEIPT_ID = '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01';

const HASH = 'ab'.repeat(32);

/** A payment for the invented route, as it would be on record had it been made. */
export function buildReceiptExample(site: Site): AgentReceipt {
  const example = buildAgentReceipt(
    {
      id: EXAMPLE_RECEIPT_ID,
      route_id: EXAMPLE_ROUTE_ID,
      network: 'base',
      scheme: 'exact',
      x402_version: 2,
      asset: NETWORKS.base.usdc,
      amount: 1000,
      payer: '0x2222222222222222222222222222222222222222',
      pay_to: EXAMPLE_PAYEE,
      nonce: `0x${HASH}`,
      signature: null,
      from_block: 41_000_000,
      expires_at: EXAMPLE_SEEN,
      expires_block: null,
      delivered: true,
      unrecognised: null,
      conforming: 'undeclared',
      request: {
        method: 'GET',
        url: 'https://api.prices.example/v1/price/x',
        headers: { accept: 'application/json' },
        body: null,
        hash: HASH,
      },
      answer: {
        at: EXAMPLE_SEEN,
        duration_ms: 240,
        status: 200,
        content_type: 'application/json',
        size: 42,
        hash: HASH,
        fields: [{ path: 'price', type: 'number' }],
      },
      seller_receipt: null,
      settlement: {
        transaction: `0x${HASH}`,
        block: 41_000_001,
        block_hash: `0x${HASH}`,
        log_index: 7,
        settled_at: EXAMPLE_SEEN,
        genesis: NETWORKS.base.genesis,
        read_from: 2,
      },
      sent_at: EXAMPLE_SEEN,
    },
    { listing: EXAMPLE_SLUG, route: 'GET /v1/price/{symbol}', revision: 42, site },
  );
  // No document of ours links to nothing: there is no such listing and no such transaction.
  const { receipt, check } = example;
  const nowhere = 'https://catalogue.invalid';
  const links = {
    page_url: `${nowhere}/api/${EXAMPLE_SLUG}`,
    document_url: `${nowhere}/agent/receipts/${EXAMPLE_RECEIPT_ID}`,
    receipt_page_url: `${nowhere}/receipts/${EXAMPLE_RECEIPT_ID}`,
    transaction_url: null,
  };
  const command = check.command.replace(receipt.document_url, links.document_url);
  return { ...example, receipt: { ...receipt, ...links }, check: { ...check, command } };
}
