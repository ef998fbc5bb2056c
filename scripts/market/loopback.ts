import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';

/** A server on loopback. */
export interface Serving {
  /** Its origin, without a slash at the end. */
  readonly url: string;
  close(): Promise<void>;
}

type Answering = (request: Request) => Response | Promise<Response>;

/** Opens a server on a free port of loopback. `close` cuts off open connections. */
export async function openServer(answer: Answering): Promise<Serving> {
  const server = createServer(getRequestListener(answer, { overrideGlobalObjects: false }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
