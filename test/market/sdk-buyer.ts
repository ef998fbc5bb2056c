import { x402Client, x402HTTPClient } from '@x402/core/client';
import type { PaymentPayload, PaymentRequired, SettleResponse } from '@x402/core/types';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/client';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { ExactSvmSchemeV1 } from '@x402/svm/exact/v1/client';
import type { Buyer } from '../../scripts/market/buyer.ts';
import type { NetworkKey } from '../../src/model/network.ts';

/** What a purchase by the SDK's client came to. */
export interface Purchase {
  required: PaymentRequired;
  payment: PaymentPayload;
  sentHeaders: Record<string, string>;
  response: Response;
  /** The seller's own account of the settlement; undefined where it gave none. */
  receipt: SettleResponse | undefined;
}

/** Opens the SDK's client with both versions of both networks, paying on the network that is named. */
export function openSdkClient(buyer: Buyer, { network = 'base', solanaRpcUrl }: SdkOptions = {}): x402HTTPClient {
  const rpc = solanaRpcUrl === undefined ? {} : { rpcUrl: solanaRpcUrl };
  const client = new x402Client((_version, offers) => {
    const isWanted = (name: string) => name === network || name.startsWith(network === 'base' ? 'eip155:' : 'solana:');
    const offer = offers.find((candidate) => isWanted(candidate.network));
    if (!offer) throw new Error(`nothing is offered on ${network}`);
    return offer;
  })
    .register('eip155:*', new ExactEvmScheme(buyer.evm))
    .register('solana:*', new ExactSvmScheme(buyer.solana, rpc))
    .registerV1('base', new ExactEvmSchemeV1(buyer.evm))
    .registerV1('solana', new ExactSvmSchemeV1(buyer.solana, rpc));
  return new x402HTTPClient(client);
}

export interface SdkOptions {
  network?: NetworkKey;
  solanaRpcUrl?: string | undefined;
}

/** Buys as the SDK's README has it: asks, signs what is asked, asks again with the payment. */
export async function buy(client: x402HTTPClient, [url, init]: [string, RequestInit]): Promise<Purchase> {
  const challenge = await fetch(url, init);
  const text = await challenge.text();
  const body: unknown = text.startsWith('{') ? JSON.parse(text) : undefined;
  const required = client.getPaymentRequiredResponse((name) => challenge.headers.get(name), body);
  const payment = await client.createPaymentPayload(required);
  const sentHeaders = client.encodePaymentSignatureHeader(payment);
  const response = await fetch(url, { ...init, headers: { ...headersOf(init), ...sentHeaders } });
  return { required, payment, sentHeaders, response, receipt: findReceipt(client, response) };
}

function headersOf({ headers }: RequestInit): Record<string, string> {
  return Object.fromEntries(new Headers(headers));
}

function findReceipt(client: x402HTTPClient, { headers }: Response): SettleResponse | undefined {
  const isThere = headers.has('payment-response') || headers.has('x-payment-response');
  return isThere ? client.getPaymentSettleResponse((name) => headers.get(name)) : undefined;
}
