import type { Server } from 'node:http';
import { getErrorMessage, isFileError, ServiceError } from './errors.ts';

/** The address on which a server listens, and the prefix of its settings: `METRICS_` for `METRICS_HOST` and `METRICS_PORT`. */
interface ListenAddress {
  readonly host: string;
  readonly port: number;
  readonly settings?: '' | 'METRICS_';
}

/**
 * Listens on a host and port. Throws `conflict` for a port in use, and `bad_input` for an address that is not of this machine.
 */
export async function listen(server: Server, place: ListenAddress): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(buildListenError(error, place)));
    server.listen({ host: place.host, port: place.port }, resolve);
  });
}

/** Returns the URL at which a server listens. */
export function getUrl(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') return '';
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}

function buildListenError(error: Error, { host, port, settings = '' }: ListenAddress): ServiceError {
  if (isFileError(error, 'EADDRINUSE')) {
    return new ServiceError('conflict', `Port ${port} on ${host} is in use by another program.`, {
      hint: `Stop that one, or set ${settings}PORT to another port.`,
      reason: 'port_in_use',
      cause: error,
    });
  }
  return new ServiceError('bad_input', `The service cannot listen on ${host}:${port}: ${getErrorMessage(error)}.`, {
    hint: `Set ${settings}HOST to an address of this machine, and ${settings}PORT to one this user may open.`,
    reason: 'cannot_listen',
    cause: error,
  });
}
