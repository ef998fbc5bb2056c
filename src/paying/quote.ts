import type { GuardedClient } from '../fetching/client.ts';
import { isEvm, type NetworkKey } from '../model/network.ts';
import { isCeiling, type Terms, type TermsDifference } from '../model/terms.ts';
import { readChallenge } from '../x402/read-challenge.ts';
import { listRequirements, type Requirement } from '../x402/requirements.ts';
import { findOfferDifference, isChanged, listTermsDifferences } from '../x402/terms-differences.ts';
import { fetchCall } from './fetch-call.ts';
import type { Call } from './paid-call.ts';

/** The terms of a live 402, compared with the record, and the offer that would be paid. */
export interface Quote {
  /** Status of the answer. Only a 402 can be paid. */
  status: number;
  offered: Terms[];
  known: Terms[];
  differences: TermsDifference[];
  /** The offer that would be paid; null if there is none. */
  chosen: Requirement | null;
  /** Reason why nothing would be paid; null if an offer would be. */
  refused: OfferRefusal | 'not_402' | 'reads_differently' | 'input_of_others' | null;
}

/**
 * Fetches the live 402 of a route and chooses the offer to pay. Follows no redirects, because a payment is for the
 * address on record. Throws what the guarded client throws.
 */
export async function fetchQuote({
  client,
  call,
  known,
  payeeRotates,
  networks,
  signal,
}: {
  client: GuardedClient;
  call: Call;
  known: readonly Terms[];
  payeeRotates: boolean;
  /** Networks with a wallet. */
  networks: readonly NetworkKey[];
  signal: AbortSignal;
}): Promise<Quote> {
  const response = await fetchCall(client, call, { signal });
  const requirements = response.status === 402 ? listRequirements(response) : [];
  const offered = requirements.map(({ terms }) => terms);
  const shared = { status: response.status, offered, known: [...known] };
  if (response.status !== 402) return { ...shared, differences: [], chosen: null, refused: 'not_402' };
  const reading = readChallenge(response);
  if (requirements.length > 0 && reading.kind === 'challenge' && reading.challenge.ambiguities.length > 0) {
    return { ...shared, differences: [], chosen: null, refused: 'reads_differently' };
  }
  const choice = chooseOffer(requirements, known, { networks, payeeRotates });
  if ('refused' in choice) return { ...shared, ...choice, chosen: null };
  return { ...shared, ...choice, refused: null };
}

/** Needs of an offer that do not exclude it: the domain of USDC is known, and the rail reports a missing fee payer. */
const KNOWN_NEEDS = ['usdc-domain', 'fee-payer'];

/**
 * Returns true if a wallet here can sign for an offer: an exact amount that is not paid through Permit2, or on EVM a ceiling,
 * which is always paid through Permit2. An extension that the offer requires cannot be met.
 */
function isSignable({ scheme, network, x402_version, extra_needs = [] }: Terms): boolean {
  const isUpto = isCeiling({ scheme }) && isEvm(network) && x402_version === 2;
  if (scheme !== 'exact' && !isUpto) return false;
  return extra_needs.every((need) => KNOWN_NEEDS.includes(need) || (isUpto && need === 'permit2'));
}

/** Reason why no offer of a challenge is paid: a stable code. */
export type OfferRefusal = 'no_offer' | 'terms_differ' | 'no_wallet' | 'scheme_not_supported' | 'not_on_record';

/** The offer of a challenge that would be paid, or the reason why none would be. */
export type Choice =
  | { chosen: Requirement; differences: TermsDifference[] }
  | { refused: OfferRefusal; differences: TermsDifference[] };

/**
 * Chooses the offer to pay: the cheapest one on a network with a wallet, whatever the seller's order; a ceiling counts as a
 * price. Refuses if an offer on record is missing or has another amount, payee, asset, network or scheme, and never chooses an
 * offer that is not on record. A payee that is not on record, or that rotates, is not compared.
 */
function chooseOffer(
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
  const signable = onRecord.filter(({ terms }) => isSignable(terms));
  if (signable.length === 0) return refuse(onRecord.length === 0 ? 'not_on_record' : 'scheme_not_supported');
  const payable = signable.filter(({ terms }) => networks.includes(terms.network));
  const [cheapest] = payable.toSorted((a, b) => a.terms.amount - b.terms.amount);
  return cheapest ? { chosen: cheapest, differences } : refuse('no_wallet');
}
