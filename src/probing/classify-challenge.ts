import type { JsonObject } from '../model/route.ts';
import type { TermsDifference } from '../model/sample.ts';
import type { Terms } from '../model/terms.ts';
import type { Challenge, ChallengeReading } from '../x402/challenge.ts';
import { isOnOtherNetwork } from '../x402/offer-fields.ts';
import { isChanged, listTermsDifferences } from '../x402/terms-differences.ts';
import { buildVerdict, type Verdict } from './verdict.ts';

/** Kept in a sample of the offers that were left out. */
const MAX_SKIPPED = 10;

/**
 * Tells what a 402 answer means for who knows these terms. A 402 of another protocol than x402 is `auth_required`: it
 * asks for something that no buyer here has.
 */
export function classifyChallenge(
  reading: ChallengeReading,
  { terms, payeeRotates }: { terms: readonly Terms[]; payeeRotates?: boolean | undefined },
): Verdict {
  if (reading.kind === 'other_scheme') {
    const detail = { schemes: reading.schemes };
    return buildVerdict('auth_required', 'other_payment_scheme', { status: 402, detail });
  }
  if (reading.kind === 'malformed') {
    const isLarge = reading.cause === 'header_too_large' || reading.cause === 'body_too_large';
    const detail = { found_in: reading.found_in };
    return buildVerdict(isLarge ? 'too_large' : 'malformed', reading.cause, { status: 402, detail });
  }
  const { challenge } = reading;
  const rest = { status: 402, x402_version: challenge.x402_version, detail: buildDetail(challenge) };
  if (challenge.offers.length === 0) return classifyUnpayable(challenge, rest);
  const differences = listTermsDifferences(terms, challenge.offers, { payeeRotates });
  const { outcome, cause } = judgeDifferences(differences);
  return buildVerdict(outcome, cause, { ...rest, terms: challenge.offers, differences });
}

/** Says what a valid 402 comes to that differs so from what is known. */
export function judgeDifferences(differences: readonly TermsDifference[]): Pick<Verdict, 'outcome' | 'cause'> {
  if (!isChanged(differences)) return { outcome: 'payable', cause: null };
  return { outcome: 'payable_with_changed_terms', cause: getChangeCause(differences) };
}

/** The fault nearest to being paid here is the one to report: a broken offer in USDC before an offer on another chain. */
function classifyUnpayable({ others }: Challenge, rest: Partial<Verdict>): Verdict {
  const reasons = others.map(({ reason }) => reason);
  const broken = reasons.find((reason) => reason !== 'not_usdc' && !isOnOtherNetwork(reason));
  if (broken) return buildVerdict('malformed', broken, rest);
  if (reasons.includes('not_usdc')) return buildVerdict('not_usdc', null, rest);
  const cause = reasons.find((reason) => reason !== 'unsupported_network') ?? null;
  return buildVerdict('unsupported_network', cause, rest);
}

/** `amount`, `pay_to` … where one field explains it all, else `several_fields`; `offer_removed` where none does. */
function getChangeCause(differences: readonly TermsDifference[]): string {
  const fields = new Set(differences.flatMap((difference) => difference.fields));
  if (fields.size > 1) return 'several_fields';
  return [...fields][0] ?? 'offer_removed';
}

function buildDetail({ found_in, flaws, nonconforming, others, resource }: Challenge): JsonObject {
  return {
    found_in,
    ...(flaws.length > 0 && { flaws }),
    ...(nonconforming.length > 0 && { nonconforming }),
    ...(others.length > 0 && { skipped: others.slice(0, MAX_SKIPPED), skipped_count: others.length }),
    ...(resource !== null && { resource }),
  };
}
