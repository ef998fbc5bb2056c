import type { PayeeKind } from '../model/route.ts';
import type { Terms } from '../model/terms.ts';

/** Valid answers in a row that must name one payee before a rotating one is taken for fixed: three days of samples. */
export const FIXED_AFTER = 12;

/** Valid answers in a row, each with a payee of its own, that make a payee rotating without a second challenge. */
export const ROTATING_AFTER = 3;

/**
 * Gives whether a route names one payee or a fresh one in each challenge. A second challenge within one probe decides
 * (`rotates`); else the offers of the route's latest valid answers do, `recent`, newest first, this one among them.
 */
export function getPayeeKind(
  before: PayeeKind | null,
  rotates: boolean | null,
  recent: readonly (readonly Terms[])[],
): PayeeKind | null {
  if (rotates !== null) return rotates ? 'rotating' : 'fixed';
  const payees = recent.slice(0, FIXED_AFTER).map(formatPayees);
  if (before === 'rotating') {
    return payees.length === FIXED_AFTER && new Set(payees).size === 1 ? 'fixed' : 'rotating';
  }
  const latest = payees.slice(0, ROTATING_AFTER);
  if (latest.length === ROTATING_AFTER && new Set(latest).size === ROTATING_AFTER) return 'rotating';
  return before ?? (latest.length > 1 && latest[0] === latest[1] ? 'fixed' : null);
}

function formatPayees(offers: readonly Terms[]): string {
  return [...new Set(offers.map(({ network, pay_to }) => `${network} ${pay_to ?? ''}`))].sort().join();
}

/** Gives offers as they are kept of a route: of one whose payee rotates without the payee, which says nothing. */
export function listLastingOffers(offers: readonly Terms[], payee: PayeeKind | null): Terms[] {
  return offers.map((offer) => (payee === 'rotating' ? { ...offer, pay_to: null } : offer));
}
