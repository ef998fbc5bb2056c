import { PROOF_METHOD } from '../evidence/verification.ts';
import { isPublicChain, nameNetworks } from '../model/network.ts';
import { getCountedUntil, isUnconfirmed, type Payment, UNCONFIRMED, UNRECOGNISED } from '../model/payment.ts';
import { isCeiling, type Terms, type TermsDifference } from '../model/terms.ts';
import { formatPaid, formatPrice, formatUsdc } from '../model/usdc.ts';
import type { DisputeReason } from '../paying/rail.ts';
import type { DueResult } from '../paying/verify-due.ts';
import type { VerifyResult } from '../paying/verify-route.ts';
import { formatCount } from '../views/words/figures.ts';
import { formatTime } from './terminal/format.ts';
import type { Page } from './terminal/page.ts';

/** Reasons why nothing is paid, in words. */
const REFUSALS: Readonly<Record<NonNullable<VerifyResult['refused']>, string>> = {
  not_402: 'the route did not answer 402, so there is nothing to pay',
  reads_differently: 'the 402 can be read in two ways, so another reader would pay something else',
  no_offer: `the 402 has no payable offer in USDC on ${nameNetworks()}`,
  not_on_record: 'the offers of the 402 are not on record; probe the listing first',
  terms_differ: 'the 402 differs from the record; look at the difference, and run this again',
  scheme_not_supported:
    'only the scheme exact without Permit2, and upto on EVM, can be paid, without extensions that the offer requires',
  no_wallet: 'no wallet is set for a network that it accepts',
  input_of_others: 'only others than the provider say what to send; give the request yourself with --input',
};

/** Writes the result of a verification. */
export function renderVerification(result: VerifyResult, page: Page): void {
  const { slug, route, request, would_pay, refused, caps, wallets, payment } = result;
  page.title(`${slug}: ${route}`);
  page.facts([
    ['request', `${request.method} ${request.url}`],
    ['unpaid answer', `status ${result.status}`],
    ['asked now', describeOffers(result.asked)],
    ['on record', describeOffers(result.on_record)],
    ...result.differences.map((difference) => ['difference', describeDifference(difference)] as const),
    ...wallets.map(
      ({ network, payer, balance }) => ['wallet', `${payer} on ${network}: ${describeBalance(balance)}`] as const,
    ),
    [
      'caps',
      `${formatUsdc(caps.per_call)} USDC a call, ${formatUsdc(caps.per_day)} a day (${formatUsdc(caps.spent)} used)`,
    ],
  ]);
  for (const earlier of result.reconciled) page.say(`An earlier payment: ${describePayment(earlier)}`);
  page.blank();
  if (refused !== null) page.say(`Nothing is paid: ${REFUSALS[refused]}.`);
  else if (payment) renderPayment(payment, page);
  else if (would_pay) {
    page.say(
      `Would pay ${formatPrice(would_pay.amount, would_pay.is_ceiling)} USDC on ${would_pay.network} to ${would_pay.pay_to}. --pay pays.`,
    );
  }
}

function renderPayment(payment: Payment, page: Page): void {
  const { settlement, answer, seller_receipt: word } = payment;
  page.say(describePayment(payment));
  const facts: (readonly [string, string])[] = [['receipt', payment.id]];
  if (settlement) {
    if (!isPublicChain(payment.network, settlement.genesis)) {
      facts.push(['chain', 'a local test chain with worthless money']);
    }
    facts.push(
      ['transaction', settlement.transaction],
      ['block', `${settlement.block}, ${formatTime(settlement.settled_at)}`],
    );
  }
  if (answer)
    facts.push(['answer', `status ${answer.status}, ${answer.content_type ?? 'no type'}, ${answer.size} bytes`]);
  facts.push(
    ['delivered', payment.delivered === null ? 'not known' : payment.delivered ? 'yes' : 'no'],
    ['conforming', payment.conforming ?? 'not known'],
  );
  const { fields } = answer ?? {};
  if (fields) facts.push(['holds', fields.map(({ path, type }) => `${path}: ${type}`).join(', ')]);
  facts.push([
    'the seller says',
    word ? `${word.success ? 'settled' : 'not settled'}, ${word.transaction ?? 'no transaction'}` : 'nothing',
  ]);
  page.facts(facts, 2);
}

function describeBalance(balance: number | null): string {
  return balance === null ? 'not known, the node cannot be asked' : `${formatUsdc(balance)} USDC`;
}

/** Contradictions between the chain and what was signed, in words. */
const DISPUTES: Readonly<Record<string, string>> = {
  nodes_disagree: 'the nodes say different things',
  no_event: 'the nonce is used, but no transaction shows it',
  no_matching_transfer: 'the chain shows another payee or amount than was signed',
  above_ceiling: 'the chain shows that more was taken than the ceiling that was signed',
} satisfies Record<DisputeReason, string>;

/** Writes the amount of a payment in USDC: the part taken of a ceiling, or `up to …` until that is known. */
export function formatAmount(payment: Payment): string {
  const { state, by_operator, amount } = payment;
  return state === 'settled' && !by_operator ? formatPaid(payment) : formatPrice(amount, isCeiling(payment));
}

/** Describes the result of a payment in one sentence. */
export function describePayment(payment: Payment): string {
  const { id, state, reason, network } = payment;
  const what = `${formatAmount(payment)} USDC on ${network}`;
  if (payment.by_operator) {
    const word = state === 'settled' ? 'settled' : 'did not settle';
    return `${what} ${word}, by decision of the operator alone: ${payment.by_operator.because}`;
  }
  if (state === 'settled') return `${what} settled${describeDelivery(payment)}`;
  if (state === 'not_settled') return `${what} did not settle (${reason}): nothing was spent.`;
  if (isUnconfirmed(payment)) return `${what} is ${reason}: ${describeUnconfirmed(payment)}. Its id is ${id}.`;
  const fault = DISPUTES[reason ?? ''];
  return `${what} is still open (${state}${fault ? `: ${fault}` : ''}); the next run asks the chain again. Its id is ${id}.`;
}

/** Describes why and until when an unconfirmed payment counts as spent. */
export function describeUnconfirmed(payment: Payment): string {
  return `one node alone says that it did not settle, so it counts as spent until a second one does or until ${formatTime(getCountedUntil(payment))}`;
}

function describeDelivery({ delivered, unrecognised }: Payment): string {
  if (delivered) return ', and the product came.';
  if (unrecognised !== null) {
    return `; the answer was not recognised as the product: ${UNRECOGNISED[unrecognised]}. The route stays unverified.`;
  }
  if (delivered === false) return ', but nothing was delivered: the route stays unverified.';
  return '; whether the product came is not known, because no run judged the answer. It counts neither way.';
}

function describeOffers(offers: readonly Terms[]): string {
  const words = offers.map(
    ({ amount, network, pay_to, scheme }) =>
      `${formatPrice(amount, isCeiling({ scheme }))} USDC on ${network}${pay_to ? ` to ${pay_to}` : ''}`,
  );
  return words.join(' or ') || 'nothing';
}

function describeDifference({ kind, fields, before, after }: TermsDifference): string {
  if (kind === 'changed')
    return `${fields.join(', ')}: ${describeOffers(before ? [before] : [])} → ${describeOffers(after ? [after] : [])}`;
  return `${kind}: ${describeOffers([before ?? after].filter((offer) => offer !== null))}`;
}

/** Reasons why a run ended early, or a route was skipped, in words. */
const REASONS: Readonly<Record<string, string>> = {
  interrupted: 'stopped by Ctrl-C',
  cap_per_day: 'the daily cap is reached',
  cap_per_call: 'it costs more than the cap for one call',
  payment_open: 'a payment is still open; the next run asks the chain again',
  [UNCONFIRMED]: 'one node alone says that it did not settle, so that it counts as spent for a day',
  stopped: 'the stop file stops all payments',
  balance: 'the balance of the wallet is too low',
  allowance: 'the wallet does not let Permit2 move as much; verify says how to allow it',
  clock_differs: "our clock and the chain's differ",
  rpc_failed: 'the chain cannot be asked',
  beyond_budget: 'it costs more than is left of the budget',
  under_caution: `the seller has a caution of danger, and was paid within ${PROOF_METHOD.retried_after_days} days`,
  tried_today: 'it was tried within the last day',
  no_price: 'its price is not known on a network with a wallet',
  terms_differ: 'the live 402 differs from the record',
  not_402: 'it did not answer 402',
};

/** Writes the result of a run: a line for each route, and the sum. */
export function renderDue(result: DueResult, page: Page): void {
  const { budget, spent, due, drawable, drawn, left, ended, routes } = result;
  const planned = due + drawn;
  if (due === 0) page.say('No proof is due: every route with an example request has a recent proof.');
  if (planned > 0) renderRoutes(routes, page);
  if (budget === null) {
    const total = routes.filter(({ outcome }) => outcome === 'due').reduce((sum, { amount }) => sum + (amount ?? 0), 0);
    if (due > 0)
      page.say(`${due} routes are due, for ${formatUsdc(total)} USDC. --budget <usdc> pays for as many as it covers.`);
    const share = `Up to ${100 * PROOF_METHOD.drawn_share} % of a budget`;
    if (drawable > 0) page.say(`${share} pays for some of ${formatCount(drawable, 'proven route')}, chosen at random.`);
    return;
  }
  const verified = routes.filter(({ outcome }) => outcome === 'verified').length;
  if (planned > 0) {
    const chosen = drawn > 0 ? `; ${drawn} chosen at random` : '';
    const sums = `${formatUsdc(spent)} of ${formatUsdc(budget)} USDC`;
    page.say(`${verified} of ${planned} routes verified, for ${sums}; ${left} not reached${chosen}.`);
  }
  if (ended !== 'done') page.say(`The run ended early: ${REASONS[ended] ?? ended.replaceAll('_', ' ')}.`);
}

function renderRoutes(routes: DueResult['routes'], page: Page): void {
  page.table(
    [
      { heading: 'outcome' },
      { heading: 'USDC', align: 'right' },
      { heading: 'last proved' },
      { heading: 'route', cut: true },
      { heading: '', cut: true },
    ],
    routes.map(({ slug, route, outcome, reason, amount, last_proved_at, drawn }) => [
      outcome.replaceAll('_', ' '),
      amount === null ? '–' : formatUsdc(amount),
      last_proved_at?.slice(0, 10) ?? 'never',
      `${slug}: ${route}`,
      [drawn ? 'chosen at random' : '', reason === null ? '' : (REASONS[reason] ?? reason.replaceAll('_', ' '))]
        .filter(Boolean)
        .join('; '),
    ]),
  );
  page.blank();
}
