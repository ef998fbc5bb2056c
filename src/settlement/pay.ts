import { randomUUID } from 'node:crypto';
import { ServiceError } from '../errors.ts';
import type { GuardedClient } from '../fetching/client.ts';
import type { FetchResponse } from '../fetching/following.ts';
import type { Payment, PaymentAnswer, PaymentCaps, PreparedPayment } from '../model/payment.ts';
import { formatUsdc } from '../model/usdc.ts';
import type { Requirement } from '../x402/requirements.ts';
import { judgeAnswer } from './judging.ts';
import type { Ledger } from './ledger.ts';
import { addJudgement, buildPaidRequest, buildPaymentAnswer, type Call, NO_ANSWER } from './paid-call.ts';
import { buildPaymentHeader } from './payment-header.ts';
import type { DeclaredProduct } from './product.ts';
import { fetchPaid } from './quote.ts';
import type { Rail } from './rail.ts';
import { resolvePayment } from './reconcile.ts';

/** What happens while a payment is made, in its order. */
export type PayEvent =
  | { type: 'prepared'; payment: PreparedPayment }
  | { type: 'sent' }
  | { type: 'answered'; answer: PaymentAnswer }
  /** No answer came, or none that could be taken; the reason is that of the fetch. */
  | { type: 'unanswered'; reason: string }
  | { type: 'waiting'; until: string };

export interface PayOptions {
  client: GuardedClient;
  rail: Rail;
  ledger: Ledger;
  caps: PaymentCaps;
  route_id: string;
  call: Call;
  requirement: Requirement;
  /** What the catalogue shows of the route's product. */
  declared: DeclaredProduct;
  /** What the provider itself declares of it, one entry a document. */
  own: readonly DeclaredProduct[];
  /** Says whether the operator has stopped all paying; asked right before signing. */
  isStopped: () => boolean;
  now: () => Date;
  /** Stops the waiting for the chain, and never a request that may carry a payment. */
  signal: AbortSignal;
  /** For how long the chain is asked, in place of the usual three minutes; milliseconds. */
  patienceMs?: number | undefined;
  onEvent?: ((event: PayEvent) => void) | undefined;
}

/**
 * Pays for one real call and finds out from the chain what became of it. Before anything is signed the attempt is on
 * disk, within the caps; from then on whatever happens, a crash included, leaves a state that reconciling resolves by
 * the nonce. Gives the payment as it stands in the end: settled, not settled, or still open when `signal` or patience
 * ends the wait. Throws `refused` (`cap_per_call`, `cap_per_day`, `stopped`, `balance`, `own_payee`), `conflict` (`payment_open`), and
 * `unavailable` while the chain cannot be asked; then nothing was sent.
 */
export async function payForCall(options: PayOptions): Promise<Payment> {
  const { rail, ledger, caps, now, requirement, onEvent } = options;
  const prepared = await preparePayment(options);
  ledger.prepare(prepared, caps);
  onEvent?.({ type: 'prepared', payment: prepared });
  const { id } = prepared;
  if (options.isStopped()) {
    ledger.resolve(id, { state: 'not_settled', reason: 'stopped' }, now().toISOString());
    throw new ServiceError('refused', 'Paying is stopped: the stop file is there.', {
      hint: 'Remove the file that PAYER_STOP_FILE names to pay again.',
      reason: 'stopped',
    });
  }
  const { payload, signature } = await rail.sign(prepared, requirement);
  ledger.markSent(id, now().toISOString(), signature);
  onEvent?.({ type: 'sent' });
  await sendPayment(options, id, buildPaymentHeader(requirement, payload));
  return resolvePayment(id, options);
}

async function preparePayment({ rail, route_id, requirement, call, now }: PayOptions): Promise<PreparedPayment> {
  const { terms } = requirement;
  const { network, scheme, asset, amount, pay_to, x402_version } = terms;
  if (pay_to === null) throw new Error('an offer of a challenge names its payee');
  if (pay_to === rail.payer) {
    throw new ServiceError('refused', `The offer has ${pay_to} paid, which is the paying wallet itself.`, {
      hint: 'Such a payment would prove nothing.',
      reason: 'own_payee',
    });
  }
  const balance = await rail.chain.getBalance(rail.payer);
  if (balance < amount) {
    const has = `The wallet ${rail.payer} holds ${formatUsdc(balance)} USDC on ${network}`;
    throw new ServiceError('refused', `${has}; the call costs ${formatUsdc(amount)}.`, {
      hint: 'Send it some USDC.',
      reason: 'balance',
    });
  }
  const identity = await rail.identify(requirement, now());
  return {
    id: randomUUID(),
    route_id,
    ...{ network, scheme, asset, amount, pay_to, x402_version },
    payer: rail.payer,
    ...identity,
    request: buildPaidRequest(call),
    prepared_at: now().toISOString(),
  };
}

/** Sends a payment and writes down what came back: at once as it is, then with what it is taken for. */
async function sendPayment(
  { client, call, declared, own, ledger, now, onEvent }: PayOptions,
  id: string,
  paymentHeaders: Record<string, string>,
): Promise<void> {
  const started = performance.now();
  let response: FetchResponse;
  try {
    response = await fetchPaid(client, call, paymentHeaders);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    onEvent?.({ type: 'unanswered', reason: error.reason });
    if (error.details?.sent !== false) ledger.recordAnswer(id, NO_ANSWER);
    else ledger.resolve(id, { state: 'not_settled', reason: `not_sent_${error.reason}` }, now().toISOString());
    return;
  }
  let answer = buildPaymentAnswer(response, { at: now(), durationMs: performance.now() - started });
  ledger.recordAnswer(id, answer);
  if (answer.delivered === null) {
    const content_type = response.headers.get('content-type');
    const judgement = await judgeAnswer({ content_type, body: response.body, declared, own });
    if (judgement) {
      answer = addJudgement(answer, judgement);
      ledger.recordAnswer(id, answer);
    }
  }
  onEvent?.({ type: 'answered', answer });
}
