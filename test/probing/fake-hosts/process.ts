import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sendChallenge, sendStatus } from '../sending.ts';
import { BEHAVIOURS, HEAVY_ROBOTS, type HostKind } from './behaviours.ts';

/**
 * The hosts of a campaign, one for each kind given as argument, in a process of their own so that their memory does not
 * count as the prober's. Sends the ports to its parent, and on `count` how often each address was requested. Ends with
 * its parent.
 */
const kinds = process.argv.slice(2) as HostKind[];
const asked = new Map<string, number>();

async function openHost(kind: HostKind) {
  const server = createServer((request, response) => answer(kind, request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { kind, server, port: (server.address() as AddressInfo).port };
}

function answer(kind: HostKind, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', `http://${request.headers.host}`);
  asked.set(url.href, (asked.get(url.href) ?? 0) + 1);
  request.resume();
  if (kind === 'hanging') return;
  const behaviour = BEHAVIOURS[url.pathname.split('/')[2] ?? ''];
  if (kind === 'garbage') response.socket?.end('SSH-2.0-OpenSSH_9.9\r\n');
  else if (kind === 'robots' && url.pathname === '/robots.txt') {
    response.writeHead(200, { 'content-type': 'text/plain' }).end('User-agent: *\nDisallow: /\n');
  } else if (kind === 'heavy_robots' && url.pathname === '/robots.txt') response.writeHead(200).end(HEAVY_ROBOTS);
  else if (url.pathname === '/robots.txt' || url.pathname.startsWith('/.well-known/')) sendStatus(response, 404);
  else if (kind === 'wildcard') sendChallenge(response);
  else if (behaviour) behaviour.answer(response, url);
  else sendStatus(response, 404);
}

const hosts = await Promise.all(kinds.map(openHost));
// Only when all have their ports, so that no port is used twice.
for (const { kind, server } of hosts) if (kind === 'closed') server.close();
process.on('message', (message) => {
  if (message === 'count') process.send?.({ asked: Object.fromEntries(asked) });
});
process.once('disconnect', () => process.exit(0));
process.send?.({ ports: hosts.map(({ port }) => port) });
