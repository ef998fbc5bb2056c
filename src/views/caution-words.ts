import { CAUTIONS, type Caution } from '../model/caution.ts';
import { UNRECOGNISED } from '../model/delivery.ts';
import type { CautionSummary } from '../model/listing.ts';
import { formatUsdc } from '../model/usdc.ts';
import { formatOutcome } from './outcome-words.ts';
import { formatDay, formatSecond } from './times.ts';

/** Says what a caution means and since when it holds: `We paid for a call, and nothing was delivered (since 2026-11-20).` */
export function describeCaution({ code, since }: Pick<Caution, 'code' | 'since'>): string {
  const sentence = CAUTIONS[code].sentence.slice(0, -1);
  const day = since === null ? '' : formatDay(since);
  if (code === 'never_seen') return `${sentence} (${day === '' ? 'declared without a date' : `declared ${day}`}).`;
  return day === '' ? `${sentence}.` : `${sentence} (since ${day}).`;
}

/** Says what a caution of a listing means, and of which routes it holds: `GET /tides: We paid for a call, …`. */
export function describeCautionSummary(summary: Pick<CautionSummary, 'code' | 'since' | 'route' | 'routes'>): string {
  const { route, routes } = summary;
  const subject = route ?? (routes > 1 ? `${routes} routes` : null);
  return `${subject === null ? '' : `${subject}: `}${describeCaution(summary)}`;
}

/** Says what a caution rests on, in one line. Addresses in it are a seller's. */
export function describeCautionEvidence({ code, since, evidence }: Caution): string {
  const { network, amount, amount_before, pay_to, pay_to_before, receipt_id, public_chain, reason } = evidence;
  const on = network ? ` on ${network}` : '';
  switch (code) {
    case 'undelivered':
    case 'unrecognised': {
      const chain = public_chain === false ? ` on a local test chain for ${network}` : on;
      const why = reason ? `; ${UNRECOGNISED[reason]}` : '';
      return `${formatUsdc(amount ?? 0)} USDC paid${chain}, receipt ${receipt_id}${why}; since ${formatTime(since)}`;
    }
    case 'payee_differs':
      return `asks to pay ${pay_to}${on} since ${formatTime(since)}, before ${pay_to_before}`;
    case 'price_above_record':
      return `asks ${formatUsdc(amount ?? 0)} USDC${on} since ${formatTime(since)}, before ${formatUsdc(amount_before ?? 0)}`;
    case 'imitates_name':
      return `${evidence.known_listing} at ${evidence.known_host} goes by the same name`;
    case 'withdrawn':
      return `withdrawn ${formatTime(since)}`;
    case 'probes_failing': {
      const saw = evidence.outcome ? `, the latest: ${formatOutcome(evidence.outcome, null)}` : '';
      const last = evidence.valid_at ? `last valid 402 ${formatTime(evidence.valid_at)}` : 'no valid 402 on record';
      return `${evidence.failures ?? 0} failures in a row since ${formatTime(since)}${saw}; ${last}`;
    }
    case 'never_seen':
      return since === null ? 'declared without a date' : `last declared ${formatTime(since)}`;
    case 'payee_rotates':
      return since === null ? 'seen in challenges' : `seen in challenges since ${formatTime(since)}`;
  }
}

function formatTime(time: string | null): string {
  return time === null ? 'an unknown time' : formatSecond(time);
}
