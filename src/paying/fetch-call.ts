import type { FetchResponse, GuardedClient } from '../fetching/client.ts';
import { fetchToolCall } from '../fetching/tool-call.ts';
import { isToolPath } from '../model/route.ts';
import type { Requirement } from '../x402/requirements.ts';
import { addToolPayment, readToolAnswer } from '../x402/tool-answer.ts';
import type { Call } from './paid-call.ts';
import { buildPaymentHeader, buildPaymentPayload, encode } from './payment-header.ts';

/** Limits of one request of a verification: time, and size of the product. */
const CALL_LIMITS = { totalMs: 60_000, bodyBytes: 5 * 1024 * 1024, decodedBytes: 20 * 1024 * 1024 };

/** An offer, and what is signed to pay it. */
interface SignedPayment {
  readonly requirement: Requirement;
  readonly payload: Record<string, unknown>;
}

/**
 * Makes the request of a call, with or without a payment. A redirect is returned as the answer, because a payment is for the
 * address on record. Throws what the guarded client throws.
 */
export async function fetchCall(
  client: GuardedClient,
  call: Call,
  { payment, signal }: { payment?: SignedPayment; signal?: AbortSignal },
): Promise<FetchResponse> {
  const { method, url, headers, body } = call;
  if (isToolPath(url.hash)) return fetchFromTool(client, call, { payment, signal });
  const all = { ...headers, ...(payment && buildPaymentHeader(payment.requirement, payment.payload)) };
  return client.fetch(url, { method, headers: all, body, redirect: 'manual', signal, limits: CALL_LIMITS });
}

/**
 * Calls the tool of an MCP server, with or without a payment, and returns its answer in the form of a route's: a request for
 * payment as 402, otherwise the tool's result as the body, which is empty if there was no answer. The seller's statement of the
 * settlement is in the header `payment-response`.
 */
async function fetchFromTool(
  client: GuardedClient,
  { url, headers, body = '' }: Call,
  { payment, signal }: { payment: SignedPayment | undefined; signal: AbortSignal | undefined },
): Promise<FetchResponse> {
  const { response, message } = await fetchToolCall(client, {
    url,
    headers,
    limits: CALL_LIMITS,
    signal,
    message: payment ? addToolPayment(body, buildPaymentPayload(payment.requirement, payment.payload)) : body,
    isPaying: payment !== undefined,
  });
  const answer = readToolAnswer(message);
  if (answer.kind === 'no_rpc') return isGood(response) ? { ...response, body: new Uint8Array() } : response;
  const text = answer.kind === 'challenge' ? JSON.stringify(answer.challenge) : answer.text;
  const said = answer.kind === 'challenge' ? undefined : answer.receipt;
  return {
    ...response,
    status: answer.kind === 'challenge' ? 402 : response.status,
    headers: new Headers({
      'content-type': /^\s*[[{]/.test(text) ? 'application/json' : 'text/plain',
      ...(said !== undefined && { 'payment-response': encode(said) }),
    }),
    body: new TextEncoder().encode(text),
  };
}

function isGood({ status }: FetchResponse): boolean {
  return status >= 200 && status < 300;
}
