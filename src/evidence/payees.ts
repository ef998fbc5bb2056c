import type { PayeeKind } from '../model/route.ts';
import type { Terms } from '../model/terms.ts';

/** Valid answers in a row that must name one payee before a rotating payee counts as fixed: three days of samples. */
export const FIXED_AFTER = 12;

/**
 * Valid answers in a row, each with a different payee, after which the payee counts as rotating without a second
 * challenge.
 */
export const ROTATING_AFTER = 3;

/**
 * Returns whether a route names one payee or a fresh one in each challenge; null if that is not known. A second
 * challenge within one probe (`rotates`) decides. Without one, the offers of the latest valid answers decide (`recent`,
 * newest first, this answer included).
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
  if (new Set(latest).size === ROTATING_AFTER) return 'rotating';
  return before ?? (latest.length > 1 && latest[0] === latest[1] ? 'fixed' : null);
}

function formatPayees(offers: readonly Terms[]): string {
  return [...new Set(offers.map(({ network, pay_to }) => `${network} ${pay_to ?? ''}`))].sort().join();
}

/** Returns the offers of a route as they are recorded: without the payee if it rotates. */
export function listLastingOffers(offers: readonly Terms[], payee: PayeeKind | null): Terms[] {
  return offers.map((offer) => (payee === 'rotating' ? { ...offer, pay_to: null } : offer));
}
