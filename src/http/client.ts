import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import proxyaddr from 'proxy-addr';

/** Gives the name under which a request's client is counted: an IPv4 address, or the /64 network of an IPv6 address. */
export type GetClient = (request: Pick<IncomingMessage, 'socket' | 'headers'>) => string;

/**
 * Builds the reading of who asks. Without `trustedProxies` (addresses, networks, or loopback, linklocal, uniquelocal) it is
 * the peer. A trusted peer's X-Forwarded-For is read from its end, past every further trusted proxy, to the first address
 * that is not one: anybody can have written what is before that. The header `Forwarded` is not read, since a proxy
 * that does not know it passes on what its client wrote.
 */
export function buildClientReader(trustedProxies: readonly string[]): GetClient {
  const isTrusted = buildProxyCheck(trustedProxies);
  return (request) => {
    const peer = request.socket.remoteAddress ?? '';
    if (request.headers['x-forwarded-for'] === undefined || !isTrusted(peer)) return getNetwork(peer, 64);
    const chain = proxyaddr
      .all(request as IncomingMessage, (address) => isTrusted(removePort(address)))
      .map(removePort);
    // Text that is no address does not say who asks: the last known is then the proxy that passed it on.
    return getNetwork(chain.findLast((address) => isIP(address) !== 0) ?? peer, 64);
  };
}

/** Builds the check of whether an address is that of a trusted proxy. */
export function buildProxyCheck(trustedProxies: readonly string[]): (address: string) => boolean {
  if (trustedProxies.length === 0) return () => false;
  const isTrusted = proxyaddr.compile([...trustedProxies]);
  return (address) => isTrusted(address, 0);
}

/**
 * Gives the network of an address: the first `bits6` bits of IPv6, where one customer has a /64 at least; the first `bits4`
 * bits of IPv4, without which it is the address itself. An IPv4 address in IPv6 form counts as IPv4.
 */
export function getNetwork(address: string, bits6: number, bits4 = 32): string {
  const version = isIP(address);
  if (version === 0 || (version === 4 && bits4 === 32)) return address;
  const parsed = ipaddr.process(address);
  const isIPv4 = parsed.kind() === 'ipv4';
  const bits = isIPv4 ? bits4 : bits6;
  if (isIPv4 && bits === 32) return parsed.toString();
  const bytes = parsed.toByteArray().map((byte, at) => byte & (0xff00 >> Math.min(8, Math.max(0, bits - 8 * at))));
  return `${ipaddr.fromByteArray(bytes)}/${bits}`;
}

/** Gives the network that a client is one of, as `GetClient` names clients: a /48 of IPv6, a /24 of IPv4. */
export function getWideNetwork(client: string): string {
  return getNetwork(client.replace(/\/\d+$/, ''), 48, 24);
}

/** Some proxies write the port, too: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function removePort(address: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/.exec(address) ?? [];
  return bracketed ?? plain ?? address;
}
