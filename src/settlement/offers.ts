import type { NetworkKey } from '../model/network.ts';
import type { TermsDifference } from '../model/sample.ts';
import type { Terms } from '../model/terms.ts';
import type { Requirement } from '../x402/requirements.ts';
import { findOfferDifference, isChanged, listTermsDifferences } from '../x402/terms-differences.ts';

/** Why nothing is paid for a challenge: a stable code. */
export type OfferRefusal = 'no_offer' | 'terms_differ' | 'no_wallet' | 'scheme_not_supported' | 'not_on_record';

/** What of a challenge would be paid, or why none of it. */
export type Choice =
  | { chosen: Requirement; differences: TermsDifference[] }
  | { refused: OfferRefusal; differences: TermsDifference[] };

/**
 * Chooses what to pay of a challenge: the cheapest offer on a network that there is a wallet for, the seller's order
 * playing no part. Nothing at all where an offer on record is gone or asks for another amount, payee, asset, network or
 * scheme, and never an offer that is not on record. A payee that is not on record, or known to rotate, is not compared.
 */
export function chooseOffer(
  requirements: readonly Requirement[],
  known: readonly Terms[],
  { networks, payeeRotates }: { networks: readonly NetworkKey[]; payeeRotates: boolean },
): Choice {
  const offered = requirements.map(({ terms }) => terms);
  const differences = listTermsDifferences(known, offered, { payeeRotates });
  const refuse = (refused: OfferRefusal): Choice => ({ refused, differences });
  if (requirements.length === 0) return refuse('no_offer');
  if (known.length === 0) return refuse('not_on_record');
  if (isChanged(differences)) return refuse('terms_differ');
  const onRecord = requirements.filter(({ terms }) => !findOfferDifference(terms, known, { payeeRotates }));
  const exact = onRecord.filter(({ terms }) => terms.scheme === 'exact');
  if (exact.length === 0) return refuse(onRecord.length === 0 ? 'not_on_record' : 'scheme_not_supported');
  const payable = exact.filter(({ terms }) => networks.includes(terms.network));
  const [cheapest] = payable.toSorted((a, b) => a.terms.amount - b.terms.amount);
  return cheapest ? { chosen: cheapest, differences } : refuse('no_wallet');
}
