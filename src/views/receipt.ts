import { z } from 'zod';
import { slug } from '../model/listing.ts';
import { isEvm, isPublicChain, NETWORKS, PERMIT2 } from '../model/network.ts';
import { type Correction, correction, type PublicPayment, publicPayment, UNRECOGNISED } from '../model/payment.ts';
import { formatUsdc } from '../model/usdc.ts';
import { buildUrl, PATHS } from './links.ts';
import type { Site } from './site.ts';

/** A plain JSON-RPC call that shows the same without our software, and the text that its answer must contain. */
const rpcCall = z.object({
  method: z.string(),
  params: z.array(z.unknown()),
  expect: z.string().describe('What the answer has to hold'),
});

/** The answer of `GET /agent/receipts/{id}`: everything that is needed to check one payment on the chain. */
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
      ceiling: z
        .string()
        .optional()
        .describe(
          'Scheme upto: the most that the seller might take, as signed, in atomic USDC; absent where exactly the amount was signed',
        ),
      ceiling_usdc: z.string().optional(),
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

/** Topics of the two events of a payment on EVM: the hashes of their signatures (EIP-3009, ERC-20). */
const TOPICS = {
  /** keccak256 of `AuthorizationUsed(address,bytes32)`. */
  authorizationUsed: '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5',
  /** keccak256 of `Transfer(address,address,uint256)`. */
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
} as const;

/** First four bytes of a call of Permit2's `nonceBitmap(address,uint256)`. */
const NONCE_BITMAP = '0x4fe02b44';

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
  const { ceiling, ...given } = paid;
  const { network, settlement } = paid;
  const isPublic = isPublicChain(network, settlement.genesis);
  const documentUrl = buildUrl(site.baseUrl, PATHS.agentReceipt(paid.id));
  return {
    revision,
    receipt: {
      ...given,
      slug: listing,
      page_url: buildUrl(site.baseUrl, PATHS.listing(listing)),
      document_url: documentUrl,
      receipt_page_url: buildUrl(site.baseUrl, PATHS.receipt(paid.id)),
      route,
      network_id: NETWORKS[network].id,
      public_chain: isPublic,
      amount: String(paid.amount),
      amount_usdc: formatUsdc(paid.amount),
      ...(ceiling !== undefined && { ceiling: String(ceiling), ceiling_usdc: formatUsdc(ceiling) }),
      transaction_url: isPublic ? NETWORKS[network].getTransactionUrl(settlement.transaction) : null,
      seller_agrees: isSellerInAgreement(paid),
      correction,
    },
    check: {
      statement: buildStatement(paid, { isPublic, correction }),
      command: `npm run catalogue -- receipts check ${documentUrl} --rpc <url>`,
      json_rpc: isEvm(network) ? listEvmCalls(paid) : listSvmCalls(paid),
    },
  };
}

/** Returns true if the seller's own receipt names the transaction found on the chain; null if it names none. */
function isSellerInAgreement({
  seller_receipt: word,
  settlement: { transaction },
}: Pick<PublicPayment, 'seller_receipt' | 'settlement'>): boolean | null {
  return word?.transaction ? word.transaction.toLowerCase() === transaction.toLowerCase() : null;
}

function buildStatement(
  paid: PublicPayment,
  { isPublic, correction }: { isPublic: boolean; correction: Correction | null },
): string {
  const where = isPublic ? 'The chain shows' : 'A local test chain, whose money is worth nothing, shows';
  const corrected = correction
    ? ` The operator corrected this record: it speaks neither for the route nor against it. The reason: ${correction.because}`
    : '';
  const signed =
    paid.ceiling === undefined ? '' : ' It had signed for at most the ceiling, and the seller took this of it.';
  return `${where} that this wallet paid this amount to this payee, once.${signed} ${describeDelivery(paid).statement}${corrected}`;
}

const NOT_VERIFIED = 'The payment settled, so the seller has the money. This receipt does not verify the route.';

/**
 * Puts the delivery of a paid call into words. `outcome` names the result, and `note` says what it means for seller and route.
 * `statement` is the sentence of the statement that says whose word it is, and `unproved` the same as a point of what no chain
 * shows.
 */
export function describeDelivery({ delivered, unrecognised, answer }: PublicPayment) {
  if (delivered) {
    return {
      outcome: 'Delivered',
      note: 'The payment settled, and the product came back.',
      statement:
        'That the product came back is our own word: size and hash of the answer are given, and the call can be repeated.',
      unproved:
        'That the product came back: that is our own word. Size and hash of the answer are given, and the call can be repeated.',
    };
  }
  if (delivered === null) {
    return {
      outcome: 'Not known whether it was delivered: the answer was not judged',
      note: NOT_VERIFIED,
      statement: 'Whether a product came back is not known, so the route is not verified by it.',
      unproved: 'Whether a product came back: that is not known.',
    };
  }
  if (unrecognised !== null) {
    const reason = UNRECOGNISED[unrecognised];
    return {
      outcome: `Answered, product not recognised: ${reason}`,
      note: NOT_VERIFIED,
      statement: `The answer was not recognised as the product, by our own word (${reason}), so the route is not verified by it.`,
      unproved: 'That the answer was not the product: that is our own word.',
    };
  }
  return {
    outcome: `Not delivered: ${describeFailure(answer)}`,
    note: NOT_VERIFIED,
    statement: 'Nothing was delivered, by our own word, so the route is not verified by it.',
    unproved: 'That nothing was delivered: that is our own word.',
  };
}

function describeFailure(answer: PublicPayment['answer']): string {
  if (!answer) return 'no answer came';
  const isGood = answer.status >= 200 && answer.status < 300;
  return `the answer was ${isGood ? 'empty' : `status ${answer.status}`}`;
}

function listEvmCalls(paid: PublicPayment): AgentReceipt['check']['json_rpc'] {
  const { network, payer, pay_to, amount, ceiling, nonce, settlement } = paid;
  const { usdc } = NETWORKS[network];
  const block = `0x${settlement.block.toString(16)}`;
  const range = { address: usdc, fromBlock: block, toBlock: block };
  const isUsed =
    ceiling === undefined
      ? [
          {
            method: 'eth_getLogs',
            params: [{ ...range, topics: [TOPICS.authorizationUsed, `0x${toWord(payer)}`, nonce] }],
            expect: `one log, of the transaction ${settlement.transaction}: our authorisation was used there`,
          },
        ]
      : listPermitCalls({ payer, ceiling, nonce, settlement });
  return [
    ...isUsed,
    {
      method: 'eth_getLogs',
      params: [{ ...range, topics: [TOPICS.transfer, `0x${toWord(payer)}`, `0x${toWord(pay_to)}`] }],
      expect: `a log of the ${ceiling === undefined ? 'same transaction' : `transaction ${settlement.transaction}`} with the data 0x${toWord(amount)}: ${formatUsdc(amount)} USDC`,
    },
  ];
}

/** Lists the calls that show that a permit was used, and its signed content. */
function listPermitCalls({
  payer,
  ceiling,
  nonce,
  settlement,
}: Pick<PublicPayment, 'payer' | 'nonce' | 'settlement'> & { ceiling: number }): AgentReceipt['check']['json_rpc'] {
  const data = `${NONCE_BITMAP}${toWord(payer)}${toWord(BigInt(nonce) >> 8n)}`;
  return [
    {
      method: 'eth_call',
      params: [{ to: PERMIT2, data }, 'latest'],
      expect: `a number whose bit ${BigInt(nonce) & 255n} is 1, the lowest being bit 0: our permit was used`,
    },
    {
      method: 'eth_getTransactionByHash',
      params: [settlement.transaction],
      expect: `an input that holds ${toWord(ceiling)}${toWord(nonce)}: our permit, for at most ${formatUsdc(ceiling)} USDC`,
    },
  ];
}

/** Writes an address, a nonce in hexadecimal or a number as 32 bytes in hexadecimal, without 0x. */
function toWord(value: string | number | bigint): string {
  const hex = typeof value === 'string' ? value.toLowerCase().replace(/^0x/, '') : value.toString(16);
  return hex.padStart(64, '0');
}

function listSvmCalls({
  network,
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
        `no error, ${signature} among the signatures, and in the token balances of ${NETWORKS[network].usdc} ` +
        `${amount} less for ${payer} and as much more for ${pay_to}`,
    },
  ];
}
