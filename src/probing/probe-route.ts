import { ServiceError } from '../errors.ts';
import type { FetchResponse, GuardedClient } from '../fetching/client.ts';
import { isRedirect } from '../fetching/request.ts';
import { fetchToolCall } from '../fetching/tool-call.ts';
import type { JsonObject } from '../model/json.ts';
import { isPayable, type ProbeSample, READS_DIFFERENTLY } from '../model/probe.ts';
import { isTemplate } from '../model/request.ts';
import { isToolPath } from '../model/route.ts';
import { MAX_CHALLENGE_BYTES } from '../x402/challenge-json.ts';
import { isSamePrice, listTermsDifferences } from '../x402/terms-differences.ts';
import { readToolAnswer } from '../x402/tool-answer.ts';
import {
  type Answer,
  buildVerdict,
  classifyAnswer,
  classifyDifferences,
  classifyFailure,
  type Verdict,
} from './classify.ts';
import { buildProbeRequest, PROBED_BODY_PIECES, type ProbedRoute, type ProbeRequest } from './probe-request.ts';

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
   * True to request also a decoy path beside a payable route: a random path that should not answer 402. This is one
   * more request to the host, and once a day for each host is enough.
   */
  checkWildcard?: boolean | undefined;
  /**
   * Returns whether robots.txt allows the decoy path or the target of a redirect. Without this function everything is
   * allowed.
   */
  isAllowed?: ((url: string) => boolean) | undefined;
  /** Awaited before each further request, so that a host gets one request at a time. Its errors are thrown on. */
  pause?: (() => Promise<void>) | undefined;
  /** Makes a request when its turn comes, if the number of concurrent requests is limited. */
  takeTurn?: (<Result>(request: () => Promise<Result>) => Promise<Result>) | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Probes a route once: sends its example request without payment and classifies the answer. Everything that the host
 * does is an outcome of the sample and never an error; nothing is recorded here. A probe that its caller stopped is
 * `internal` with the cause `aborted`, which is evidence of nothing.
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
  const verdict: CheckedVerdict = request
    ? await probeWithChecks(request, { ...options, client })
    : { ...buildVerdict('blocked_address', 'bad_url'), latency_ms: null, payee_rotates: null };
  return {
    at: started.toISOString(),
    duration_ms: Math.max(0, now().getTime() - started.getTime()),
    url: request?.url.href ?? `${baseUrl}${route.path}`,
    method: route.method,
    ...verdict,
  };
}

/** A verdict, and the time that the answer took. Further requests of the probe do not count. */
type TimedVerdict = Verdict & Pick<ProbeSample, 'latency_ms'>;

/** A timed verdict, and whether a second challenge named another payee (null: there was no second request). */
type CheckedVerdict = TimedVerdict & Pick<ProbeSample, 'payee_rotates'>;

async function probeWithChecks(request: ProbeRequest, options: ProbeOptions): Promise<CheckedVerdict> {
  const { payee_rotates, ...verdict } = await comparePayees(await ask(request, options), request, options);
  return { ...(await checkDecoy(verdict, request, options)), payee_rotates };
}

/**
 * Requests a second challenge if the payee differs from the known one. If the seller names a fresh payee again, the
 * payee rotates and is not compared.
 */
async function comparePayees(
  verdict: TimedVerdict,
  request: ProbeRequest,
  options: ProbeOptions,
): Promise<CheckedVerdict> {
  if (!verdict.differences.some(({ fields }) => fields.includes('pay_to'))) return { ...verdict, payee_rotates: null };
  await options.pause?.();
  const again = await ask(request, options);
  if (isStopped(again)) return { ...again, payee_rotates: null };
  const seen = { ...verdict, retry_after_seconds: getLongerWait(verdict, again) };
  if (!isPayable(again.outcome) || !isSamePrice(verdict.terms, again.terms)) return { ...seen, payee_rotates: null };
  const rotates = listTermsDifferences(verdict.terms, again.terms).length > 0;
  if (!rotates) return { ...seen, payee_rotates: false };
  const differences = listTermsDifferences(options.route.terms, verdict.terms, { payeeRotates: true });
  const isAmbiguous = [verdict, again].some(({ cause }) => cause === READS_DIFFERENTLY);
  return { ...seen, ...classifyDifferences(differences, isAmbiguous), differences, payee_rotates: true };
}

async function checkDecoy(verdict: TimedVerdict, request: ProbeRequest, options: ProbeOptions): Promise<TimedVerdict> {
  // A tool has no address of its own beside which another could be made up.
  if (options.checkWildcard !== true || !isPayable(verdict.outcome) || isToolPath(options.route.path)) return verdict;
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

/**
 * Returns whether a probe was stopped. A stop during a further request stops the whole probe, because half a result
 * would look like a whole one.
 */
function isStopped({ outcome, cause }: Verdict): boolean {
  return outcome === 'internal' && (cause === 'aborted' || cause === 'closed');
}

/** Returns the longer of two waits: a host may ask for one in either answer. */
function getLongerWait(first: Verdict, second: Verdict): number | null {
  const waits = [first, second].flatMap(({ retry_after_seconds }) => retry_after_seconds ?? []);
  return waits.length > 0 ? Math.max(...waits) : null;
}

function buildDecoyRequest(request: ProbeRequest, path: string, { baseUrl, route }: ProbeOptions) {
  const decoy = buildProbeRequest(baseUrl, { ...route, path });
  return decoy && { ...request, url: decoy.url, invented: [] };
}

async function ask(request: ProbeRequest, options: ProbeOptions): Promise<TimedVerdict> {
  const { client, route, now, signal } = options;
  try {
    const answer = isToolPath(route.path)
      ? await fetchTool(client, request, options)
      : await fetchWithinOrigin(client, request, options);
    if ('verdict' in answer) return { ...answer.verdict, latency_ms: answer.elapsedMs };
    if ('cause' in answer) {
      const { cause, status, detail } = answer;
      // An address that robots.txt forbids says nothing about the route.
      const outcome = cause === ROBOTS_DISALLOWED ? 'internal' : 'no_402';
      return { ...buildVerdict(outcome, cause, { status, detail }), latency_ms: null };
    }
    const { terms, payeeRotates } = route;
    const verdict = classifyAnswer(answer, { terms, payeeRotates, invented: request.invented, at: now() });
    return { ...verdict, latency_ms: answer.elapsedMs };
  } catch (error) {
    // A probe that was stopped during a pause must not count in part.
    if (signal?.aborted && !(error instanceof ServiceError)) throw error;
    return { ...classifyFailure(error), latency_ms: null };
  }
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const LENGTH = 16;

/** Common segments that group routes and are followed by a name, not by a parameter. */
const COMMON_PREFIX = /^(?:api|rest|v\d{1,2}|x402|paid|pay|premium|public|tools?|agents?|data)$/;

/** An identifier; anything else may be a parameter (a number, an address, a ticker, a host name). */
const IDENTIFIER = /^[a-z][a-zA-Z_-]{0,39}$/;

/**
 * Finds a decoy path: a random path beside a route, which no seller offers. A host that answers 402 to it answers 402
 * to anything. The last segment is replaced by random letters if it surely names the route (`/v1/quote`). Otherwise it
 * may be a parameter (`/price/bitcoin`), which takes any value and may be checked only after the payment, so the
 * segment before it is replaced as well. Null if that cannot be decided (`/:id`). Other templates stay, to be filled
 * later.
 */
export function findDecoyPath(path: string, random: () => number): string | null {
  const segments = (path.split('?')[0] ?? '').split('/').filter((segment) => segment !== '');
  const [leaf, parent] = [segments.at(-1), segments.at(-2)];
  if (leaf === undefined) return `/${buildRandomWord(random)}`;
  if (parent === undefined) return IDENTIFIER.test(leaf) ? `/${buildRandomWord(random)}` : null;
  const isNamed = COMMON_PREFIX.test(parent) && IDENTIFIER.test(leaf);
  const kept = segments.slice(0, isNamed ? -1 : -2);
  // A random pair without a fixed segment before it would only match another template.
  if (!isNamed && isTemplate(`/${parent}`) && kept.length === 0) return null;
  return `/${[...kept, ...(isNamed ? [] : [buildRandomWord(random)]), buildRandomWord(random)].join('/')}`;
}

function buildRandomWord(random: () => number): string {
  return Array.from({ length: LENGTH }, () => LETTERS[Math.floor(random() * LETTERS.length)] ?? 'x').join('');
}

/** Redirects followed in one probe. */
const MAX_REDIRECTS = 3;

/** Most bytes of one answer, before and after content codings are undone. */
const MAX_BYTES = 1024 * 1024;

/**
 * Returns the most bytes to read of a body: only that of a 402 is read, up to the longest challenge and one byte more.
 */
const getWantedBytes = (status: number): number => (status === 402 ? MAX_CHALLENGE_BYTES + 1 : 0);

/** Cause of a sample if robots.txt forbids the request or the target of a redirect. */
export const ROBOTS_DISALLOWED = 'robots_disallowed';

/** A redirect that was not followed, and the reason. */
interface UnfollowedRedirect {
  cause:
    | 'redirected_elsewhere'
    | 'redirect_changes_method'
    | 'too_many_redirects'
    | 'bad_redirect'
    | typeof ROBOTS_DISALLOWED;
  status: number;
  detail: JsonObject;
}

/**
 * Makes the request of a probe and follows redirects within the origin as long as method and body stay the same: a
 * trailing slash, a moved path. A redirect to another origin is not followed, because a 402 there would be for somebody
 * else's route. A redirect that changes the method to GET is not followed either, because it asks for something else.
 * Each redirect is a request of its own: it has its own time limit, waits for its turn (`pause`), and robots.txt may
 * forbid it. `elapsedMs` of the answer is that of all requests, without the pauses. Throws what the guarded client
 * throws.
 */
async function fetchWithinOrigin(
  client: Pick<GuardedClient, 'fetch'>,
  request: ProbeRequest,
  { timeoutMs, signal, isAllowed, pause }: Pick<ProbeOptions, 'timeoutMs' | 'signal' | 'isAllowed' | 'pause'>,
): Promise<FetchResponse | UnfollowedRedirect> {
  const { method, headers, body } = request;
  const size = { bodyBytes: MAX_BYTES, bodyPieces: PROBED_BODY_PIECES, decodedBytes: MAX_BYTES };
  const limits = { totalMs: timeoutMs, ...size };
  let url = request.url;
  let elapsedMs = 0;
  for (let followed = 0; ; followed += 1) {
    const response = await client.fetch(url, {
      method,
      headers,
      body,
      redirect: 'manual',
      signal,
      limits,
      getWantedBytes,
    });
    const { status } = response;
    elapsedMs += response.elapsedMs;
    if (!isRedirect(status, response.headers)) return { ...response, elapsedMs };
    const next = getRedirectTarget(url, method, response);
    if (!(next instanceof URL)) return next;
    if (followed === MAX_REDIRECTS) return { cause: 'too_many_redirects', status, detail: {} };
    if (isAllowed?.(next.href) === false) {
      return { cause: ROBOTS_DISALLOWED, status, detail: { target: next.pathname.slice(0, 300) } };
    }
    url = next;
    await pause?.();
  }
}

function getRedirectTarget(url: URL, method: string, { status, headers }: FetchResponse): URL | UnfollowedRedirect {
  const target = URL.parse(headers.get('location') ?? '', url);
  if (!target) return { cause: 'bad_redirect', status, detail: {} };
  const detail = { target: target.origin.slice(0, 300) };
  if (target.origin !== url.origin) return { cause: 'redirected_elsewhere', status, detail };
  const isMethodKept = method === 'GET' || method === 'HEAD' || status === 307 || status === 308;
  if (!isMethodKept) return { cause: 'redirect_changes_method', status, detail };
  return target;
}

/** JSON-RPC's code for a method that a server does not have. */
const METHOD_NOT_FOUND = -32_601;

/**
 * Calls a tool without payment. Returns its request for payment as a 402, any answer without such a request as it came
 * over HTTP, or its verdict if the server reports an error in the words of MCP. Throws what the guarded client throws.
 */
async function fetchTool(
  client: Pick<GuardedClient, 'fetch'>,
  { url, headers, body = '' }: ProbeRequest,
  { timeoutMs, signal, pause }: Pick<ProbeOptions, 'timeoutMs' | 'signal' | 'pause'>,
): Promise<(Answer & { elapsedMs: number }) | { verdict: Verdict; elapsedMs: number }> {
  const limits = { totalMs: timeoutMs, bodyBytes: 2 * MAX_CHALLENGE_BYTES, decodedBytes: 2 * MAX_CHALLENGE_BYTES };
  const call = { url, headers, message: body, limits, signal, pause };
  const { response, message } = await fetchToolCall(client, call);
  const { status, elapsedMs } = response;
  const answer = readToolAnswer(message);
  switch (answer.kind) {
    case 'challenge': {
      const asked = new TextEncoder().encode(JSON.stringify(answer.challenge));
      return { status: 402, headers: new Headers(), body: asked, isTool: true, elapsedMs };
    }
    case 'failed': {
      const isMissing = answer.code === METHOD_NOT_FOUND;
      const verdict = isMissing
        ? buildVerdict('no_402', 'no_such_tool', { status })
        : buildVerdict('input_rejected', 'tool_refused', { status });
      return { verdict, elapsedMs };
    }
    case 'product':
      return { ...response, elapsedMs };
    case 'no_rpc':
      if (status < 200 || status > 299) return { ...response, elapsedMs };
      return { verdict: buildVerdict('malformed', 'no_mcp_answer', { status }), elapsedMs };
  }
}
