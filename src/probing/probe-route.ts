import { ServiceError } from '../errors.ts';
import type { GuardedClient } from '../fetching/client.ts';
import { isPayable } from '../model/outcome.ts';
import type { ProbeSample } from '../model/sample.ts';
import { isSamePrice, listTermsDifferences } from '../x402/terms-differences.ts';
import { classifyAnswer } from './classify-answer.ts';
import { judgeDifferences } from './classify-challenge.ts';
import { classifyFailure } from './classify-failure.ts';
import { findDecoyPath } from './decoy-path.ts';
import { fetchWithinOrigin, ROBOTS_DISALLOWED } from './fetch-within-origin.ts';
import { buildProbeRequest, type ProbeRequest } from './probe-request.ts';
import type { ProbedRoute } from './probed-route.ts';
import { buildVerdict, type Verdict } from './verdict.ts';

export interface ProbeOptions {
  client: Pick<GuardedClient, 'fetch'>;
  baseUrl: string;
  route: ProbedRoute;
  /** Time for each request, in milliseconds. */
  timeoutMs: number;
  now: () => Date;
  /** A number from 0 up to 1, as `Math.random` gives. */
  random: () => number;
  /**
   * Also ask a random path beside a payable route, which ought not to answer 402: one more request to the host. Once a
   * day for each host is enough.
   */
  checkWildcard?: boolean | undefined;
  /**
   * Whether the host's robots.txt lets us ask for that random path, or for where a redirect leads; without it all of
   * it.
   */
  isAllowed?: ((url: string) => boolean) | undefined;
  /** Waited for before each further request, for hosts that are asked one thing at a time. What it throws is thrown on. */
  pause?: (() => Promise<void>) | undefined;
  /** Makes a request when its turn comes, where the number made at once is limited. */
  takeTurn?: (<Result>(request: () => Promise<Result>) => Promise<Result>) | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Probes a route once: sends its example request without payment, and says what the answer means. Whatever the other
 * side does is an outcome of the sample; nothing is thrown for it and nothing is written. A probe that its caller
 * stopped is `internal` with the cause `aborted`, and no evidence of anything.
 */
export async function probeRoute(options: ProbeOptions): Promise<ProbeSample> {
  const { baseUrl, route, now, takeTurn = (make) => make() } = options;
  let started = now();
  let isAsked = false;
  const client: ProbeOptions['client'] = {
    fetch: (...request) =>
      takeTurn(() => {
        if (!isAsked) started = now();
        isAsked = true;
        return options.client.fetch(...request);
      }),
  };
  const request = buildProbeRequest(baseUrl, route);
  const verdict: Judgement = request
    ? await judge(request, { ...options, client })
    : { ...buildVerdict('blocked_address', 'bad_url'), payee_rotates: null };
  return {
    at: started.toISOString(),
    duration_ms: Math.max(0, now().getTime() - started.getTime()),
    url: request?.url.href ?? `${baseUrl}${route.path}`,
    method: route.method,
    ...verdict,
  };
}

/** A verdict, and whether a second challenge named another payee (null: none was asked for). */
type Judgement = Verdict & Pick<ProbeSample, 'payee_rotates'>;

async function judge(request: ProbeRequest, options: ProbeOptions): Promise<Judgement> {
  const { payee_rotates, ...verdict } = await comparePayees(await ask(request, options), request, options);
  return { ...(await checkDecoy(verdict, request, options)), payee_rotates };
}

/**
 * Where the payee alone tells a challenge from what is known, or besides, asks once more: a seller that names a fresh
 * payee each time does so again, and then payees say nothing.
 */
async function comparePayees(verdict: Verdict, request: ProbeRequest, options: ProbeOptions): Promise<Judgement> {
  if (!verdict.differences.some(({ fields }) => fields.includes('pay_to'))) return { ...verdict, payee_rotates: null };
  await options.pause?.();
  const again = await ask(request, options);
  if (isStopped(again)) return { ...again, payee_rotates: null };
  const seen = { ...verdict, retry_after_seconds: getLongerWait(verdict, again) };
  if (!isPayable(again.outcome) || !isSamePrice(verdict.terms, again.terms)) return { ...seen, payee_rotates: null };
  const rotates = listTermsDifferences(verdict.terms, again.terms).length > 0;
  if (!rotates) return { ...seen, payee_rotates: false };
  const differences = listTermsDifferences(options.route.terms, verdict.terms, { payeeRotates: true });
  return { ...seen, ...judgeDifferences(differences), differences, payee_rotates: true };
}

async function checkDecoy(verdict: Verdict, request: ProbeRequest, options: ProbeOptions): Promise<Verdict> {
  if (options.checkWildcard !== true || !isPayable(verdict.outcome)) return verdict;
  const path = findDecoyPath(options.route.path, options.random);
  const decoy = path === null ? undefined : buildDecoyRequest(request, path, options);
  if (!decoy || options.isAllowed?.(decoy.url.href) === false) return verdict;
  await options.pause?.();
  const beside = await ask(decoy, options);
  if (isStopped(beside)) return beside;
  const detail = {
    ...verdict.detail,
    sibling: { path: decoy.url.pathname, outcome: beside.outcome, cause: beside.cause },
  };
  const seen = { ...verdict, retry_after_seconds: getLongerWait(verdict, beside), detail };
  const isWildcard = isPayable(beside.outcome) && isSamePrice(verdict.terms, beside.terms);
  return isWildcard ? { ...seen, outcome: 'wildcard_402', cause: null } : seen;
}

/** A probe stopped at its further request is stopped as a whole: half of what it was to find out would be told as all. */
function isStopped({ outcome, cause }: Verdict): boolean {
  return outcome === 'internal' && (cause === 'aborted' || cause === 'closed');
}

/** A host may ask for rest in answer to either request. */
function getLongerWait(first: Verdict, second: Verdict): number | null {
  const waits = [first, second].flatMap(({ retry_after_seconds }) => retry_after_seconds ?? []);
  return waits.length > 0 ? Math.max(...waits) : null;
}

function buildDecoyRequest(request: ProbeRequest, path: string, { baseUrl, route }: ProbeOptions) {
  const decoy = buildProbeRequest(baseUrl, { ...route, path });
  return decoy && { ...request, url: decoy.url, invented: [] };
}

async function ask(request: ProbeRequest, options: ProbeOptions): Promise<Verdict> {
  const { client, route, now, signal } = options;
  try {
    const answer = await fetchWithinOrigin(client, request, options);
    if ('cause' in answer) {
      const { cause, status, detail } = answer;
      // What we may not ask for tells nothing of the route.
      return buildVerdict(cause === ROBOTS_DISALLOWED ? 'internal' : 'no_402', cause, { status, detail });
    }
    const { terms, payeeRotates } = route;
    return classifyAnswer(answer, { terms, payeeRotates, invented: request.invented, at: now() });
  } catch (error) {
    // Of a probe that is stopped in a pause no part may count.
    if (signal?.aborted && !(error instanceof ServiceError)) throw error;
    return classifyFailure(error);
  }
}
