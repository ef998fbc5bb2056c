import { z } from 'zod';
import { ServiceError } from '../../errors.ts';
import { NETWORKS } from '../../model/network.ts';
import { findReceipt } from '../../published/receipts.ts';
import { PATHS } from '../../views/links.ts';
import { EXAMPLE_PAYEE, EXAMPLE_ROUTE_ID, EXAMPLE_SEEN, EXAMPLE_SLUG, NOWHERE } from '../../views/openapi/example.ts';
import { type AgentReceipt, agentReceipt, buildAgentReceipt } from '../../views/receipt.ts';
import type { Site } from '../../views/site.ts';
import { buildDocument } from '../document.ts';
import { defineRead, NO_QUERY } from './define.ts';

const EXAMPLE_ID = '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01';
const HASH = 'ab'.repeat(32);

/** A settled payment, with everything that is needed to check it on the chain. */
export const receiptEndpoint = defineRead({
  id: 'getReceipt',
  path: PATHS.agentReceipt('{id}'),
  summary: 'One paid call, with everything that it takes to check it on the chain',
  description: 'The transaction, and bare calls to any node of the network that show the same without this service.',
  params: {
    id: z.uuid().meta({ description: "Id of the receipt: a verified route's proof.receipt_id", example: EXAMPLE_ID }),
  },
  query: NO_QUERY,
  answer: { description: 'The receipt', schema: agentReceipt, example: buildReceiptExample },
  failures: ['NotFound'],
  build: (_, { reading: { published, site }, snapshot: { revision }, params: { id = '' } }) => {
    const receipt = findReceipt(published, id.toLowerCase());
    if (!receipt) {
      throw new ServiceError('not_found', 'There is no receipt with this id.', {
        hint: `The routes at ${PATHS.agentListing('{slug}')} name theirs as proof.receipt_id.`,
      });
    }
    const { payment, slug: listing, method, path, correction } = receipt;
    const route = `${method} ${path}`;
    const text = JSON.stringify(buildAgentReceipt(payment, { listing, route, revision, site, correction }));
    return buildDocument(text, { incidental: `"revision":${revision}`, revision });
  },
});

/** Builds an example: the receipt of a payment for the invented route. */
function buildReceiptExample(site: Site): AgentReceipt {
  const example = buildAgentReceipt(
    {
      id: EXAMPLE_ID,
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
    { listing: EXAMPLE_SLUG, route: 'GET /v1/price/{symbol}', revision: 42, site: { ...site, baseUrl: NOWHERE } },
  );
  // There is no such transaction.
  return { ...example, receipt: { ...example.receipt, transaction_url: null } };
}
