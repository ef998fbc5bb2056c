import type { Terms } from '../model/terms.ts';
import { readChallenge } from '../x402/read-challenge.ts';
import { classifyChallenge } from './classify-challenge.ts';
import { parseRetryAfter } from './retry-after.ts';
import { buildVerdict, type Verdict } from './verdict.ts';

/** An answer, whole, content codings undone. */
export interface Answer {
  status: number;
  headers: Headers;
  body: Uint8Array;
}

export interface AnswerContext {
  terms: readonly Terms[];
  payeeRotates?: boolean | undefined;
  /** Path parameters whose values the probe made up. */
  invented: readonly string[];
  /** When the answer came, for dates in it. */
  at: Date;
}

/** Statuses that find fault with what was sent, not with who sent it (RFC 9110 section 15.5). */
const INPUT_STATUSES = new Set([400, 406, 411, 412, 413, 414, 415, 417, 422, 428, 431]);

/**
 * Tells what an answer to an unpaid request means. Pure. A `not found` for a path
 * whose parameters were made up speaks of the parameters, so it is `input_rejected`. Redirects that may be followed do
 * not come here.
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

/** Lists the methods of `Allow` (RFC 9110 section 10.2.1), as far as they look like methods. */
function listAllowed(headers: Headers): string[] {
  const names = (headers.get('allow') ?? '').split(',').map((name) => name.trim().toUpperCase());
  return [...new Set(names.filter((name) => /^[A-Z]{3,16}$/.test(name)))].slice(0, 10);
}
