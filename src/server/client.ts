import type { IncomingMessage } from 'node:http';
import { isIP, isIPv6 } from 'node:net';
import proxyaddr from 'proxy-addr';
import { createGenerations } from './generations.ts';

/** Reading a chain of proxies takes many times what looking it up does; so many are kept, none longer than this. */
const KNOWN = 10_000;
const KNOWN_LENGTH = 200;

/** Gives the name under which a request's client is counted: an IPv4 address, or the /64 network of an IPv6 address. */
export type GetClient = (request: IncomingMessage) => string;

/**
 * Builds the reading of who asks. Without `trustedProxies` (addresses, networks, or loopback, linklocal, uniquelocal) it is
 * the peer. A trusted peer's X-Forwarded-For is read from its end, past every further trusted proxy, to the first address
 * that is not one: what stands before that, anybody can have written. The header `Forwarded` is not read, since a proxy
 * that does not know it passes on what its client wrote.
 */
export function buildClientReader(trustedProxies: readonly string[]): GetClient {
  const known = createGenerations<string>(KNOWN);
  const isTrusted = trustedProxies.length === 0 ? () => false : proxyaddr.compile([...trustedProxies]);
  const readClient = (request: IncomingMessage): string => {
    const peer = request.socket.remoteAddress ?? '';
    if (request.headers['x-forwarded-for'] === undefined || !isTrusted(peer, 0)) return getNetwork(peer);
    const chain = proxyaddr.all(request, (address, index) => isTrusted(removePort(address), index)).map(removePort);
    // What is no address says nothing of who asks: the proxy that passed it on is then the last that is known.
    return getNetwork(chain.findLast((address) => isIP(address) !== 0) ?? peer);
  };
  return (request) => {
    const { remoteAddress = '' } = request.socket;
    const forwarded = trustedProxies.length === 0 ? undefined : request.headers['x-forwarded-for'];
    if (forwarded === undefined && !remoteAddress.includes(':')) return remoteAddress;
    if (forwarded !== undefined && forwarded.length > KNOWN_LENGTH) return readClient(request);
    const claim = `${remoteAddress} ${forwarded ?? ''}`;
    const found = known.find(claim);
    if (found !== undefined) return found;
    const client = readClient(request);
    known.keep(claim, client);
    return client;
  };
}

/** Some proxies write the port, too: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function removePort(address: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/.exec(address) ?? [];
  return bracketed ?? plain ?? address;
}

/** A customer is given a /64 at least, so each address of one is the same client. An IPv4 address in IPv6 form is itself. */
function getNetwork(address: string): string {
  if (!address.includes(':')) return address;
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  if (mapped !== undefined) return mapped;
  const bare = address.replace(/%.*$/, '');
  if (!isIPv6(bare)) return address;
  const [front = '', back] = bare.split('::');
  const groups = front === '' ? [] : front.split(':');
  const rest = back === undefined || back === '' ? [] : back.split(':');
  // An IPv4 tail stands for two groups; it only ever lies in the second half, of which nothing is kept.
  const tail = rest.length + (rest.at(-1)?.includes('.') ? 1 : 0);
  const whole = [...groups, ...Array<string>(Math.max(0, 8 - groups.length - tail)).fill('0'), ...rest];
  return `${whole
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
