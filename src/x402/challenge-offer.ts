import { isObject } from '../model/json.ts';
import { NETWORKS } from '../model/network.ts';
import { MAX_TIMEOUT_SECONDS, type Terms } from '../model/terms.ts';
import type { SkipReason } from './challenge.ts';
import { listExtraNeeds, listOmissions } from './extra-needs.ts';
import {
  findAssetProblem,
  findOfferNetwork,
  isMainnetUsdc,
  parseOfferAmount,
  parsePayTo,
  SCHEME,
} from './offer-fields.ts';

export type ChallengeOffer = { terms: Terms; isUsual: boolean } | { reason: SkipReason };

/**
 * Parses one entry of `accepts` as a client of its version reads it, or returns why it is not taken. Only the version's
 * own fields count, because a payment is signed over them: `amount` in version 2, `maxAmountRequired` in version 1. The
 * network is checked first, so that an offer on another chain is never called broken. Payees on Base come back in lower
 * case and assets in the network's spelling, so that terms compare equal with declared ones. `extensions` are those of
 * the challenge, which hold for all of its offers.
 */
export function parseChallengeOffer(raw: unknown, version: 1 | 2, extensions: unknown): ChallengeOffer {
  if (!isObject(raw)) return { reason: 'bad_offer' };
  const network = findOfferNetwork(raw.network, version);
  if ('code' in network) {
    const isMixedUp = network.code === 'test_network' && isMainnetUsdc(raw.asset);
    return { reason: isMixedUp ? 'test_network_mainnet_asset' : network.code };
  }
  const problem = findAssetProblem(network.key, raw.asset);
  if (problem) return { reason: problem };
  const amount = parseOfferAmount(version === 1 ? raw.maxAmountRequired : raw.amount);
  if (typeof amount !== 'number') return { reason: amount };
  const payTo = parsePayTo(network.key, raw.payTo);
  if (payTo === undefined) return { reason: 'bad_pay_to' };
  if (typeof raw.scheme !== 'string' || !SCHEME.test(raw.scheme)) return { reason: 'bad_scheme' };
  const seconds = raw.maxTimeoutSeconds;
  if (typeof seconds !== 'number' || !Number.isInteger(seconds) || seconds < 1) return { reason: 'bad_timeout' };
  const scheme = raw.scheme.toLowerCase();
  const { extra } = raw;
  const extra_needs = [
    ...listExtraNeeds({ network: network.key, extra }, extensions),
    ...listOmissions({ network: network.key, scheme, extra }),
  ];
  const terms = {
    network: network.key,
    scheme,
    asset: NETWORKS[network.key].usdc,
    amount,
    pay_to: payTo,
    max_timeout_seconds: seconds <= MAX_TIMEOUT_SECONDS ? seconds : null,
    x402_version: version,
    ...(extra_needs.length > 0 && { extra_needs }),
  };
  return { terms, isUsual: network.isUsual };
}
