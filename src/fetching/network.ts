import { Resolver } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { isFileError } from '../errors.ts';

/**
 * The network below the checks. Only tests replace it, so that the real checks run without the internet: names come
 * from a table, and allowed addresses are connected to on loopback.
 */
export interface Network {
  /** Looks up all addresses of a name, as text. Throws, with the system's `code` if there is one, if it cannot. */
  resolve: (hostname: string) => Promise<readonly string[]>;
  /** Returns the address to which a connection is really opened, for an address that passed the checks. */
  reroute: (address: string) => string;
  /** Certificate authorities to trust instead of the system's, in PEM. */
  trustedRoots: string | undefined;
  /** Cancels pending lookups. */
  close: () => void;
}

export interface NetworkOptions {
  /** Name servers with their ports, instead of the system's. */
  servers?: readonly string[];
  /** Path of the hosts file. */
  hostsFile?: string;
}

/** Time for the first answer of a name server, in milliseconds; each further try gets more. */
const LOOKUP = { timeout: 1500, tries: 3 };

/** Codes for a name without addresses. Any other code means that the lookup failed. */
const NO_ADDRESS = new Set(['ENOTFOUND', 'ENODATA']);

/** Addresses of `localhost`, even if the hosts file does not mention it (RFC 6761 section 6.3). */
const LOCALHOST = ['127.0.0.1', '::1'];

/**
 * Opens the real network: the hosts file and the system's name servers, no rerouting, the usual certificate
 * authorities. Node's `lookup` is not used, because it occupies one of four threads that the whole process shares: a
 * few names whose servers never answer would delay every other name. Queries that Node sends itself run in parallel.
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

/** Builds an error with the code that the system's lookup would have. */
function buildLookupError(reasons: readonly NodeJS.ErrnoException[]): Error {
  const cause = reasons.find(({ code }) => !NO_ADDRESS.has(code ?? ''));
  const code = cause ? 'EAI_AGAIN' : 'ENOTFOUND';
  return Object.assign(new Error(`the lookup failed: ${code}`, { cause: cause ?? reasons[0] }), { code });
}

/** Reads the addresses of each name in a hosts file, in its order; empty if there is no such file. */
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
    if (isFileError(error, 'ENOENT')) return '';
    throw error;
  }
}
