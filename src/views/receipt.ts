import { z } from 'zod';
import { slug } from '../model/listing.ts';
import { isPublicChain, NETWORKS } from '../model/network.ts';
import { type Correction, correction, type PublicPayment, publicPayment, UNRECOGNISED } from '../model/payment.ts';
import { formatUsdc } from '../model/usdc.ts';
import { buildUrl, PATHS } from './links.ts';
import type { Site } from './site.ts';

/** A bare JSON-RPC call that shows the same without any software of ours, and what to look for in its answer. */
const rpcCall = z.object({
  method: z.string(),
  params: z.array(z.unknown()),
  expect: z.string().describe('What the answer has to hold'),
});

/** The answer of `GET /agent/receipts/{id}`: everything that it takes to check one payment on the chain. */
export const agentReceipt = z
  .object({
    revision: z.int().nonnegative(),
    receipt: publicPayment.extend({
      slug,
      page_url: z.url().describe('Page of the listing'),
      document_url: z.url().describe('Address of this document'),
      receipt_page_url: z.url().describe('The same as a page for people'),
      route: z.string().describe('Method and path of the route that was paid for'),
      network_id: z.string().describe('CAIP-2 identifier'),
      public_chain: z.boolean().describe('False for a local test chain, whose money is worth nothing'),
      amount: z.string().describe('What was paid, in atomic USDC (6 decimals)'),
      amount_usdc: z.string(),
      transaction_url: z.url().nullable().describe('Explorer page; null for a local test chain'),
      seller_agrees: z
        .boolean()
        .nullable()
        .describe("Whether the seller's own receipt names the transaction found; null where it names none"),
      correction: correction
        .nullable()
        .describe("The operator's word that the record is wrong: then it speaks neither for the route nor against it"),
    }),
    check: z.object({
      statement: z.string().describe('What the receipt proves, and what it does not'),
      command: z
        .string()
        .describe(
          'Asks the chain again for everything that the receipt says, and needs nothing of ours but this document; put ' +
            'any node of the network in',
        ),
      json_rpc: z.array(rpcCall).describe('The same with nothing but a node'),
    }),
  })
  .meta({ id: 'AgentReceipt' });
export type AgentReceipt = z.infer<typeof agentReceipt>;

/** Topics of the two events that a payment on Base leaves: the hashes of their signatures (EIP-3009, ERC-20). */
const TOPICS = {
  /** keccak256 of `AuthorizationUsed(address,bytes32)`. */
  authorizationUsed: '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5',
  /** keccak256 of `Transfer(address,address,uint256)`. */
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
} as const;

/** Builds the receipt of a settled payment for one route of a listing. */
export function buildAgentReceipt(
  paid: PublicPayment,
  {
    listing,
    route,
    revision,
    site,
    correction = null,
  }: { listing: string; route: string; revision: number; site: Site; correction?: Correction | null | undefined },
): AgentReceipt {
  const { network, settlement } = paid;
  const isPublic = isPublicChain(network, settlement.genesis);
  const documentUrl = buildUrl(site.baseUrl, PATHS.agentReceipt(paid.id));
  return {
    revision,
    receipt: {
      ...paid,
      slug: listing,
      page_url: buildUrl(site.baseUrl, PATHS.listing(listing)),
      document_url: documentUrl,
      receipt_page_url: buildUrl(site.baseUrl, PATHS.receipt(paid.id)),
      route,
      network_id: NETWORKS[network].id,
      public_chain: isPublic,
      amount: String(paid.amount),
      amount_usdc: formatUsdc(paid.amount),
      transaction_url: isPublic ? NETWORKS[network].getTransactionUrl(settlement.transaction) : null,
      seller_agrees: isSellerInAgreement(paid),
      correction,
    },
    check: {
      statement: buildStatement(paid, { isPublic, correction }),
      command: `npm run catalogue -- receipts check ${documentUrl} --rpc <url>`,
      json_rpc: network === 'base' ? listBaseCalls(paid) : listSolanaCalls(paid),
    },
  };
}

/** Says whether the seller's own receipt names the transaction found on the chain; null where it names none. */
export function isSellerInAgreement({
  seller_receipt: word,
  settlement: { transaction },
}: Pick<PublicPayment, 'seller_receipt' | 'settlement'>): boolean | null {
  return word?.transaction ? word.transaction.toLowerCase() === transaction.toLowerCase() : null;
}

function buildStatement(
  { delivered, unrecognised }: PublicPayment,
  { isPublic, correction }: { isPublic: boolean; correction: Correction | null },
): string {
  const where = isPublic ? 'The chain shows' : 'A local test chain, whose money is worth nothing, shows';
  const corrected = correction
    ? ` The operator corrected this record: it speaks neither for the route nor against it. The reason: ${correction.because}`
    : '';
  return `${where} that this wallet paid this amount to this payee, once. ${describeDelivery(delivered, unrecognised)}${corrected}`;
}

function describeDelivery(delivered: boolean | null, unrecognised: PublicPayment['unrecognised']): string {
  if (delivered) {
    return 'That the product came back is our own word: size and hash of the answer are given, and the call can be repeated.';
  }
  if (delivered === null) return 'Whether a product came back is not known, so the route is not verified by it.';
  return unrecognised === null
    ? 'Nothing was delivered, by our own word, so the route is not verified by it.'
    : `The answer was not recognised as the product, by our own word (${UNRECOGNISED[unrecognised]}), so the route is not verified by it.`;
}

function listBaseCalls({ payer, pay_to, amount, nonce, settlement }: PublicPayment): AgentReceipt['check']['json_rpc'] {
  const { usdc } = NETWORKS.base;
  const block = `0x${settlement.block.toString(16)}`;
  const pad = (address: string) => `0x${address.toLowerCase().replace(/^0x/, '').padStart(64, '0')}`;
  return [
    {
      method: 'eth_getLogs',
      params: [
        { address: usdc, fromBlock: block, toBlock: block, topics: [TOPICS.authorizationUsed, pad(payer), nonce] },
      ],
      expect: `one log, of the transaction ${settlement.transaction}: our authorisation was used there`,
    },
    {
      method: 'eth_getLogs',
      params: [{ address: usdc, fromBlock: block, toBlock: block, topics: [TOPICS.transfer, pad(payer), pad(pay_to)] }],
      expect: `a log of the same transaction with the data 0x${amount.toString(16).padStart(64, '0')}: ${formatUsdc(amount)} USDC`,
    },
  ];
}

function listSolanaCalls({
  payer,
  pay_to,
  amount,
  signature,
  settlement,
}: PublicPayment): AgentReceipt['check']['json_rpc'] {
  return [
    {
      method: 'getTransaction',
      params: [
        settlement.transaction,
        { commitment: 'finalized', encoding: 'jsonParsed', maxSupportedTransactionVersion: 0 },
      ],
      expect:
        `no error, ${signature} among the signatures, and in the token balances of ${NETWORKS.solana.usdc} ` +
        `${amount} less for ${payer} and as much more for ${pay_to}`,
    },
  ];
}
