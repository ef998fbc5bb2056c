import { randomBytes } from 'node:crypto';
import { ServiceError } from '../errors.ts';
import type { GuardedClient } from '../fetching/client.ts';
import { isObject } from '../model/json.ts';
import type { Signer } from './signing.ts';

/** Limits of one request to a webhook. Of its answer only a challenge needs more than the status. */
const LIMITS = Object.freeze({ totalMs: 5_000, bodyBytes: 4096, decodedBytes: 4096 });

/** Failures of our own, which say nothing about the webhook. */
const OWN_FAILURES = new Set(['aborted', 'closed', 'held_up']);

/** An event as it is sent. */
export interface WebhookEvent {
  readonly id: string;
  readonly type: string;
  /** Time of what it tells, ISO 8601 UTC. */
  readonly timestamp: string;
  readonly data: object;
}

export interface Sending {
  readonly client: Pick<GuardedClient, 'fetch'>;
  readonly signer: Signer;
  readonly now: () => Date;
  readonly signal: AbortSignal;
}

/**
 * Posts an event, signed. Returns why it was not taken, as a code such as `status_500` or `timeout`; null if it was, by a
 * status from 200 to 299. Undefined if the failure is our own. Redirects are not followed.
 */
export async function postEvent(
  webhook: string,
  { id, ...body }: WebhookEvent,
  sending: Sending,
): Promise<string | null | undefined> {
  return (await post(webhook, id, body, sending)).failure;
}

/** Posts a challenge. Returns as `postEvent` does; `not_echoed` if the answer does not repeat the random value. */
export async function postChallenge(webhook: string, sending: Sending): Promise<string | null | undefined> {
  const challenge = randomBytes(24).toString('base64url');
  const event = { type: 'challenge', timestamp: sending.now().toISOString(), data: { challenge } };
  const { failure, answer = '' } = await post(webhook, `challenge_${randomBytes(16).toString('hex')}`, event, sending);
  if (failure !== null) return failure;
  return answer.trim() === challenge || isEcho(answer, challenge) ? null : 'not_echoed';
}

/** Returns whether an answer is a JSON object that has the value as `challenge`. */
function isEcho(answer: string, challenge: string): boolean {
  try {
    const json: unknown = JSON.parse(answer);
    return isObject(json) && json.challenge === challenge;
  } catch {
    return false;
  }
}

async function post(
  webhook: string,
  id: string,
  event: object,
  { client, signer, now, signal }: Sending,
): Promise<{ failure: string | null | undefined; answer?: string }> {
  const body = JSON.stringify(event);
  const timestamp = Math.floor(now().getTime() / 1000);
  const headers = {
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signer.sign(id, timestamp, body),
  };
  const init = {
    method: 'POST',
    headers,
    body,
    redirect: 'manual',
    isCutAllowed: true,
    limits: LIMITS,
    signal,
  } as const;
  try {
    const answer = await client.fetch(webhook, init);
    const isTaken = answer.status >= 200 && answer.status <= 299;
    return { failure: isTaken ? null : `status_${answer.status}`, answer: Buffer.from(answer.body).toString() };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { failure: OWN_FAILURES.has(error.reason) ? undefined : error.reason };
  }
}
