import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/**
 * What the network does: `pass` hands on all that comes, `refuse` takes no connection, `swallow` loses all that either side sends,
 * and `cut` loses the rest of each answer after a few bytes.
 */
export type NetworkFault = 'pass' | 'refuse' | 'swallow' | 'cut';

/** A network between a server and those who ask it, which can be made to fail. */
export interface FaultyProxy {
  readonly port: number;
  /** Changes what the network does, to open connections and new ones alike. */
  set(fault: NetworkFault): void;
  close(): Promise<void>;
}

/** How much of an answer still comes through where answers are cut, in bytes. */
const CUT_BYTES = 20;

/** Opens a proxy on loopback before the port that `findPort` returns at each new connection. */
export async function openFaultyProxy(findPort: () => number): Promise<FaultyProxy> {
  let fault: NetworkFault = 'pass';
  const open = new Set<Socket>();
  /** Hands on what one side sends. What was lost is never sent again, so that the connection is of no more use. */
  const handOn = (from: Socket, to: Socket, isAnswer: boolean) => {
    let [isLost, left] = [false, CUT_BYTES];
    from.on('data', (bytes: Buffer) => {
      if (fault === 'swallow' || isLost) {
        isLost = true;
      } else if (fault === 'cut' && isAnswer) {
        to.write(bytes.subarray(0, left));
        left = Math.max(0, left - bytes.length);
        isLost = left === 0;
      } else to.write(bytes);
    });
    from.on('error', () => undefined);
    from.on('close', () => {
      open.delete(from);
      // Of a network that loses everything, the end of a connection is lost, too.
      if (!isLost && fault !== 'swallow') to.destroy();
    });
  };
  const server = createServer((client) => {
    open.add(client);
    if (fault === 'refuse') return void client.resetAndDestroy();
    const target = connect(findPort(), '127.0.0.1');
    open.add(target);
    handOn(client, target, false);
    handOn(target, client, true);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' ? (address?.port ?? 0) : 0,
    set(next) {
      fault = next;
      if (next === 'refuse') for (const socket of open) socket.resetAndDestroy();
    },
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
