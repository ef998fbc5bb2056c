import { getErrorMessage, ServiceError } from '../errors.ts';
import type { FetchFailureReason } from '../fetching/failure.ts';
import { parseRetryAfter } from '../fetching/retry-after.ts';
import type { JsonObject } from '../model/json.ts';
import { type ProbeOutcome, type ProbeSample, READS_DIFFERENTLY } from '../model/probe.ts';
import type { Terms, TermsDifference } from '../model/terms.ts';
import type { Challenge, ChallengeReading } from '../x402/challenge.ts';
import { isOnOtherNetwork } from '../x402/offer-fields.ts';
import { readChallenge } from '../x402/read-challenge.ts';
import { isChanged, listTermsDifferences } from '../x402/terms-differences.ts';

/** The meaning of an answer or of a failure: the part of a sample that needs no clock. */
export type Verdict = Pick<
  ProbeSample,
  | 'outcome'
  | 'cause'
  | 'status'
  | 'x402_version'
  | 'payment_identifier'
  | 'terms'
  | 'differences'
  | 'retry_after_seconds'
  | 'detail'
>;

/** Builds a verdict from an outcome, its cause and further fields; the others are empty. */
export function buildVerdict(outcome: ProbeOutcome, cause: string | null, rest: Partial<Verdict> = {}): Verdict {
  return {
    outcome,
    cause,
    status: null,
    x402_version: null,
    terms: [],
    differences: [],
    retry_after_seconds: null,
    detail: {},
    ...rest,
  };
}

/** A whole answer, with its content codings undone. */
export interface Answer {
  status: number;
  headers: Headers;
  body: Uint8Array;
  /** True if the body is the request for payment of an MCP server's tool, which has no header. */
  isTool?: boolean | undefined;
}

interface AnswerContext {
  terms: readonly Terms[];
  payeeRotates?: boolean | undefined;
  /** Path parameters whose values the probe made up. */
  invented: readonly string[];
  /** Time of the answer, to compare dates in it with. */
  at: Date;
}

/** Statuses that reject the content of the request, and not the client (RFC 9110 section 15.5). */
const INPUT_STATUSES = new Set([400, 406, 411, 412, 413, 414, 415, 417, 422, 428, 431]);

/**
 * Classifies the answer to an unpaid request. Pure. A 404 for a path with made-up parameters is about the parameters,
 * so it is `input_rejected`. Redirects that may be followed are handled before.
 */
export function classifyAnswer(answer: Answer, context: AnswerContext): Verdict {
  if (answer.status === 402) return classifyChallenge(readChallenge(answer), context);
  const retryAfter = parseRetryAfter(answer.headers.get('retry-after'), context.at);
  return { ...classifyStatus(answer, context), status: answer.status, retry_after_seconds: retryAfter };
}

function classifyStatus({ status, headers }: Answer, { invented }: AnswerContext): Verdict {
  const named = `status_${status}`;
  if (status >= 200 && status < 300) return buildVerdict('no_402', 'answered_unpaid');
  if (status === 404 && invented.length > 0) {
    return buildVerdict('input_rejected', 'made_up_parameter', { detail: { invented: [...invented] } });
  }
  if (status === 404) return buildVerdict('no_402', 'not_found');
  if (status === 410) return buildVerdict('no_402', 'gone');
  if (status === 405) return buildVerdict('wrong_method', null, { detail: { allow: listAllowed(headers) } });
  if (INPUT_STATUSES.has(status)) return buildVerdict('input_rejected', named);
  if (status === 401 || status === 403 || status === 407) return buildVerdict('auth_required', named);
  if (status === 429) return buildVerdict('rate_limited', null);
  if (status === 408) return buildVerdict('timeout', named);
  if (status >= 500) return buildVerdict('server_error', named);
  return buildVerdict('no_402', named);
}

/** Lists the methods of `Allow` (RFC 9110 section 10.2.1) that look like methods. */
function listAllowed(headers: Headers): string[] {
  const names = (headers.get('allow') ?? '').split(',').map((name) => name.trim().toUpperCase());
  return [...new Set(names.filter((name) => /^[A-Z]{3,16}$/.test(name)))].slice(0, 10);
}

/** Number of skipped offers that a sample keeps. */
const MAX_SKIPPED = 10;

/**
 * Classifies a 402 answer, compared with the known terms. A 402 of another protocol than x402 is `auth_required`,
 * because buyers here cannot pay it.
 */
function classifyChallenge(
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
  const { outcome, cause } = classifyDifferences(differences, challenge.ambiguities.length > 0);
  const { offers, payment_identifier } = challenge;
  return buildVerdict(outcome, cause, {
    ...rest,
    terms: offers,
    differences,
    ...(payment_identifier && { payment_identifier }),
  });
}

/**
 * Classifies a valid 402 by its differences from the known terms. The fact that it can be read in two ways is the
 * graver cause.
 */
export function classifyDifferences(
  differences: readonly TermsDifference[],
  isAmbiguous: boolean,
): Pick<Verdict, 'outcome' | 'cause'> {
  const ambiguous = isAmbiguous ? READS_DIFFERENTLY : null;
  if (!isChanged(differences)) return { outcome: 'payable', cause: ambiguous };
  return { outcome: 'payable_with_changed_terms', cause: ambiguous ?? getChangeCause(differences) };
}

/**
 * Classifies a challenge without payable offers. It reports the fault that is nearest to a payable offer: a broken
 * offer in USDC before an offer on another chain.
 */
function classifyUnpayable({ others }: Challenge, rest: Partial<Verdict>): Verdict {
  const reasons = others.map(({ reason }) => reason);
  const broken = reasons.find((reason) => reason !== 'not_usdc' && !isOnOtherNetwork(reason));
  if (broken) return buildVerdict('malformed', broken, rest);
  if (reasons.includes('not_usdc')) return buildVerdict('not_usdc', null, rest);
  const cause = reasons.find((reason) => reason !== 'unsupported_network') ?? null;
  return buildVerdict('unsupported_network', cause, rest);
}

/**
 * Returns the only field that changed (`amount`, `pay_to` …), else `several_fields`; `offer_removed` if no field
 * changed.
 */
function getChangeCause(differences: readonly TermsDifference[]): string {
  const fields = new Set(differences.flatMap((difference) => difference.fields));
  if (fields.size > 1) return 'several_fields';
  return [...fields][0] ?? 'offer_removed';
}

function buildDetail({ found_in, flaws, nonconforming, ambiguities, others, resource }: Challenge): JsonObject {
  return {
    found_in,
    ...(flaws.length > 0 && { flaws }),
    ...(nonconforming.length > 0 && { nonconforming }),
    ...(ambiguities.length > 0 && { reads_differently: ambiguities.map(({ code, place }) => ({ code, place })) }),
    ...(others.length > 0 && { skipped: others.slice(0, MAX_SKIPPED), skipped_count: others.length }),
    ...(resource !== null && { resource }),
  };
}

/** The outcome and cause for each failure of the guarded client. A null cause means that the outcome says it all. */
const MEANINGS: Readonly<Record<FetchFailureReason, readonly [ProbeOutcome, string | null]>> = {
  // Nothing was sent if the address was refused, so nothing is known.
  bad_url: ['blocked_address', 'bad_url'],
  not_https: ['blocked_address', 'not_https'],
  userinfo: ['blocked_address', 'userinfo'],
  blocked_address: ['blocked_address', null],
  blocked_host: ['blocked_address', 'blocked_host'],
  blocked_port: ['blocked_address', 'blocked_port'],
  name_not_resolved: ['name_not_resolved', null],
  refused: ['refused', null],
  tls: ['tls', null],
  // The host accepted the request and then closed the connection.
  disconnected: ['server_error', 'disconnected'],
  timeout: ['timeout', null],
  too_large: ['too_large', null],
  too_many_redirects: ['no_402', 'too_many_redirects'],
  redirected: ['no_402', 'redirected'],
  malformed: ['malformed', 'bad_http'],
  // Failures of our own: a request that cannot be sent, a probe that was stopped, reasons of the JSON reader.
  held_up: ['internal', 'held_up'],
  bad_request: ['internal', 'bad_request'],
  aborted: ['internal', 'aborted'],
  closed: ['internal', 'closed'],
  bad_status: ['internal', 'bad_status'],
  bad_json: ['internal', 'bad_json'],
};

/**
 * System errors of this machine: its resources are used up, or it has no route (to an IPv6 address without an IPv6
 * network). No provider can fix these.
 */
const OWN_NETWORK_ERRORS = new Set([
  'emfile',
  'enfile',
  'enobufs',
  'enomem',
  'eaddrnotavail',
  'enetunreach',
  'enetdown',
]);

/**
 * Classifies a request without an answer. The system's error code (`econnrefused`, `cert_has_expired`, `eai_again`) is
 * the cause if the outcome needs no other. An unexpected error is `internal`, and never counts against the route.
 */
export function classifyFailure(error: unknown): Verdict {
  const meaning = error instanceof ServiceError ? findMeaning(error) : undefined;
  if (!meaning) {
    const message = getErrorMessage(error).slice(0, 300);
    return buildVerdict('internal', 'unexpected', { detail: { message } });
  }
  const [outcome, cause] = meaning;
  const word = findSystemWord(error);
  const detail = { message: getErrorMessage(error).slice(0, 300) };
  if (word !== null && OWN_NETWORK_ERRORS.has(word)) return buildVerdict('internal', word, { detail });
  return buildVerdict(outcome, cause ?? word, { detail });
}

/** Finds the meaning of a failure. A request that a rule of ours forbids says nothing of the route. */
function findMeaning({ reason, code }: ServiceError): readonly [ProbeOutcome, string | null] | undefined {
  const known = Object.entries(MEANINGS).find(([name]) => name === reason)?.[1];
  return known ?? (code === 'refused' ? ['internal', reason] : undefined);
}

function findSystemWord(error: unknown): string | null {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code).toLowerCase() : '';
  return /^[a-z][a-z0-9_]{1,60}$/.test(code) ? code : null;
}
