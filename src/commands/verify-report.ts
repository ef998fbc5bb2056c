import { isPublicChain } from '../model/network.ts';
import { type Payment, UNRECOGNISED } from '../model/payment.ts';
import { isCeiling, type Terms, type TermsDifference } from '../model/terms.ts';
import { formatPrice, formatUsdc } from '../model/usdc.ts';
import { formatTime } from './terminal/format.ts';
import type { Page } from './terminal/page.ts';
import type { VerifyResult } from './verify-route.ts';

/** Texts for why nothing is paid. */
const REFUSALS: Readonly<Record<NonNullable<VerifyResult['refused']>, string>> = {
  not_402: 'the route did not answer 402, so there is nothing to pay',
  no_offer: 'the 402 has no payable offer in USDC on Base or Solana',
  not_on_record: 'the offers of the 402 are not on record; probe the listing first',
  terms_differ: 'the 402 differs from the record; look at the difference, and run this again',
  scheme_not_supported:
    'only the scheme exact can be paid, without Permit2 and without extensions that the offer requires',
  no_wallet: 'no wallet is set for a network that it accepts',
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
      `Would pay ${formatUsdc(would_pay.amount)} USDC on ${would_pay.network} to ${would_pay.pay_to}. --pay pays.`,
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

/** Describes the result of a payment in one sentence. */
export function describePayment(payment: Payment): string {
  const { id, state, reason, amount, network } = payment;
  const what = `${formatUsdc(amount)} USDC on ${network}`;
  if (payment.by_operator) {
    const word = state === 'settled' ? 'settled' : 'did not settle';
    return `${what} ${word}, by decision of the operator alone: ${payment.by_operator.because}`;
  }
  if (state === 'settled') return `${what} settled${describeDelivery(payment)}`;
  if (state === 'not_settled') return `${what} did not settle (${reason}): nothing was spent.`;
  return `${what} is still open (${state}); the next run asks the chain again. Its id is ${id}.`;
}

function describeDelivery({ delivered, unrecognised }: Payment): string {
  if (delivered) return ', and the product came.';
  if (unrecognised !== null) {
    return `; the answer was not recognised as the product: ${UNRECOGNISED[unrecognised]}. The route stays unverified.`;
  }
  if (delivered === false) return ', but no product came: the route stays unverified.';
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
