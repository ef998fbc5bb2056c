import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { findAddressProblem } from './address.ts';
import { buildFetchFailure, buildHostFailure } from './failure.ts';
import type { Network } from './network.ts';

export interface ConnectorOptions {
  allowPrivateNetworks: boolean;
  /**
   * Time that a request waits for its connection, in milliseconds. A connection still being opened is dropped after
   * twice as long.
   */
  connectMs: number;
  network: Network;
  /** Ends every connection, including those being opened. */
  signal?: AbortSignal | undefined;
}

/**
 * Time that one of several addresses may take before the next is tried, in milliseconds (RFC 8305 proposes 250 ms,
 * which is too short for distant hosts).
 */
const NEXT_ADDRESS_AFTER_MS = 1000;

/**
 * Builds undici's connector with two checks. For a name, undici calls `lookup` once for each connection and connects
 * only to the addresses that it returns, which are checked. A literal address is checked before connecting, because
 * undici does not look it up. One forbidden address refuses the whole name, because it might be the next one tried.
 */
export function buildGuardedConnector(options: ConnectorOptions): buildConnector.connector {
  const { connectMs, network, signal } = options;
  const lookup: LookupFunction = (host, _options, callback) => {
    listCheckedAddresses(host, options).then(
      (addresses) =>
        callback(
          null,
          addresses.map(network.reroute).map((address) => ({ address, family: isIP(address) })),
        ),
      (error) => callback(error, []),
    );
  };
  const connect = buildConnector({
    lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
    timeout: 2 * connectMs,
    allowH2: false,
    // Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED cannot switch it off.
    rejectUnauthorized: true,
    ...(network.trustedRoots === undefined ? {} : { ca: network.trustedRoots }),
    ...(signal && { signal }),
  });
  return (target, callback) => {
    const problem = isIP(target.hostname) ? findAddressProblem(target.hostname, options) : undefined;
    if (problem) callback(buildBlocked(target.hostname, target.hostname, problem), null);
    else connect(target, callback);
  };
}

/** Resolves a name once and returns its addresses, all of them checked. */
async function listCheckedAddresses(host: string, options: ConnectorOptions): Promise<readonly string[]> {
  const addresses = await listAddresses(host, options.network);
  for (const address of addresses) {
    const problem = findAddressProblem(address, options);
    if (problem) throw buildBlocked(host, address, problem);
  }
  return addresses;
}

async function listAddresses(host: string, network: Network): Promise<readonly string[]> {
  let addresses: readonly string[];
  try {
    addresses = await network.resolve(host);
  } catch (error) {
    throw buildHostFailure('name_not_resolved', host, 'could not be resolved to an address', error);
  }
  if (addresses.length === 0) throw buildHostFailure('name_not_resolved', host, 'has no address');
  return addresses;
}

function buildBlocked(host: string, address: string, problem: string) {
  return buildFetchFailure(
    'blocked_address',
    `The host ${host} has the address ${address}, which is not a public one (${problem}).`,
  );
}
