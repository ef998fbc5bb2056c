import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that systems hand out by themselves, of which another process would take the one that was found. */
const [FIRST, COUNT] = [10_000, 20_000];

/** Finds a port that nothing listens on, for a process that has to be told one. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
