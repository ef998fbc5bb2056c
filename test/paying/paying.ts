import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  type ExactEIP3009Payload,
  type UptoPermit2Payload,
  x402UptoPermit2ProxyABI,
  x402UptoPermit2ProxyAddress,
} from '@x402/evm';
import { type Hex, toHex } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { onTestFinished } from 'vitest';
import type { BaseChain } from '../../scripts/market/chain-base.ts';
import { openServer } from '../../scripts/market/loopback.ts';
import { TOKEN_ABI, TOKEN_ADDRESS } from '../../scripts/market/token/token.ts';
import { findListing } from '../../src/catalogue/read/listings.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { openLedger } from '../../src/catalogue/write/payments.ts';
import { openGuardedClient } from '../../src/fetching/client.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { NETWORKS } from '../../src/model/network.ts';
import type { Payment, PaymentCaps } from '../../src/model/payment.ts';
import { buildToolCall } from '../../src/model/request.ts';
import { getToolName, isToolPath } from '../../src/model/route.ts';
import type { Terms } from '../../src/model/terms.ts';
import { openEvmRail } from '../../src/paying/evm/rail.ts';
import { openJournal } from '../../src/paying/journal.ts';
import { payForCall } from '../../src/paying/pay.ts';
import { fetchQuote } from '../../src/paying/quote.ts';
import type { ChainReader, Rail } from '../../src/paying/rail.ts';
import { checkReceipt, type ReceiptCheck } from '../../src/paying/receipt-check.ts';
import type { PayEvent } from '../../src/paying/reconcile.ts';
import { buildAgentReceipt } from '../../src/views/receipt.ts';
import { IDENTITY, makeDeclaration, makeFolder, makeRoute, makeTerms, NOW } from '../builders.ts';
import { openNewCatalogue } from '../new-catalogue.ts';
import { SITE } from '../site.ts';
import { recordDeclaration } from '../written.ts';

export const CAPS: PaymentCaps = { per_call: 10_000, per_day: 100_000 };
export const PAY_TO = '0x00000000000000000000000000000000000000ee';

/** Takes what is to be done at the end: of the test, or of the file where tests share what they open. */
export type AtEnd = (work: () => Promise<void>) => void;

/** How a seller handles a request with a payment. */
export type Sale<Transaction extends string> = (context: {
  request: IncomingMessage;
  response: ServerResponse;
  /** Settles the payment on the chain and returns the transaction. Of a ceiling it takes the given amount, or all. */
  settle: (taken?: bigint) => Promise<Transaction>;
}) => Promise<void> | void;

/** Opens an account that sends settlements to the chain itself, without a facilitator. */
async function openRelay(chain: BaseChain) {
  const address = toHex(randomBytes(20));
  await chain.fundGas(address);
  /** Settles the `payload` of a payment, and returns once that is in a block: whoever is delivered to may look at once. */
  const settle = ({ authorization: a, permit2Authorization: permit, signature }: Payload, taken?: bigint) =>
    chain.sendInBlock(
      address,
      permit
        ? buildPermitCall(permit, signature, taken)
        : {
            address: chain.network.usdc as Hex,
            abi: TOKEN_ABI,
            functionName: 'transferWithAuthorization',
            args: [a.from, a.to, BigInt(a.value), BigInt(a.validAfter), BigInt(a.validBefore), a.nonce, signature],
          },
    );
  return { address, settle };
}

interface Payload {
  signature: `0x${string}`;
  authorization: ExactEIP3009Payload['authorization'];
  permit2Authorization?: UptoPermit2Payload['permit2Authorization'];
}

/** A seller that settles without a facilitator, so that each way to cheat needs only a few lines. */
export async function serveSeller(
  chain: BaseChain,
  sale: Sale<`0x${string}`>,
  version: 1 | 2 = 2,
  offer: Record<string, unknown> = {},
  more: Record<string, unknown> = {},
  atEnd: AtEnd = onTestFinished,
): Promise<string> {
  const relay = await openRelay(chain);
  const { id, key, usdc: asset, domain } = chain.network;
  const network = version === 2 ? id : key;
  const accepts = [
    {
      scheme: 'exact',
      network,
      asset,
      payTo: PAY_TO,
      maxTimeoutSeconds: 60,
      extra: offer.scheme === 'upto' ? { facilitatorAddress: relay.address } : domain,
      ...(version === 2
        ? { amount: '1000' }
        : { maxAmountRequired: '1000', resource: 'http://127.0.0.1/v1/quote', description: '', mimeType: '' }),
      ...offer,
    },
  ];
  const challenge = { x402Version: version, accepts, resource: { url: 'http://127.0.0.1/v1/quote' }, ...more };
  const server = createServer((request, response) => {
    const header = request.headers['payment-signature'] ?? request.headers['x-payment'];
    if (!/^\/v1\/(quote|price)/.test(request.url ?? '')) {
      // A seller that answers 402 to everything would count as a wildcard host.
      response.writeHead(404).end();
      return;
    }
    if (header === undefined) {
      response.statusCode = 402;
      if (version === 2) response.setHeader('payment-required', btoa(JSON.stringify(challenge)));
      response.setHeader('content-type', 'application/json');
      response.end(version === 1 ? JSON.stringify(challenge) : '{}');
      return;
    }
    const { payload } = JSON.parse(Buffer.from(String(header), 'base64').toString());
    const settle = (taken?: bigint) => relay.settle(payload, taken);
    // A seller whose settlement fails delivers nothing.
    Promise.resolve(sale({ request, response, settle })).catch(() => {
      response.statusCode = 500;
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(async () => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const NEED_OF_TOOL = {
  scheme: 'exact',
  network: 'eip155:8453',
  asset: TOKEN_ADDRESS,
  payTo: PAY_TO,
  amount: '1000',
  maxTimeoutSeconds: 60,
  extra: { name: 'USD Coin', version: '2' },
};

/** How an MCP server answers a tool call with a payment, and the session before it. */
export interface ToolSale {
  /** Settles, or not, and returns the whole answer. */
  sell: (settle: () => Promise<`0x${string}`>) => Promise<Response>;
  /** Answers `initialize`, of which there is one before each call. Default: it opens a session. */
  open?: (count: number) => Response | undefined;
}

/** An MCP server with the paid tool `/mcp#quote`. */
export async function serveTool(
  chain: BaseChain,
  { sell, open }: ToolSale,
  atEnd: AtEnd = onTestFinished,
): Promise<string> {
  const relay = await openRelay(chain);
  let opened = 0;
  const server = await openServer(async (request) => {
    const { id, method, params } = await request.json();
    if (method === 'initialize') {
      opened += 1;
      return open?.(opened) ?? Response.json({ jsonrpc: '2.0', id, result: { protocolVersion: '2025-11-25' } });
    }
    if (method !== 'tools/call') return new Response(null, { status: 202 });
    const payment = params._meta?.['x402/payment'];
    if (payment) return sell(() => relay.settle(payment.payload));
    const asked = { x402Version: 2, resource: { url: 'mcp://tool/quote' }, accepts: [NEED_OF_TOOL] };
    return Response.json({ jsonrpc: '2.0', id, result: { isError: true, structuredContent: asked } });
  });
  atEnd(server.close);
  return server.url;
}

/** Builds the call that settles a permit, as the SDK's facilitator makes it. */
function buildPermitCall(permit: UptoPermit2Payload['permit2Authorization'], signature: `0x${string}`, taken?: bigint) {
  const { permitted, nonce, deadline, from, witness } = permit;
  const ceiling = BigInt(permitted.amount);
  return {
    address: x402UptoPermit2ProxyAddress,
    abi: x402UptoPermit2ProxyABI,
    functionName: 'settle',
    args: [
      { permitted: { ...permitted, amount: ceiling }, nonce: BigInt(nonce), deadline: BigInt(deadline) },
      taken ?? ceiling,
      from,
      { ...witness, validAfter: BigInt(witness.validAfter) },
      signature,
    ],
  } as const;
}

/** Answers with a product, and with the receipt header if a transaction is given. */
export function deliver(response: ServerResponse, transaction?: string): void {
  response.setHeader('content-type', 'application/json');
  if (transaction) {
    const receipt = { success: true, transaction, network: 'eip155:8453' };
    response.setHeader('payment-response', btoa(JSON.stringify(receipt)));
  }
  response.end('{"quote":42}');
}

/** The product, if it is not a quote. */
interface SoldRoute {
  path?: string;
  query?: string;
  output_schema?: JsonObject;
}

/** A wallet on Base with 1 USDC at two nodes, a catalogue with the seller's route, and a function that pays for it. */
export async function openPaying(
  chain: BaseChain,
  baseUrl: string,
  terms = makeTerms({ pay_to: PAY_TO }),
  rail: Rail = openEvmRail(NETWORKS.base, { privateKey: generatePrivateKey(), rpcUrls: [chain.rpcUrl, chain.rpcUrl] }),
) {
  await chain.fund(rail.payer, 1_000_000n);
  return openPayingWith(rail, baseUrl, terms);
}

/** The records of a wallet's payments. */
export type Books = Awaited<ReturnType<typeof openBooks>>;

/** Opens the records of a wallet's payments. */
export async function openBooks(atEnd: AtEnd = onTestFinished) {
  const folder = makeFolder(atEnd);
  const catalogue = await openNewCatalogue(join(folder, 'catalogue.sqlite'), { identity: IDENTITY, at: NOW });
  const journal = openJournal(join(folder, 'wallet.jsonl'));
  atEnd(async () => {
    journal.close();
    await catalogue.close();
  });
  return { catalogue, journal, ledger: openLedger(catalogue, journal.append) };
}

/**
 * A catalogue with the seller's route and a function that pays for it; or the seller beside others, with the given
 * records.
 */
export async function openPayingWith(
  rail: Rail,
  baseUrl: string,
  terms: Terms,
  { path = '/v1/quote', query = '', output_schema = { type: 'object' } }: SoldRoute = {},
  { slug = 'example-prices', books }: { slug?: string; books?: Books } = {},
) {
  const { catalogue, journal, ledger } = books ?? (await openBooks());
  await writeCatalogue(catalogue, new Date().toISOString(), async (writing) => {
    const method = isToolPath(path) ? 'POST' : 'GET';
    const example = query === '' ? null : { query: Object.fromEntries(new URLSearchParams(query)) };
    const routes = [makeRoute({ method, path, terms: [terms], example })];
    await recordDeclaration(writing, makeDeclaration({ slug, base_url: baseUrl, routes }));
  });
  const client = openGuardedClient({ allowPrivateNetworks: true, userAgent: 'test' });
  onTestFinished(() => client.close());
  const getRoute = async () => {
    const route = (await findListing(catalogue, { slug }))?.routes[0];
    if (!route) throw new Error('no route');
    return route;
  };
  const isTool = isToolPath(path);
  const call = {
    method: isTool ? ('POST' as const) : ('GET' as const),
    url: new URL(`${path}${query}`, baseUrl),
    headers: {},
    body: isTool ? buildToolCall(getToolName(path), {}) : undefined,
  };
  const signal = AbortSignal.timeout(60_000);
  const networks = [rail.network];
  const quote = () => fetchQuote({ client, call, known: [terms], payeeRotates: false, networks, signal });
  const events: PayEvent['type'][] = [];
  const pay = async (overrides: Partial<Parameters<typeof payForCall>[0]> = {}) => {
    const { chosen, refused } = await quote();
    if (!chosen) throw Object.assign(new Error(`refused: ${refused}`), { code: 'refused', reason: refused });
    return payForCall({
      ...{ client, rail, ledger, call, signal, caps: CAPS, requirement: chosen },
      route_id: (await getRoute()).id,
      declared: { mime_type: null, output_schema },
      own: [{ mime_type: null, output_schema }],
      findStop: () => null,
      now: () => new Date(),
      onEvent: ({ type }) => events.push(type),
      ...overrides,
    });
  };
  return { catalogue, rail, journal, ledger, client, call, quote, pay, getRoute, events };
}

/** Checks the receipt of a settled payment with one node. */
export async function checkPayment(reader: ChainReader, payment: Payment): Promise<ReceiptCheck[]> {
  const { settlement, request } = payment;
  if (!settlement) throw new Error('the payment did not settle');
  const route = `${request.method} ${new URL(request.url).pathname}`;
  const { receipt } = buildAgentReceipt(
    { ...payment, settlement },
    { listing: 'example-prices', route, revision: 0, site: SITE },
  );
  return checkReceipt(receipt, [{ name: 'the node', reader }]);
}
