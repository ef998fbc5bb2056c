import type { CheckWarning, JudgedOffer } from '../evidence/terms-check.ts';
import { formatUsdc } from '../model/usdc.ts';
import type { CheckReason, TermsCheck } from './terms-check.ts';
import { describeCaution } from './words/caution.ts';
import { formatDay } from './words/figures.ts';

/** What each warning means, in the service's own words. */
const WARNINGS: Readonly<Record<CheckWarning, string>> = {
  other_offers_differ: 'The challenge also makes offers that are not on record: take only those of safe_offers.',
  resource_differs: 'The challenge says it is for another address than the one that was called.',
  long_timeout: 'A payment signed for this challenge could be cashed for more than a day.',
  payee_not_on_record: 'The payee is not on record, so it was not compared.',
  declared_only: 'Terms of this challenge are on record only as a claim: no 402 with them was ever seen here.',
  stale_record: 'The record is more than two weeks old, or has no date.',
};

const REASONS: Readonly<Partial<Record<CheckReason, string>>> = {
  host_not_listed: 'No API of this host is listed.',
  path_not_listed: 'This host is listed, this route is not.',
  other_method: 'This address is listed with another method.',
  not_https: 'This host is listed with https, and was called without.',
  not_itemised: 'The API is listed without its routes, so there is nothing to compare with.',
  no_terms: 'The route is listed, and what it asks is not on record.',
  not_on_record: 'On the network of this offer nothing is on record.',
  not_usdc: 'The offer is not in the USDC of its network.',
  asset_not_an_address: 'The offer does not name the contract or mint of USDC.',
  unsupported_network: 'The offer is on another network than Base and Solana.',
  test_network: 'The offer is on a test network.',
  test_network_mainnet_asset: 'The offer names a test network and the USDC of a main one.',
};

/** Says what a warning means. */
export function describeWarning(warning: CheckWarning): string {
  return WARNINGS[warning];
}

/** Says in one or two sentences what a comparison came to. Nothing in it is in a provider's words. */
export function describeCheck(check: TermsCheck): string {
  const { verdict, reason, offers, evidence_at } = check;
  const since = evidence_at === null ? 'undated' : `last confirmed ${formatDay(evidence_at)}`;
  if (verdict === 'match') return `What is asked is what is on record (${since}).`;
  if (verdict === 'unseen') {
    return `A source declares what is asked (${since}), and no 402 with it was ever seen here: it is not known to be safe.`;
  }
  if (verdict === 'caution')
    return `Do not pay. ${check.route?.cautions
      .filter(({ severity }) => severity === 'danger')
      .map(describeCaution)
      .join(' ')}`;
  if (verdict === 'delisted') return `The listing was removed on ${formatDay(evidence_at ?? '')}. Do not rely on it.`;
  if (verdict === 'unknown_route') return `${REASONS[reason ?? 'host_not_listed'] ?? 'Nothing is on record.'}`;
  const differing = offers.find(({ difference }) => difference !== null);
  if (differing) return `${describeDifference(differing)} (${since}). ${getAdvice(check)}`;
  return `${(reason && REASONS[reason]) ?? 'No offer can be paid as it stands.'} ${getAdvice(check)}`;
}

function describeDifference({ difference, is_cheaper }: JudgedOffer): string {
  const { before, after, fields = [] } = difference ?? {};
  const others = fields.filter((field) => field !== 'amount').map((field) => (field === 'pay_to' ? 'payee' : field));
  const isPriced = before && after && fields.includes('amount');
  const price = isPriced ? `It asks ${formatUsdc(after.amount)} USDC; on record is ${formatUsdc(before.amount)}` : '';
  if (is_cheaper || others.length === 0) return price;
  const names = `${others.join(', ')} ${others.length === 1 ? 'differs' : 'differ'} from the record`;
  return price === '' ? `The ${names}` : `${price}; ${names}`;
}

function getAdvice({ severity }: TermsCheck): string {
  return severity === 'danger' ? 'Do not pay before you know why.' : 'It costs less than expected.';
}
