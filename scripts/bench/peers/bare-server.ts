import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The answer that the server gives to every request. The body is base64. */
export interface BareAnswer {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** A bare node:http server, as fast as a server in Node can be. Its parent's first message is the answer that it sends. */
process.once('message', (message) => {
  const answer = message as BareAnswer;
  const body = Buffer.from(answer.body, 'base64');
  const server = createServer((_request, response) => void response.writeHead(200, answer.headers).end(body));
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
  process.once('disconnect', () => process.exit(0));
});
