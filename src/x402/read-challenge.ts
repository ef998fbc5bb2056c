import { isPaymentRequirementsV1, isPaymentRequirementsV2, parsePaymentRequired } from '@x402/core/schemas';
import { isObject } from '../model/json.ts';
import { getTermsKey, type Terms } from '../model/terms.ts';
import { type Ambiguity, listAmbiguities } from './ambiguities.ts';
import type { Challenge, ChallengeFlaw, ChallengeProblem, ChallengeReading, SkippedOffer } from './challenge.ts';
import { type ObjectOrProblem, parseChallengeBody, parseChallengeHeader } from './challenge-json.ts';
import { parseChallengeOffer } from './challenge-offer.ts';
import { readDiscovery } from './discovery.ts';
import { findPaymentIdentifier } from './payment-identifier.ts';

/** Most offers in a challenge. Real ones have one to eight. */
const MAX_OFFERS = 100;

/** Characters of all headers that Node's HTTP client accepts by default. With more, it drops the whole answer. */
const USUAL_HEADER = 16 * 1024;

/** Longest kept name of an offer that is left out, in characters. */
const MAX_NAME = 80;
const MAX_PLACES = 8;

/** An answer that asks for a payment. `isTool`: it comes from an MCP tool, and only its body can ask. */
export interface ChallengeAnswer {
  headers: Headers;
  body: Uint8Array;
  isTool?: boolean | undefined;
}

/**
 * A challenge, and all its offers in USDC, including those that the protocol's schema refuses: readers who do not check the
 * schema pay these.
 */
type PlacedChallenge = { challenge: Challenge; asked: Terms[] } | { problem: ChallengeProblem };

/**
 * Reads the challenge of a 402 answer: the `PAYMENT-REQUIRED` header (x402 version 2) or the JSON body (version 1). If
 * a seller serves both, the header is taken, as new clients do, and the body is compared with it. If the header cannot
 * be read, or the protocol's schema refuses it, the body is taken, which older clients use. A 402 without x402 may
 * belong to another protocol, such as L402. The content codings of `body` are already undone. Never throws, whatever
 * the bytes.
 */
export function readChallenge({ headers, body, isTool = false }: ChallengeAnswer): ChallengeReading {
  const value = headers.get('payment-required');
  if (value !== null && value.length > USUAL_HEADER) {
    return { kind: 'malformed', cause: 'header_too_large', found_in: 'header' };
  }
  const fromHeader = value === null ? undefined : readChallengeAt(parseChallengeHeader(value), 'header');
  const fromBody = readChallengeAt(parseChallengeBody(body), 'body');
  if (fromHeader && 'challenge' in fromHeader && !isPayableInBodyAlone(fromHeader, fromBody)) {
    const further = listBeside('body', fromBody, fromHeader);
    const { challenge } = fromHeader;
    const misplaced: ChallengeFlaw[] = challenge.x402_version === 1 ? ['version_1_in_header'] : [];
    const flaws = [...challenge.flaws, ...misplaced];
    return { kind: 'challenge', challenge: addAmbiguities({ ...challenge, flaws }, further) };
  }
  if ('challenge' in fromBody) {
    const { challenge } = fromBody;
    const missing: ChallengeFlaw[] = challenge.x402_version === 2 && !isTool ? ['header_missing'] : [];
    const flaws = [...challenge.flaws, ...(fromHeader ? (['header_unreadable'] as const) : missing)];
    const further = fromHeader ? listBeside('header', fromHeader, fromBody) : [];
    return { kind: 'challenge', challenge: addAmbiguities({ ...challenge, flaws }, further) };
  }
  if (fromHeader && 'problem' in fromHeader) {
    return { kind: 'malformed', cause: fromHeader.problem, found_in: 'header' };
  }
  const schemes = listAuthenticationSchemes(headers.get('www-authenticate'));
  if (schemes.length > 0) return { kind: 'other_scheme', schemes };
  return { kind: 'malformed', cause: fromBody.problem, found_in: 'body' };
}

/** Returns whether the schema refuses the challenge of the header, and the body has one that can be paid. */
function isPayableInBodyAlone(header: { challenge: Challenge }, body: PlacedChallenge): boolean {
  const { nonconforming, offers } = header.challenge;
  return nonconforming.length > 0 && offers.length === 0 && 'challenge' in body && body.challenge.offers.length > 0;
}

function readChallengeAt(parsed: ObjectOrProblem, foundIn: 'header' | 'body'): PlacedChallenge {
  const read = readAccepts(parsed);
  return 'problem' in read ? read : buildChallenge(read, foundIn);
}

/** A challenge whose offers are not read yet. */
export interface UnreadChallenge {
  object: Record<string, unknown>;
  duplicateKeys: readonly string[];
  version: 1 | 2;
  accepts: unknown[];
}

/** Reads the version and the list of offers of a challenge, or returns why it is not a challenge. Never throws. */
export function readAccepts(parsed: ObjectOrProblem): UnreadChallenge | { problem: ChallengeProblem } {
  if ('problem' in parsed) return parsed;
  const { x402Version: version, accepts } = parsed.object;
  if (version === undefined) return { problem: 'no_version' };
  if (version !== 1 && version !== 2) return { problem: 'bad_version' };
  if (!Array.isArray(accepts) || accepts.length === 0) return { problem: 'no_accepts' };
  if (accepts.length > MAX_OFFERS) return { problem: 'too_many_offers' };
  return { ...parsed, version, accepts };
}

function buildChallenge(
  { object: raw, version, accepts, duplicateKeys }: UnreadChallenge,
  foundIn: 'header' | 'body',
): { challenge: Challenge; asked: Terms[] } {
  const nonconforming = listNonconforming(raw);
  const conforming = nonconforming.length > 0 ? listConforming(raw, accepts, version) : new Set(accepts);
  const offers: Terms[] = [];
  const asked: Terms[] = [];
  const others: SkippedOffer[] = [];
  const flaws = new Set<ChallengeFlaw>();
  for (const [index, entry] of accepts.entries()) {
    const offer = parseChallengeOffer(entry, version, raw.extensions);
    if ('reason' in offer) others.push({ index, reason: offer.reason, ...getOfferNames(entry) });
    else {
      asked.push(offer.terms);
      if (!offer.isUsual) flaws.add('network_spelling');
      if (!conforming.has(entry)) others.push({ index, reason: 'not_conforming', ...getOfferNames(entry) });
      else if (!offers.some((known) => getTermsKey(known) === getTermsKey(offer.terms))) offers.push(offer.terms);
    }
  }
  if (nonconforming.length > 0) flaws.add('not_conforming');
  const challenge: Challenge = {
    x402_version: version,
    found_in: foundIn,
    offers,
    others,
    payment_identifier: findPaymentIdentifier(raw.extensions) ?? null,
    ...readDiscovery(raw, version),
    flaws: [...flaws],
    nonconforming,
    ambiguities: listAmbiguities(accepts, duplicateKeys),
  };
  return { challenge, asked };
}

/**
 * Lists the offers that the protocol's own schema accepts: none if it refuses the challenge even without the others.
 * Fields that only describe the service are left out, because a name in other letters than ASCII keeps no client from
 * paying.
 */
function listConforming(raw: Record<string, unknown>, accepts: readonly unknown[], version: 1 | 2): Set<unknown> {
  const good = accepts.filter(version === 1 ? isPaymentRequirementsV1 : isPaymentRequirementsV2);
  const resource = isObject(raw.resource) ? { url: raw.resource.url } : raw.resource;
  return new Set(parsePaymentRequired({ x402Version: version, accepts: good, resource }).success ? good : []);
}

/** Lists the places that the protocol's own schema refuses. */
function listNonconforming(raw: Record<string, unknown>): string[] {
  const parsed = parsePaymentRequired(raw);
  if (parsed.success) return [];
  const places = parsed.error.issues.map(({ path }) => path.join('.').slice(0, MAX_NAME));
  return [...new Set(places)].slice(0, MAX_PLACES);
}

/**
 * Lists the ambiguities for a reader who uses the other one of header and body: those within it, and `body_differs` if it has
 * other terms for a scheme and network that both name. An offer that only one of them names is no difference.
 */
function listBeside(where: 'header' | 'body', other: PlacedChallenge, { asked }: { asked: Terms[] }): Ambiguity[] {
  if (!('challenge' in other)) return [];
  const isShared = ({ network, scheme }: Terms) =>
    [asked, other.asked].every((list) => list.some((one) => one.network === network && one.scheme === scheme));
  const [a, b] = [asked, other.asked].map((list) => [...new Set(list.filter(isShared).map(getTermsKey))].sort().join());
  const found = other.challenge.ambiguities.map(({ code, place }) => ({ code, place: `${where} ${place}` }));
  return a === b ? found : [...found, { code: 'body_differs', place: `${where} /accepts` }];
}

function addAmbiguities(challenge: Challenge, further: readonly Ambiguity[]): Challenge {
  return { ...challenge, ambiguities: [...challenge.ambiguities, ...further] };
}

/** Returns the names in an offer, cut short, because the provider wrote them. */
export function getOfferNames(entry: unknown): Pick<SkippedOffer, 'network' | 'asset'> {
  const getName = (value: unknown) => (typeof value === 'string' ? value.slice(0, MAX_NAME) : null);
  return isObject(entry)
    ? { network: getName(entry.network), asset: getName(entry.asset) }
    : { network: null, asset: null };
}

/** A scheme, and what may follow it: parameters after white space, or the next challenge (RFC 9110 section 11.6.1). */
const AUTHENTICATION_CHALLENGE = /(?:^|,)\s*([a-z][a-z0-9-]{0,31})(?=\s+[^\s=,]|\s*(?:,|$))/gi;

/** Longest header that is read, in characters; an L402 challenge with its invoice has about a thousand. */
const MAX_LENGTH = 16_384;

/**
 * Lists the schemes that a `WWW-Authenticate` header names, in lower case and once each: `l402` or `lsat` for a
 * Lightning invoice, `payment` for the Machine Payments Protocol, `bearer`, `basic`. Quoted text is ignored, and so is
 * x402, whose challenge is not in this header.
 */
function listAuthenticationSchemes(header: string | null): string[] {
  const bare = (header ?? '').slice(0, MAX_LENGTH).replace(/"[^"]*"?/g, 'q');
  const names = [...bare.matchAll(AUTHENTICATION_CHALLENGE)].map((match) => (match[1] ?? '').toLowerCase());
  return [...new Set(names)].filter((name) => name !== 'x402').slice(0, 8);
}
