import type { GuardedClient } from '../fetching/client.ts';
import type { ProbeSample } from '../model/sample.ts';
import { isPayable } from '../model/sample.ts';
import { classifyAnswer } from './classify-answer.ts';
import { classifyFailure } from './classify-failure.ts';
import { fetchWithinOrigin } from './fetch-within-origin.ts';
import { buildProbeRequest, type ProbeRequest } from './probe-request.ts';
import type { ProbedRoute } from './probed-route.ts';
import { findSiblingPath } from './sibling-path.ts';
import { isSamePrice } from './terms-differences.ts';
import { buildVerdict, type Verdict } from './verdict.ts';

export interface ProbeOptions {
  client: GuardedClient;
  baseUrl: string;
  route: ProbedRoute;
  /** Time for the whole of one request, redirects included, in milliseconds. */
  timeoutMs: number;
  now: () => Date;
  /** A number from 0 up to 1, as `Math.random` gives. */
  random: () => number;
  /**
   * Also ask a random path beside a payable route, which ought not to answer 402: one more request to the host. Once a
   * day for each host is enough.
   */
  checkWildcard?: boolean | undefined;
  /** Waited for before that further request, for hosts that are asked one thing at a time. What it throws is thrown on. */
  pause?: (() => Promise<void>) | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Probes a route once: sends its example request without payment, and says what the answer means. Whatever the other side
 * does is an outcome of the sample; nothing is thrown for it and nothing is written. A probe that its caller stopped is
 * `internal` with the cause `aborted`, and no evidence of anything.
 */
export async function probeRoute(options: ProbeOptions): Promise<ProbeSample> {
  const { baseUrl, route, now } = options;
  const started = now();
  const request = buildProbeRequest(baseUrl, route);
  const verdict = request ? await judge(request, options) : buildVerdict('blocked_address', 'bad_url');
  return {
    at: started.toISOString(),
    duration_ms: Math.max(0, now().getTime() - started.getTime()),
    url: request?.url.href ?? `${baseUrl}${route.path}`,
    method: route.method,
    ...verdict,
  };
}

async function judge(request: ProbeRequest, options: ProbeOptions): Promise<Verdict> {
  const verdict = await ask(request, options);
  if (options.checkWildcard !== true || !isPayable(verdict.outcome)) return verdict;
  const path = findSiblingPath(options.route.path, options.random);
  const sibling = path === null ? undefined : buildSiblingRequest(request, path, options);
  if (!sibling) return verdict;
  await options.pause?.();
  const beside = await ask(sibling, options);
  const detail = {
    ...verdict.detail,
    sibling: { path: sibling.url.pathname, outcome: beside.outcome, cause: beside.cause },
  };
  const isWildcard = isPayable(beside.outcome) && isSamePrice(verdict.terms, beside.terms);
  return isWildcard ? { ...verdict, outcome: 'wildcard_402', cause: null, detail } : { ...verdict, detail };
}

function buildSiblingRequest(request: ProbeRequest, path: string, { baseUrl, route }: ProbeOptions) {
  const sibling = buildProbeRequest(baseUrl, { ...route, path });
  return sibling && { ...request, url: sibling.url, invented: [] };
}

async function ask(request: ProbeRequest, { client, route, timeoutMs, signal, now }: ProbeOptions): Promise<Verdict> {
  try {
    const answer = await fetchWithinOrigin(client, request, { timeoutMs, signal });
    if ('cause' in answer)
      return buildVerdict('no_402', answer.cause, { status: answer.status, detail: answer.detail });
    const { terms, payeeRotates } = route;
    return classifyAnswer(answer, { terms, payeeRotates, invented: request.invented, at: now() });
  } catch (error) {
    return classifyFailure(error);
  }
}
