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
  /** True to allow also loopback and private addresses, and plain `http` (demo and tests). All limits stay. */
  allowPrivateNetworks: boolean;
  /** User agent of requests without one of their own. */
  userAgent: string;
  limits?: Partial<FetchLimits> | undefined;
  /** The network below the checks; tests replace it with loopback. */
  network?: Partial<Network> | undefined;
}

export interface GuardedClient {
  /**
   * Fetches an outside address. Throws a ServiceError whose `reason` is a FetchFailureReason and whose `details` are
   * `host` (of the last request), `redirects` (followed so far) and `sent` (false if nothing of the last request left
   * this machine, so nobody can have seen it).
   */
  fetch: (address: string | URL, init?: FetchInit) => Promise<FetchResponse>;
  /** Ends all fetches with the reason `closed` and closes every connection. */
  close: () => Promise<void>;
}

/** Times for which idle connections are kept, in milliseconds: by default, and at most if the server offers more. */
const KEEP_ALIVE = { keepAliveTimeout: 4_000, keepAliveMaxTimeout: 10_000 };

/**
 * Opens the guarded client, the only way to fetch an address from a provider or feed. An idle connection is reused only
 * for the same scheme, host and port, so it leads to the address that was checked, even if the name resolves to another
 * one by now. A request with a payment gets a new connection of its own: if the server closes an idle connection at
 * that moment, nobody could know whether the payment arrived.
 */
export function openGuardedClient(options: GuardedClientOptions): GuardedClient {
  const { allowPrivateNetworks, userAgent } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const network = { ...openNetwork(), ...options.network };
  const closing = new AbortController();
  const { connectMs, headerBytes } = limits;
  const connect = buildGuardedConnector({ allowPrivateNetworks, connectMs, network, signal: closing.signal });
  const agentOptions = { connect, allowH2: false, maxHeaderSize: headerBytes, ...KEEP_ALIVE };
  const keepAliveAgent = new Agent(agentOptions);
  const singleUseAgent = new Agent({ ...agentOptions, pipelining: 0 });

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
      const context = { ...taking, keepAliveAgent, singleUseAgent, allowPrivateNetworks, mode };
      return await fetchWithRedirects(request, context, progress);
    } catch (error) {
      throw error instanceof ServiceError ? buildDetailedFailure(error, progress) : error;
    } finally {
      deadline.clear();
    }
  }

  return {
    fetch: fetchOutside,
    close: async () => {
      await Promise.all([keepAliveAgent.destroy(), singleUseAgent.destroy()]);
      closing.abort();
      network.close();
    },
  };
}

/** Joins the time limit and the caller's signal into one signal, whose reason says which of them ended the fetch. */
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
  /** Headers as received; `content-encoding` still names the original coding. */
  headers: Headers;
  /** The body with its content codings undone. */
  body: Uint8Array;
  /** Bytes of the body as received. */
  receivedBytes: number;
  /** True if this is only the beginning of the body, because the request allows that or wants no more. */
  isCut?: boolean | undefined;
  /** The address that answered, after redirects. */
  url: string;
  /** The addresses that redirected, in order, with their statuses. */
  redirects: readonly { status: number; url: string }[];
  /**
   * Time that the answering address took, from the first byte of the request to the last of the answer, in whole
   * milliseconds. Opening the connection is left out: a kept one needs no opening.
   */
  elapsedMs: number;
}

/** The progress of one fetch, for the details of its failure. */
interface Progress {
  host: string | undefined;
  redirects: { status: number; url: string }[];
  sent: boolean;
}

interface FollowingContext extends Omit<ExchangeOptions, 'isBodySkipped' | 'onSend'> {
  /** Keeps connections for later requests. */
  keepAliveAgent: Dispatcher;
  /** Opens a new connection for each request. */
  singleUseAgent: Dispatcher;
  allowPrivateNetworks: boolean;
  mode: 'follow' | 'manual';
}

/**
 * Makes a request and follows its redirects. undici's own `redirect` is not used, because it does not check the target
 * and forwards all headers that it does not know as credentials, including signed payments.
 */
async function fetchWithRedirects(
  first: OutgoingRequest,
  context: FollowingContext,
  progress: Progress,
): Promise<FetchResponse> {
  let request = first;
  for (;;) {
    const answer = await fetchHop(request, context, progress);
    if (!isFollowed(request, answer, context)) return await buildResponse(request, answer, context, progress);
    request = buildNextRequest(request, answer, context, progress);
  }
}

async function fetchHop(request: OutgoingRequest, context: FollowingContext, progress: Progress): Promise<RawAnswer> {
  progress.host = request.url.hostname;
  progress.sent = false;
  return await fetchOnce(isPaying(request) ? context.singleUseAgent : context.keepAliveAgent, request, {
    ...context,
    isBodySkipped: (status, headers) => isFollowed(request, { status, headers }, context),
    onSend: () => {
      progress.sent = true;
    },
  });
}

/** Returns whether an answer is a redirect that is followed. */
function isFollowed(
  request: OutgoingRequest,
  answer: { status: number; headers: Headers },
  { mode }: FollowingContext,
): boolean {
  return mode === 'follow' && !isPaying(request) && isRedirect(answer.status, answer.headers);
}

function buildNextRequest(
  request: OutgoingRequest,
  answer: RawAnswer,
  { limits, allowPrivateNetworks }: FollowingContext,
  progress: Progress,
): OutgoingRequest {
  const host = request.url.hostname;
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
    elapsedMs: answer.elapsedMs,
  };
}

/** Waits for a promise or the signal, whichever comes first. After the signal the result of the promise is ignored. */
function waitFor<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((done, failed) => {
    const onAbort = () => failed(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    promise.then(done, failed).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
