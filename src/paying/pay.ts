import { randomUUID } from 'node:crypto';
import type { Ledger } from '../catalogue/write/payments.ts';
import { ServiceError } from '../errors.ts';
import type { FetchResponse, GuardedClient } from '../fetching/client.ts';
import type { Payment, PaymentAnswer, PaymentCaps, PreparedPayment } from '../model/payment.ts';
import { isCeiling } from '../model/terms.ts';
import { formatUsdc } from '../model/usdc.ts';
import type { Requirement } from '../x402/requirements.ts';
import { fetchCall } from './fetch-call.ts';
import { judgeAnswer } from './judging.ts';
import { addJudgement, buildPaidRequest, buildPaymentAnswer, type Call, NO_ANSWER } from './paid-call.ts';
import type { DeclaredProduct } from './product.ts';
import type { Rail } from './rail.ts';
import { type PayEvent, resolvePayment } from './reconcile.ts';

export interface PayOptions {
  client: GuardedClient;
  rail: Rail;
  ledger: Ledger;
  caps: PaymentCaps;
  route_id: string;
  call: Call;
  requirement: Requirement;
  /** The product as the catalogue describes it. */
  declared: DeclaredProduct;
  /** The product as the provider itself declares it, one entry for each document. */
  own: readonly DeclaredProduct[];
  /** False if a call that is not delivered proves nothing, because others than the provider stated its input; default: true. */
  countsAgainst?: boolean | undefined;
  /** Returns the operator's reason for stopping all payments; null if they are not stopped. Called right before signing. */
  findStop: () => string | null;
  now: () => Date;
  /** Ends waiting for the chain, but never a request that may carry a payment. */
  signal: AbortSignal;
  /** Time to ask the chain, in milliseconds. Default: three minutes. */
  patienceMs?: number | undefined;
  onEvent?: ((event: PayEvent) => void) | undefined;
}

/**
 * Pays for one real call and reads the result from the chain. The payment is on disk, within the caps, before anything is signed.
 * After that, any failure, even a crash, leaves a state that reconciling resolves by the nonce. Returns the payment in its final
 * state: settled, not settled, or still open if `signal` or the time limit ended the wait. Throws `refused` (`cap_per_call`,
 * `cap_per_day`, `stopped`, `balance`, `own_payee`, and the reasons of the rail), `conflict` (`payment_open`), and `unavailable`
 * if the chain cannot be asked; nothing was sent then.
 */
export async function payForCall(options: PayOptions): Promise<Payment> {
  const { rail, ledger, caps, now, requirement, onEvent } = options;
  const prepared = await preparePayment(options);
  await ledger.prepare(prepared, caps);
  onEvent?.({ type: 'prepared', payment: prepared });
  const { id } = prepared;
  const drop = (reason: string) =>
    ledger.record(id, { step: 'resolved', resolution: { state: 'not_settled', reason } }, now().toISOString());
  const stop = options.findStop();
  if (stop !== null) {
    await drop('stopped');
    throw new ServiceError('refused', `Payments are stopped: ${stop}.`, {
      hint: 'To pay again, remove the file that PAYER_STOP_FILE names; its folder must exist and be readable.',
      reason: 'stopped',
    });
  }
  const { payload, signature } = await rail.sign(prepared, requirement).catch(async (error: unknown) => {
    await drop('not_signed');
    throw new ServiceError('refused', 'The offer cannot be signed.', {
      hint: 'Nothing was sent. No valid payment can be made from what the seller asks for.',
      reason: 'not_signed',
      cause: error,
    });
  });
  await ledger.record(id, { step: 'sent', signature }, now().toISOString());
  onEvent?.({ type: 'sent' });
  await sendPayment(options, id, payload);
  return resolvePayment(id, options);
}

async function preparePayment({ rail, route_id, requirement, call, now }: PayOptions): Promise<PreparedPayment> {
  const { terms } = requirement;
  const { network, scheme, asset, amount, pay_to, x402_version } = terms;
  if (pay_to === null) throw new Error('an offer of a challenge names its payee');
  if (pay_to === rail.payer) {
    throw new ServiceError('refused', `The offer is to be paid to ${pay_to}, which is the paying wallet itself.`, {
      hint: 'Such a payment would prove nothing.',
      reason: 'own_payee',
    });
  }
  const balance = await rail.chain.getBalance(rail.payer);
  if (balance < amount) {
    const has = `The wallet ${rail.payer} holds ${formatUsdc(balance)} USDC on ${network}`;
    throw new ServiceError(
      'refused',
      `${has}; the call ${isCeiling(terms) ? 'may cost' : 'costs'} ${formatUsdc(amount)}.`,
      {
        hint: 'Send it some USDC.',
        reason: 'balance',
      },
    );
  }
  const identity = await rail.identify(requirement, now());
  return {
    id: randomUUID(),
    route_id,
    network,
    scheme,
    asset,
    amount,
    pay_to,
    x402_version,
    ...(isCeiling(terms) && { ceiling: amount }),
    payer: rail.payer,
    ...identity,
    request: buildPaidRequest(call),
    prepared_at: now().toISOString(),
  };
}

/** Sends a payment and records the answer: first as received, then with its judgement. */
async function sendPayment(
  { client, call, requirement, declared, own, countsAgainst = true, ledger, now, onEvent }: PayOptions,
  id: string,
  payload: Record<string, unknown>,
): Promise<void> {
  const started = performance.now();
  // A payment settles without a receipt if it is not known what was delivered.
  const weigh = (answer: PaymentAnswer): PaymentAnswer =>
    countsAgainst || answer.delivered !== false
      ? answer
      : { ...answer, delivered: null, unrecognised: null, conforming: null };
  let response: FetchResponse;
  try {
    response = await fetchCall(client, call, { payment: { requirement, payload } });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    onEvent?.({ type: 'unanswered', reason: error.reason });
    const resolution = { state: 'not_settled' as const, reason: `not_sent_${error.reason}` };
    const isSent = error.details?.sent !== false;
    await ledger.record(
      id,
      isSent ? { step: 'answered', answer: weigh(NO_ANSWER) } : { step: 'resolved', resolution },
      now().toISOString(),
    );
    return;
  }
  const at = now();
  const first = buildPaymentAnswer(response, { at, durationMs: performance.now() - started });
  let answer = weigh(first);
  await ledger.record(id, { step: 'answered', answer }, at.toISOString());
  if (first.delivered === null) {
    const content_type = response.headers.get('content-type');
    const judgement = await judgeAnswer({ content_type, body: response.body, declared, own });
    if (judgement) {
      answer = weigh(addJudgement(answer, judgement));
      await ledger.record(id, { step: 'judged', answer }, now().toISOString());
    }
  }
  onEvent?.({ type: 'answered', answer });
}
