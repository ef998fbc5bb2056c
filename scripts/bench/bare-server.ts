import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One answer to send, byte for byte, whatever is asked. */
export interface BareAnswer {
  headers: Record<string, string>;
  /** The body in base64, as it travels between processes. */
  body: string;
}

/**
 * The limit to measure against: a bare node:http server that sends the bytes it was handed and does nothing else. It runs
 * as a child process, takes answers by path as its first message, and tells the port it listens on.
 */
process.once('message', (message) => {
  const answers = new Map(
    Object.entries(message as Record<string, BareAnswer>).map(([path, { headers, body }]) => [
      path,
      { headers, body: Buffer.from(body, 'base64') },
    ]),
  );
  const server = createServer((request, response) => {
    const key = `${request.url}${request.headers['accept-encoding'] ? ' gzip' : ''}`;
    const answer = answers.get(key);
    if (!answer) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, answer.headers).end(answer.body);
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
  process.once('disconnect', () => process.exit(0));
});
