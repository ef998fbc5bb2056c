import { Agent } from 'undici';
import { ServiceError } from '../errors.ts';
import { parseOutsideUrl } from './address.ts';
import { buildGuardedConnector } from './connector.ts';
import { startDeadline } from './deadline.ts';
import { buildFetchFailure, buildRefusalFailure } from './failure.ts';
import { type FetchResponse, fetchFollowing, type Progress } from './following.ts';
import { DEFAULT_LIMITS, type FetchLimits } from './limits.ts';
import { type Network, REAL_NETWORK } from './network.ts';
import { buildRequest, type FetchInit } from './request.ts';

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
 * Opens the guarded client, the only way by which an address that a provider or feed gave is fetched (architecture
 * decision 7). A kept connection is used again for the same scheme, host and port only, and goes where it went when
 * its address was checked, whatever the name means by then. A request that carries a payment gets a new connection for
 * itself: on a kept one that the other side is just closing, nobody could tell whether the payment arrived.
 */
export function openGuardedClient(options: GuardedClientOptions): GuardedClient {
  const { allowPrivateNetworks, userAgent } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const network = { ...REAL_NETWORK, ...options.network };
  const connector = buildGuardedConnector({ allowPrivateNetworks, connectMs: limits.connectMs, network });
  const agentOptions = { connect: connector.connect, allowH2: false, maxHeaderSize: limits.headerBytes, ...KEPT_FOR };
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
      const mode = init.redirect ?? 'follow';
      const isCutAllowed = init.isCutAllowed ?? false;
      const { signal } = deadline;
      const context = { keeping, oneOff, allowPrivateNetworks, limits: fetchLimits, signal, mode, isCutAllowed };
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
      connector.close();
      await Promise.all([keeping.destroy(), oneOff.destroy()]);
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
