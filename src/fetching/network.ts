import { lookup } from 'node:dns/promises';

/**
 * What lies beneath the guard. Replaced in tests only, so that the production guard can be watched at work without
 * the internet: names come from a table, and addresses that passed every check are dialled on loopback.
 */
export interface Network {
  /** Looks up all addresses of a name, as text; throws, with a `code` where there is one, when it cannot. */
  resolve: (hostname: string) => Promise<readonly string[]>;
  /** Where a connection to an address that passed the checks is really opened. */
  reroute: (address: string) => string;
  /** Certificate authorities trusted instead of the system's, in PEM. */
  trustedRoots: string | undefined;
}

/** The real network: the system's resolver (hosts file included), no rerouting, the usual certificate authorities. */
export const REAL_NETWORK: Network = Object.freeze({
  resolve: listSystemAddresses,
  reroute: (address: string) => address,
  trustedRoots: undefined,
});

async function listSystemAddresses(hostname: string): Promise<string[]> {
  const found = await lookup(hostname, { all: true, order: 'verbatim' });
  return found.map(({ address }) => address);
}
