import { isIP, type Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { getErrorMessage, type ServiceError } from '../errors.ts';
import { findAddressProblem } from './address-ranges.ts';
import { startDeadline } from './deadline.ts';
import { buildFetchFailure, type FetchFailureReason } from './failure.ts';
import type { Network } from './network.ts';
import { openTcpSocket, openTlsSocket, waitFor } from './sockets.ts';

export interface ConnectorOptions {
  allowPrivateNetworks: boolean;
  connectMs: number;
  network: Network;
}

/** Opens connections for undici, and can end all that are still being opened. */
export interface GuardedConnector {
  connect: buildConnector.connector;
  /** Ends what is being opened now, and everything that is asked for later. */
  close: () => void;
}

/**
 * Builds the only way by which the guarded client reaches the network. Per connection the host is resolved exactly
 * once, all its addresses are checked (one bad address refuses the name: it might be the next one dialled), and
 * precisely those are dialled. The host stays the name for SNI and certificates. undici asks no resolver for IP
 * literals, so they are checked here too, whatever was checked before. Hands undici a ServiceError (`blocked_address`,
 * `name_not_resolved`, `refused`, `tls`, `timeout`, `closed`) where no connection comes about.
 */
export function buildGuardedConnector(options: ConnectorOptions): GuardedConnector {
  const opening = new Set<AbortController>();
  let closed = false;

  async function open(target: buildConnector.Options): Promise<Socket> {
    const host = target.hostname;
    if (closed) throw fail('closed', host, 'was not asked: the client is closed');
    const ending = new AbortController();
    const expire = (wasHeldUp: boolean) =>
      ending.abort(
        wasHeldUp
          ? buildFetchFailure('held_up', 'This process was too busy to open a connection.')
          : fail('timeout', host, `took longer than ${options.connectMs} ms to connect to`),
      );
    const stopWaiting = startDeadline(options.connectMs, expire);
    opening.add(ending);
    try {
      return await openConnection(target, options, ending.signal);
    } finally {
      stopWaiting();
      opening.delete(ending);
    }
  }

  return {
    connect: (target, callback) => {
      open(target).then(
        (socket) => callback(null, socket),
        (error: Error) => callback(error, null),
      );
    },
    close: () => {
      closed = true;
      for (const ending of opening) ending.abort(buildFetchFailure('closed', 'The client was closed.'));
    },
  };
}

async function openConnection(
  target: buildConnector.Options,
  options: ConnectorOptions,
  signal: AbortSignal,
): Promise<Socket> {
  const { reroute, trustedRoots } = options.network;
  const host = target.hostname;
  const isSecure = target.protocol === 'https:';
  const addresses = await waitFor(listCheckedAddresses(host, options), signal);
  const port = Number(target.port) || (isSecure ? 443 : 80);
  const tcp = await orFail(openTcpSocket(addresses.map(reroute), port, signal), signal, (cause) =>
    fail(isSystemTimeout(cause) ? 'timeout' : 'refused', host, 'does not take connections', cause),
  );
  if (!isSecure) return tcp;
  return orFail(openTlsSocket(tcp, host, trustedRoots, signal), signal, (cause) =>
    fail('tls', host, 'offers no trustworthy TLS', cause),
  );
}

/** Resolves a host once and gives its addresses, all of them checked. */
async function listCheckedAddresses(host: string, options: ConnectorOptions): Promise<string[]> {
  const addresses = isIP(host) ? [host] : await listAddresses(host, options.network);
  for (const address of addresses) {
    const problem = findAddressProblem(address, options);
    if (problem)
      throw fail('blocked_address', host, `has the address ${address}, which is not a public one (${problem})`);
  }
  return addresses;
}

async function listAddresses(host: string, network: Network): Promise<string[]> {
  try {
    const resolved = await network.resolve(host);
    if (resolved.length > 0) return [...resolved];
  } catch (error) {
    throw fail('name_not_resolved', host, 'could not be resolved to an address', error);
  }
  throw fail('name_not_resolved', host, 'has no address');
}

/** Gives the socket or our own failure: the signal's reason where it was the signal that ended the attempt. */
async function orFail(
  opening: Promise<Socket>,
  signal: AbortSignal,
  buildError: (cause: unknown) => ServiceError,
): Promise<Socket> {
  try {
    return await opening;
  } catch (error) {
    throw signal.aborted ? signal.reason : buildError(error);
  }
}

function isSystemTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ETIMEDOUT';
}

function fail(reason: FetchFailureReason, host: string, what: string, cause?: unknown): ServiceError {
  const because = cause === undefined ? '' : ` (${getCauseWord(cause)})`;
  return buildFetchFailure(reason, `The host ${host} ${what}${because}.`, {
    details: { host },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** The system's or OpenSSL's own word for a failure (`ECONNREFUSED`, `CERT_HAS_EXPIRED`), else its text. */
function getCauseWord(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : getErrorMessage(cause);
}
