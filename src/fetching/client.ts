import { Agent, type Dispatcher } from 'undici';
import { ServiceError } from '../errors.ts';
import { parseOutsideUrl } from './address.ts';
import { decodeBody } from './body.ts';
import { buildGuardedConnector } from './connector.ts';
import { startDeadline } from './deadline.ts';
import { type ExchangeOptions, fetchOnce, type RawAnswer } from './exchange.ts';
import { buildFetchFailure, buildRefusalFailure } from './failure.ts';
import { DEFAULT_LIMITS, type FetchLimits } from './limits.ts';
import { type Network, openNetwork } from './network.ts';
import { buildRedirect, buildRequest, type FetchInit, isPaying, isRedirect, type OutgoingRequest } from './request.ts';

export interface GuardedClientOptions {
  /** Also reach loopback and private addresses, and plain `http` (demo and tests). All limits stay. */
  allowPrivateNetworks: boolean;
  /** Sent with every request that names no other. */
  userAgent: string;
  limits?: Partial<FetchLimits> | undefined;
  /** What lies beneath the guard; tests put loopback there. */
  network?: Partial<Network> | undefined;
}

export interface GuardedClient {
  /**
   * Fetches an outside address. Throws a ServiceError whose `reason` is a FetchFailureReason and whose `details` are
   * `host` (the last one asked), `redirects` (followed so far) and `sent` (whether any of the last request may have
   * left: false means that nobody can have seen it).
   */
  fetch: (address: string | URL, init?: FetchInit) => Promise<FetchResponse>;
  /** Ends all that is under way with the reason `closed` and closes every connection. */
  close: () => Promise<void>;
}

/** Idle connections are kept this long, in milliseconds, and at most the second figure if the other side offers more. */
const KEPT_FOR = { keepAliveTimeout: 4_000, keepAliveMaxTimeout: 10_000 };

/**
 * Opens the guarded client, the only way by which an address that a provider or feed gave is fetched. A kept connection
 * is used again for the same scheme, host and port only, and goes where it went when its address was checked, whatever
 * the name means by then. A request that carries a payment gets a new connection for itself: on a kept one that the
 * other side is just closing, nobody could tell whether the payment arrived.
 */
export function openGuardedClient(options: GuardedClientOptions): GuardedClient {
  const { allowPrivateNetworks, userAgent } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const network = { ...openNetwork(), ...options.network };
  const closing = new AbortController();
  const { connectMs, headerBytes } = limits;
  const connect = buildGuardedConnector({ allowPrivateNetworks, connectMs, network, signal: closing.signal });
  const agentOptions = { connect, allowH2: false, maxHeaderSize: headerBytes, ...KEPT_FOR };
  const keeping = new Agent(agentOptions);
  const oneOff = new Agent({ ...agentOptions, pipelining: 0 });

  async function fetchOutside(address: string | URL, init: FetchInit = {}): Promise<FetchResponse> {
    const progress: Progress = { host: undefined, redirects: [], sent: false };
    const fetchLimits = { ...limits, ...init.limits };
    const deadline = joinDeadline(fetchLimits.totalMs, init.signal, progress);
    try {
      const url = parseOutsideUrl(String(address), { allowPrivateNetworks });
      if (!(url instanceof URL)) throw buildRefusalFailure(url);
      const request = buildRequest(url, init, userAgent);
      const { redirect: mode = 'follow', isCutAllowed = false, getWantedBytes = () => fetchLimits.bodyBytes } = init;
      const taking = { limits: fetchLimits, isCutAllowed, getWantedBytes, signal: deadline.signal };
      const context = { ...taking, keeping, oneOff, allowPrivateNetworks, mode };
      return await fetchFollowing(request, context, progress);
    } catch (error) {
      throw error instanceof ServiceError ? buildDetailedFailure(error, progress) : error;
    } finally {
      deadline.clear();
    }
  }

  return {
    fetch: fetchOutside,
    close: async () => {
      await Promise.all([keeping.destroy(), oneOff.destroy()]);
      closing.abort();
      network.close();
    },
  };
}

/** Joins the time limit and the caller's own signal into one, whose reason says which of them it was. */
function joinDeadline(totalMs: number, callerSignal: AbortSignal | undefined, progress: Progress) {
  const ending = new AbortController();
  const expire = (wasHeldUp: boolean) =>
    ending.abort(
      wasHeldUp
        ? buildFetchFailure('held_up', 'This process was too busy to wait for an answer.')
        : buildFetchFailure('timeout', `The host ${progress.host} took longer than ${totalMs} ms to answer.`),
    );
  const stop = () =>
    ending.abort(buildFetchFailure('aborted', 'The fetch was stopped by its caller.', { cause: callerSignal?.reason }));
  const stopWaiting = startDeadline(totalMs, expire);
  callerSignal?.addEventListener('abort', stop, { once: true });
  if (callerSignal?.aborted) stop();
  function clear(): void {
    stopWaiting();
    callerSignal?.removeEventListener('abort', stop);
  }
  return { signal: ending.signal, clear };
}

function buildDetailedFailure(error: ServiceError, progress: Progress): ServiceError {
  const { host, sent } = progress;
  return new ServiceError(error.code, error.message, {
    reason: error.reason,
    cause: error.cause,
    details: { ...error.details, ...(host === undefined ? {} : { host }), redirects: progress.redirects.length, sent },
  });
}

/** A whole answer, whatever its status. */
export interface FetchResponse {
  status: number;
  /** As received; `content-encoding` still says what the body was packed in. */
  headers: Headers;
  /** Content codings undone. */
  body: Uint8Array;
  /** Bytes of the body as they came over the wire. */
  receivedBytes: number;
  /** The body was longer, and this is its beginning; only where the request allows it, or wants no more. */
  isCut?: boolean | undefined;
  /** The address that answered: the last one after redirects. */
  url: string;
  /** The addresses that redirected on the way here, in order, with the status each gave. */
  redirects: readonly { status: number; url: string }[];
}

/** What one fetch has come to so far, for the details of its failure. */
interface Progress {
  host: string | undefined;
  redirects: { status: number; url: string }[];
  sent: boolean;
}

interface FollowingContext extends Omit<ExchangeOptions, 'isBodySkipped' | 'onSend'> {
  /** Keeps connections for the next request. */
  keeping: Dispatcher;
  /** Opens a connection for each request. */
  oneOff: Dispatcher;
  allowPrivateNetworks: boolean;
  mode: 'follow' | 'manual' | 'error';
}

/**
 * Makes a request and those that its redirects ask for, by hand, because undici's `redirect` asks nobody about the
 * target and hands on every header that it does not know as a credential, a signed payment among them.
 */
async function fetchFollowing(
  first: OutgoingRequest,
  context: FollowingContext,
  progress: Progress,
): Promise<FetchResponse> {
  let request = first;
  for (;;) {
    const answer = await fetchHop(request, context, progress);
    if (!isLeft(request, answer, context)) return await buildResponse(request, answer, context, progress);
    request = buildNextRequest(request, answer, context, progress);
  }
}

async function fetchHop(request: OutgoingRequest, context: FollowingContext, progress: Progress): Promise<RawAnswer> {
  progress.host = request.url.hostname;
  progress.sent = false;
  return await fetchOnce(isPaying(request) ? context.oneOff : context.keeping, request, {
    ...context,
    isBodySkipped: (status, headers) => isLeft(request, { status, headers }, context),
    onSend: () => {
      progress.sent = true;
    },
  });
}

/** Returns whether an answer is not the end: a redirect that is to be followed or to be an error. */
function isLeft(
  request: OutgoingRequest,
  answer: { status: number; headers: Headers },
  { mode }: FollowingContext,
): boolean {
  return mode !== 'manual' && !(mode === 'follow' && isPaying(request)) && isRedirect(answer.status, answer.headers);
}

function buildNextRequest(
  request: OutgoingRequest,
  answer: RawAnswer,
  { mode, limits, allowPrivateNetworks }: FollowingContext,
  progress: Progress,
): OutgoingRequest {
  const host = request.url.hostname;
  if (mode === 'error') throw buildFetchFailure('redirected', `The host ${host} answers with a redirect.`);
  if (progress.redirects.length >= limits.redirects) {
    throw buildFetchFailure('too_many_redirects', `More than ${limits.redirects} redirects, the last by ${host}.`);
  }
  const location = answer.headers.get('location') ?? '';
  const next = buildRedirect(request, answer.status, location, { allowPrivateNetworks });
  if ('reason' in next) throw buildRefusalFailure(next);
  progress.redirects.push({ status: answer.status, url: request.url.href });
  return next;
}

async function buildResponse(
  request: OutgoingRequest,
  answer: RawAnswer,
  { limits, isCutAllowed, getWantedBytes, signal }: FollowingContext,
  progress: Progress,
): Promise<FetchResponse> {
  const { status, headers, receivedBytes } = answer;
  const { decodedBytes: maxBytes } = limits;
  const options = { maxBytes, wantedBytes: getWantedBytes(status), isCutAllowed, host: request.url.hostname };
  const decoding = decodeBody(answer.body, headers.get('content-encoding'), options);
  const decoded = await waitFor(decoding, signal);
  return {
    status,
    headers,
    body: decoded.body,
    receivedBytes,
    isCut: answer.isCut || decoded.isCut,
    url: request.url.href,
    redirects: progress.redirects,
  };
}

/** Waits for a promise or the signal, whichever comes first; the promise's own outcome is then of no interest. */
function waitFor<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((done, failed) => {
    const onAbort = () => failed(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    promise.then(done, failed).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
