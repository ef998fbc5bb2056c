import type { Finding } from '../model/declaration.ts';
import type { Challenge, ChallengeReading } from '../x402/challenge.ts';
import { getOfferPlace } from './bazaar/offer.ts';
import { buildFinding, type FindingCode, formatPointer } from './findings.ts';
import { nameScheme } from './other-lists.ts';

/**
 * Lists the faults of a live 402, each with its place: a JSON pointer in the challenge, or the header. `refused` faults
 * keep buyers from paying.
 */
export function listChallengeFindings(reading: ChallengeReading, item: string): Finding[] {
  if (reading.kind === 'other_scheme') {
    const message = `The 402 asks for payment by ${reading.schemes.map(nameScheme).join(', ')} and not by x402.`;
    return [buildFinding('refused', 'other_payment_scheme', item, message, 'header WWW-Authenticate')];
  }
  if (reading.kind === 'malformed') {
    const place = PLACES[reading.cause] ?? (reading.found_in === 'header' ? 'header PAYMENT-REQUIRED' : '');
    return [buildFinding('refused', reading.cause, item, undefined, place)];
  }
  return [...listOfferFindings(reading.challenge, item), ...listFlawFindings(reading.challenge, item)];
}

/** The member of a challenge that a problem is about. */
const PLACES: Partial<Record<FindingCode, string>> = {
  no_version: '/x402Version',
  bad_version: '/x402Version',
  no_accepts: '/accepts',
  too_many_offers: '/accepts',
};

/** The part of the answer that a flaw is about. */
const FLAW_PLACES: Partial<Record<FindingCode, string>> = {
  header_missing: 'header PAYMENT-REQUIRED',
  header_unreadable: 'header PAYMENT-REQUIRED',
  version_1_in_header: '/x402Version',
  network_spelling: '/accepts',
};

function listOfferFindings({ others, offers, x402_version }: Challenge, item: string): Finding[] {
  const severity = offers.length > 0 ? 'noted' : 'refused';
  return others
    .filter(({ reason }) => reason !== 'not_conforming')
    .map(({ index, reason }) => {
      const place = `${formatPointer('accepts', index)}${getPlaceInOffer(reason, x402_version)}`;
      return buildFinding(severity, reason, item, undefined, place);
    });
}

function getPlaceInOffer(reason: FindingCode, version: 1 | 2): string {
  if (reason === 'bad_timeout') return '/maxTimeoutSeconds';
  const place = getOfferPlace(reason, {});
  return place === '/amount' && version === 1 ? '/maxAmountRequired' : place;
}

/** Message for every place that can be read in two ways. */
const AMBIGUOUS = 'Two honest readers may read different payments here, so agents are told not to pay it.';

function listFlawFindings({ flaws, nonconforming, ambiguities, others, offers }: Challenge, item: string): Finding[] {
  const known = new Set(others.map(({ index }) => formatPointer('accepts', index)));
  const places = nonconforming.map((path) => `/${path.replaceAll('.', '/')}`);
  // A field for which an offer was left out is not reported twice.
  const further = places.filter(
    (place) =>
      !others.some(({ reason }) => reason !== 'not_conforming') || ![...known].some((one) => place.startsWith(one)),
  );
  const isRefused = offers.length === 0 && others.some(({ reason }) => reason === 'not_conforming');
  const notes: FindingCode[] = flaws.filter((flaw) => flaw !== 'not_conforming');
  const unread = ambiguities.filter(
    ({ code, place }) =>
      !others.some(({ index, reason }) => reason === code && place.startsWith(`${formatPointer('accepts', index)}/`)),
  );
  return [
    ...further.map((place) => buildFinding(isRefused ? 'refused' : 'noted', 'not_conforming', item, undefined, place)),
    ...unread.map(({ code, place }) => buildFinding('refused', code, item, AMBIGUOUS, place)),
    ...notes.map((code) => buildFinding('noted', code, item, undefined, FLAW_PLACES[code])),
  ];
}
