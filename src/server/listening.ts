import type { Server } from 'node:http';
import type { Config } from '../config.ts';
import { getErrorMessage, ServiceError } from '../errors.ts';
import { isFileError } from '../release/folders.ts';

/** How long requests in flight may take once the server is told to stop, and how often idle connections are closed. */
const GRACE_MS = 10_000;
const IDLE_CHECK_MS = 50;

/** Listens where the settings say. Throws `conflict` for a port in use and `bad_input` for an address that is not ours. */
export async function listen(server: Server, { host, port }: Config): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(buildListenError(error, host, port)));
    server.listen({ host, port }, resolve);
  });
}

/** Gives the address at which a server listens. */
export function getUrl(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') return '';
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}

/**
 * Takes no new connection, lets requests in flight finish and closes each connection after its last answer. Those that
 * are not done in time are cut off.
 */
export async function drain(server: Server, graceMs = GRACE_MS): Promise<void> {
  const closeIdle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
  const cutOff = setTimeout(() => server.closeAllConnections(), graceMs);
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  clearInterval(closeIdle);
  clearTimeout(cutOff);
}

function buildListenError(error: Error, host: string, port: number): ServiceError {
  if (isFileError(error, 'EADDRINUSE')) {
    return new ServiceError('conflict', `Port ${port} on ${host} is in use by another program.`, {
      hint: 'Stop that one, or set PORT to another port.',
      reason: 'port_in_use',
      cause: error,
    });
  }
  return new ServiceError('bad_input', `The service cannot listen on ${host}:${port}: ${getErrorMessage(error)}.`, {
    hint: 'Set HOST to an address of this machine, and PORT to one this user may open.',
    reason: 'cannot_listen',
    cause: error,
  });
}
