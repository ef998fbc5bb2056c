import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Answers everything at once, and sends its parent the port. */
const server = createServer((_request, response) => response.end('ok')).listen(0, '127.0.0.1', () => {
  process.send?.((server.address() as AddressInfo).port);
});
