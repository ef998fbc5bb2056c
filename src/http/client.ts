import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import proxyaddr from 'proxy-addr';

/** Returns the name under which a request's client is counted: an IPv4 address, or the /64 network of an IPv6 address. */
export type GetClient = (request: Pick<IncomingMessage, 'socket' | 'headers'>) => string;

/**
 * Builds the function that names a request's client. Without `trustedProxies` (addresses, networks, or loopback, linklocal,
 * uniquelocal) it is the peer. If the peer is trusted, X-Forwarded-For is read from its end, past every further trusted proxy, to
 * the first other address, since anybody can have written what is before it. The header `Forwarded` is not read, because a proxy
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
    // Text that is no address names nobody, so the client is then the proxy that passed it on.
    return getNetwork(chain.findLast((address) => isIP(address) !== 0) ?? peer, 64);
  };
}

/** Returns a function that tells whether an address is that of a trusted proxy. */
export function buildProxyCheck(trustedProxies: readonly string[]): (address: string) => boolean {
  if (trustedProxies.length === 0) return () => false;
  const isTrusted = proxyaddr.compile([...trustedProxies]);
  return (address) => isTrusted(address, 0);
}

/**
 * Returns the network of an address: the first `bits6` bits of IPv6 (a customer has at least a /64), or the first `bits4` bits of
 * IPv4, by default the whole address. An IPv4 address in IPv6 form counts as IPv4.
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

/** Returns the wider network of a client named by `GetClient`: a /48 of IPv6, a /24 of IPv4. */
export function getWideNetwork(client: string): string {
  return getNetwork(client.replace(/\/\d+$/, ''), 48, 24);
}

/** Removes the port that some proxies add: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function removePort(address: string): string {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\](?::\d+)?|(\d+\.\d+\.\d+\.\d+):\d+)$/.exec(address) ?? [];
  return bracketed ?? plain ?? address;
}
