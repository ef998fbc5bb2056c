import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { type GuardedClient, type GuardedClientOptions, openGuardedClient } from '../../src/fetching/client.ts';
import type { Network } from '../../src/fetching/network.ts';
import { buildCertificate } from './certificate.ts';

/** An address that passes every check. The tests' network connects to loopback for it, and for nothing else. */
export const PUBLIC_ADDRESS = '93.184.216.34';
export const PUBLIC_ADDRESS_V6 = '2606:2800:21f:cb07:6820:80da:af6b:8b2c';

export interface Received {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

const certificate = buildCertificate({ names: ['provider.example', '*.provider.example', PUBLIC_ADDRESS] });

/** Listens on loopback at any port, and counts connections. */
export interface Listening {
  port: number;
  getConnectionCount: () => number;
  /** Connections that are open now. */
  getOpenCount: () => number;
  close: () => Promise<void>;
}

export async function listen(server: Server, host = '127.0.0.1'): Promise<Listening> {
  const open = new Set<Socket>();
  let count = 0;
  server.on('connection', (socket: Socket) => {
    count += 1;
    open.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => open.delete(socket));
  });
  server.listen(0, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    getConnectionCount: () => count,
    getOpenCount: () => open.size,
    close: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A listener on the loopback addresses of all available families that counts connections and hangs up. */
export async function openCounter(): Promise<Listening> {
  const build = () => createTcpServer((socket) => socket.destroy());
  try {
    return await listen(build(), '::');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EAFNOSUPPORT')) throw error;
    return await listen(build(), '0.0.0.0');
  }
}

export interface Outside extends Listening {
  /** The requests to the server, in order. */
  received: Received[];
  /** Names that the client resolved, and addresses that it connected to, in order. */
  resolved: string[];
  dialled: string[];
  /** Returns an address of the server, with a name that resolves to a public address. */
  url: (path?: string, host?: string) => string;
  /** A client with the real checks on this loopback network. */
  openClient: (overrides?: Partial<GuardedClientOptions>) => GuardedClient;
  trustedRoots: string;
  /** The loopback network, for what opens a client of its own. */
  network: Partial<Network>;
}

/** Opens an HTTPS server on loopback that a client with the real checks can reach as `provider.example`. */
export async function openOutside(
  handler: (request: Received, ...rest: Parameters<RequestListener>) => void,
): Promise<Outside> {
  const received: Received[] = [];
  const server = createHttpsServer({ ...certificate, keepAliveTimeout: 5_000 }, async (request, response) => {
    const seen = {
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      body: await readText(request),
    };
    received.push(seen);
    handler(seen, request, response);
  });
  return joinOutside(await listen(server), received);
}

/** Puts a listener with any protocol behind `provider.example`. */
export function joinOutside(listening: Listening, received: Received[] = []): Outside {
  const resolved: string[] = [];
  const dialled: string[] = [];
  const clients: GuardedClient[] = [];
  const network = {
    resolve: async (name: string) => {
      resolved.push(name);
      return [PUBLIC_ADDRESS];
    },
    reroute: (address: string) => {
      dialled.push(address);
      return address === PUBLIC_ADDRESS || address === PUBLIC_ADDRESS_V6 ? '127.0.0.1' : address;
    },
    trustedRoots: certificate.cert,
  };
  return {
    ...listening,
    received,
    resolved,
    dialled,
    trustedRoots: certificate.cert,
    network,
    url: (path = '/', host = 'provider.example') => `https://${host}:${listening.port}${path}`,
    openClient: (overrides = {}) => {
      const client = openGuardedClient({
        allowPrivateNetworks: false,
        userAgent: 'test-agent/1',
        ...overrides,
        network: { ...network, ...overrides.network },
      });
      clients.push(client);
      return client;
    },
    close: async () => {
      await Promise.all(clients.map((client) => client.close()));
      await listening.close();
    },
  };
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
