/**
 * Why one way to pay is not taken. Those of another network or asset say that the offer may be good, only not for this
 * service (specification, "Authentication" 3); the others, that nobody can pay it as it stands.
 */
export type OfferProblem = ElsewhereProblem | 'not_usdc' | BrokenProblem;

/** The offer is on a network that the service does not list. */
type ElsewhereProblem = 'unsupported_network' | 'test_network' | 'test_network_mainnet_asset';

/** The offer is on a network of the service, or on none, and cannot be paid as it stands. */
type BrokenProblem =
  | 'bad_offer'
  | 'bad_scheme'
  | 'no_network'
  | 'no_asset'
  | 'asset_not_an_address'
  | 'no_amount'
  | 'bad_amount'
  | 'zero_amount'
  | 'implausible_price'
  | 'bad_pay_to';

const ELSEWHERE: readonly string[] = [
  'unsupported_network',
  'test_network',
  'test_network_mainnet_asset',
] satisfies ElsewhereProblem[];

/** Says whether an offer was left out for its network alone. */
export function isElsewhere(problem: string): boolean {
  return ELSEWHERE.includes(problem);
}
