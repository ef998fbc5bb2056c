import { getErrorMessage, ServiceError } from '../errors.ts';
import type { FetchFailureReason } from '../fetching/failure.ts';
import type { ProbeOutcome } from '../model/outcome.ts';
import { buildVerdict, type Verdict } from './verdict.ts';

/** What each failure of the guarded client means for a route. Null: the outcome's own name, so no cause is needed. */
const MEANINGS: Readonly<Record<FetchFailureReason, readonly [ProbeOutcome, string | null]>> = {
  // The address itself: nothing was asked, so nothing is known.
  bad_url: ['blocked_address', 'bad_url'],
  not_https: ['blocked_address', 'not_https'],
  userinfo: ['blocked_address', 'userinfo'],
  blocked_address: ['blocked_address', null],
  blocked_host: ['blocked_address', 'blocked_host'],
  blocked_port: ['blocked_address', 'blocked_port'],
  name_not_resolved: ['name_not_resolved', null],
  refused: ['refused', null],
  tls: ['tls', null],
  // The host took the request and broke off.
  disconnected: ['server_error', 'disconnected'],
  timeout: ['timeout', null],
  too_large: ['too_large', null],
  too_many_redirects: ['no_402', 'too_many_redirects'],
  redirected: ['no_402', 'redirected'],
  malformed: ['malformed', 'bad_http'],
  // Ours: a request that cannot be sent, a probe that was stopped, an answer nobody asked to be read as JSON.
  held_up: ['internal', 'held_up'],
  bad_request: ['internal', 'bad_request'],
  aborted: ['internal', 'aborted'],
  closed: ['internal', 'closed'],
  bad_status: ['internal', 'bad_status'],
  bad_json: ['internal', 'bad_json'],
};

/**
 * What the system says when this machine is at its end, or has no way out at all (an address of version 6 only, where
 * there is no such network here): nothing that a provider could mend.
 */
const OUR_OWN = new Set(['emfile', 'enfile', 'enobufs', 'enomem', 'eaddrnotavail', 'enetunreach', 'enetdown']);

/**
 * Tells what the absence of an answer means. The system's own word (`econnrefused`, `cert_has_expired`, `eai_again`) is
 * the cause where the outcome alone says all the rest. What no rule foresees is `internal`, never the route's fault.
 */
export function classifyFailure(error: unknown): Verdict {
  const meaning = error instanceof ServiceError ? findMeaning(error.reason) : undefined;
  if (!meaning) {
    const message = getErrorMessage(error).slice(0, 300);
    return buildVerdict('internal', 'unexpected', { detail: { message } });
  }
  const [outcome, cause] = meaning;
  const word = findSystemWord(error);
  const detail = { message: getErrorMessage(error).slice(0, 300) };
  if (word !== null && OUR_OWN.has(word)) return buildVerdict('internal', word, { detail });
  return buildVerdict(outcome, cause ?? word, { detail });
}

function findMeaning(reason: string): readonly [ProbeOutcome, string | null] | undefined {
  return Object.entries(MEANINGS).find(([name]) => name === reason)?.[1];
}

function findSystemWord(error: unknown): string | null {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code).toLowerCase() : '';
  return /^[a-z][a-z0-9_]{1,60}$/.test(code) ? code : null;
}
