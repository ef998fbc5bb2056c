import { ServiceError } from '../errors.ts';
import { TOOL_NAME } from '../model/route.ts';
import { parseUsdc } from '../model/usdc.ts';
import { type CheckQuestion, DEFAULT_SCHEME, OFFER_FIELDS } from '../views/check.ts';
import type { ChallengeProblem } from '../x402/challenge.ts';
import { type GivenChallenge, readCopiedTerms, readGivenChallenge } from '../x402/given-challenge.ts';
import type { AskedCall } from './find-route.ts';

/** Hint that says what to send as a challenge. */
const CHALLENGE_HINT =
  'Give the value of the PAYMENT-REQUIRED header (x402 version 2, base 64), or the JSON body of the 402 (version 1), as it came.';

/** Hints for challenges that were sent unchanged and cannot be paid. */
const CHALLENGE_HINTS: Partial<Record<ChallengeProblem, string>> = {
  html_page: 'This is a page for people. Send the request as a program would, and give what its 402 carries.',
  no_version:
    'The JSON names no x402Version, so it is no challenge. Give the JSON of the 402 itself, not a part of it.',
  bad_version: 'Versions 1 and 2 of x402 are read here. Do not pay what no version of the protocol describes.',
  no_accepts: 'The challenge offers no way to pay. Ask the provider again; there is nothing to compare.',
  too_many_offers: 'Nobody offers so many ways to pay in earnest. Give the fields of the one offer that you would pay.',
  too_deep: 'No challenge is nested so deep. Give the fields of the one offer that you would pay.',
  header_too_large: 'Give the fields of the one offer that you would pay.',
  body_too_large: 'Give the fields of the one offer that you would pay.',
};

/**
 * Returns the call that a question is about. Throws `bad_input` (`bad_url`) for a text that is no http(s) address, and for an
 * address with a user or password, which must not be sent here.
 */
export function parseCall({ url: text, method }: Pick<CheckQuestion, 'url' | 'method'>): AskedCall {
  const url = URL.parse(text);
  const isWeb = url !== null && (url.protocol === 'https:' || url.protocol === 'http:');
  if (!isWeb || url.username !== '' || url.password !== '') {
    throw new ServiceError('bad_input', 'The url is not the address of a route.', {
      hint: 'Give the whole address that answered 402, with https:// and without user and password.',
      reason: 'bad_url',
      details: { parameter: 'url' },
    });
  }
  // A fragment is not sent in a request. Only a fragment that names a tool tells one route from another.
  if (!TOOL_NAME.test(url.hash.slice(1))) url.hash = '';
  url.hostname = url.hostname.replace(/\.$/, '');
  return { method, url };
}

/** Terms of a question that gives none and asks what to expect. */
const NO_TERMS: GivenChallenge = { x402_version: 2, offers: [], resources: [], ambiguities: [] };

/**
 * Returns the terms in a question: a challenge, all fields of one offer, or none. Throws `bad_input` for a challenge together
 * with fields, for missing fields (comparing only some would call the rest safe), and for a challenge that cannot be read, with a
 * reason code. `duplicateKeys` are the keys that the text of a parsed challenge has twice.
 */
export function parseGivenTerms(question: CheckQuestion, duplicateKeys: readonly string[] = []): GivenChallenge {
  const { challenge, network, asset, pay_to, scheme } = question;
  if (challenge !== undefined) {
    const given: string[] = OFFER_FIELDS.filter((name) => question[name] !== undefined);
    // Clients that fill in default values send this field with every question.
    if (scheme !== DEFAULT_SCHEME) given.push('scheme');
    if (given.length > 0) throw buildBothError(given);
    const read = readGivenChallenge(challenge, duplicateKeys);
    if ('problem' in read) throw buildChallengeError(read.problem);
    return read;
  }
  if (scheme === DEFAULT_SCHEME && OFFER_FIELDS.every((name) => question[name] === undefined)) return NO_TERMS;
  const amount = getAmount(question);
  if (network === undefined || asset === undefined || pay_to === undefined || amount === undefined) {
    throw buildMissingError(question);
  }
  return readCopiedTerms({ network, asset, pay_to, amount, scheme });
}

function getAmount({ amount, price_usdc }: CheckQuestion): string | undefined {
  if (price_usdc === undefined) return amount;
  const atomic = parseUsdc(price_usdc) ?? 0;
  if (amount !== undefined && BigInt(amount) !== BigInt(atomic)) {
    throw new ServiceError('bad_input', 'amount and price_usdc say different things.', {
      hint: 'amount counts atomic USDC: 1000 is 0.001 USDC. Give either.',
      reason: 'terms_disagree',
    });
  }
  return String(atomic);
}

function buildMissingError(question: CheckQuestion): ServiceError {
  const isPriced = question.amount !== undefined || question.price_usdc !== undefined;
  const missing = OFFER_FIELDS.filter(
    (name) => question[name] === undefined && name !== 'price_usdc' && !(name === 'amount' && isPriced),
  );
  return new ServiceError('bad_input', `The terms lack ${missing.join(', ')}.`, {
    hint: 'Give network, asset, pay_to and amount (or price_usdc) of the offer that you would pay, or POST the whole challenge.',
    reason: 'missing_terms',
    details: { missing },
  });
}

function buildBothError(given: readonly string[]): ServiceError {
  return new ServiceError('bad_input', `There is a challenge, and ${given.join(', ')} beside it.`, {
    hint: 'Give either the challenge as it came, or the fields of one offer.',
    reason: 'challenge_and_fields',
  });
}

function buildChallengeError(problem: ChallengeProblem): ServiceError {
  return new ServiceError('bad_input', `The challenge cannot be read: ${problem}.`, {
    hint: CHALLENGE_HINTS[problem] ?? CHALLENGE_HINT,
    reason: problem,
    details: { parameter: 'challenge' },
  });
}
