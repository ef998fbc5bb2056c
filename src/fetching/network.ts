import { Resolver } from 'node:dns/promises';
import { readFileSync } from 'node:fs';

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
  /** Ends the lookups under way. */
  close: () => void;
}

export interface NetworkOptions {
  /** Name servers with their ports, instead of the system's. */
  servers?: readonly string[];
  /** Path of the hosts file. */
  hostsFile?: string;
}

/** A name server is given this long for its first answer, in milliseconds, and longer each further time. */
const LOOKUP = { timeout: 1500, tries: 3 };

/** What says that a name has no addresses; all else says that nobody could tell. */
const NO_ADDRESS = new Set(['ENOTFOUND', 'ENODATA']);

/** Where a name leads that no hosts file needs to mention (RFC 6761 section 6.3). */
const LOCALHOST = ['127.0.0.1', '::1'];

/**
 * Opens the real network: the hosts file and the system's name servers, no rerouting, the usual certificate
 * authorities. Node's own `lookup` waits in one of the four threads that all of the process shares, so a few names
 * whose servers never answer would keep every other name waiting; queries sent by Node itself wait beside one another.
 */
export function openNetwork({ servers, hostsFile = '/etc/hosts' }: NetworkOptions = {}): Network {
  const resolver = new Resolver(LOOKUP);
  if (servers) resolver.setServers(servers);
  const known = readHosts(hostsFile);
  return {
    async resolve(name) {
      const listed = known.get(name) ?? (name === 'localhost' ? LOCALHOST : undefined);
      if (listed) return listed;
      const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      if (addresses.length > 0) return addresses;
      throw buildLookupError(answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : [])));
    },
    reroute: (address) => address,
    trustedRoots: undefined,
    close: () => resolver.cancel(),
  };
}

/** Builds an error with the code that the system's own lookup has for it. */
function buildLookupError(reasons: readonly NodeJS.ErrnoException[]): Error {
  const cause = reasons.find(({ code }) => !NO_ADDRESS.has(code ?? ''));
  const code = cause ? 'EAI_AGAIN' : 'ENOTFOUND';
  return Object.assign(new Error(`the lookup failed: ${code}`, { cause: cause ?? reasons[0] }), { code });
}

/** Reads the addresses of each name in a hosts file, in its order; none where there is no such file. */
function readHosts(path: string): Map<string, string[]> {
  const known = new Map<string, string[]>();
  for (const line of readText(path).split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    for (const name of names) known.set(name.toLowerCase(), [...(known.get(name.toLowerCase()) ?? []), address]);
  }
  return known;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '';
    throw error;
  }
}
