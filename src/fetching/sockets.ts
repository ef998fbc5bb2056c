import { isIP, type LookupFunction, connect as openTcp, type Socket } from 'node:net';
import { connect as openTls } from 'node:tls';

/** How long one of several addresses may take before the next is tried (RFC 8305 proposes 250 ms, too short for afar). */
const NEXT_ADDRESS_AFTER_MS = 1000;

/**
 * Opens a TCP connection to the first of the given addresses that takes it. Resolves nothing: the name given to the
 * system cannot exist, so whatever happens inside, only these addresses can be dialled.
 */
export function openTcpSocket(addresses: readonly string[], port: number, signal: AbortSignal): Promise<Socket> {
  const pinned = addresses.map((address) => ({ address, family: isIP(address) }));
  const lookup: LookupFunction = (_name, _options, callback) => callback(null, pinned);
  const socket = openTcp({
    host: 'pinned.invalid',
    port,
    lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
    noDelay: true,
    keepAlive: true,
  });
  return waitUntilReady(socket, 'connect', signal);
}

/** Starts TLS on an open connection and checks the certificate against the host (a name, or an address as text). */
export function openTlsSocket(
  tcp: Socket,
  host: string,
  trustedRoots: string | undefined,
  signal: AbortSignal,
): Promise<Socket> {
  const socket = openTls({
    socket: tcp,
    host,
    // An address is no server name (RFC 6066 section 3).
    ...(isIP(host) ? {} : { servername: host }),
    ...(trustedRoots === undefined ? {} : { ca: trustedRoots }),
    ALPNProtocols: ['http/1.1'],
    // Said outright, so that NODE_TLS_REJECT_UNAUTHORIZED cannot switch it off.
    rejectUnauthorized: true,
  });
  return waitUntilReady(socket, 'secureConnect', signal);
}

/** Waits for a promise or the signal, whichever comes first; the promise's own outcome is then of no interest. */
export function waitFor<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((done, failed) => {
    const onAbort = () => failed(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    promise.then(done, failed).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/**
 * Waits until a socket is ready; one that does not become so is destroyed, so no half-open socket is left behind. The
 * listeners stay: an error between being ready and being taken over must find somebody listening.
 */
async function waitUntilReady<S extends Socket>(
  socket: S,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
): Promise<S> {
  const ready = new Promise<void>((done, failed) => {
    socket.on(event, done);
    socket.on('error', failed);
    socket.on('close', () => failed(new Error('the connection was closed')));
  });
  try {
    await waitFor(ready, signal);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}
