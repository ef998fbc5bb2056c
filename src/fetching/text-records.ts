import { Resolver } from 'node:dns/promises';

/** Looks up the TXT records of a name. */
export interface TextResolver {
  /** Lists the texts of a name; empty if there are none, or no name server answers. Never throws. */
  listTexts: (name: string) => Promise<string[]>;
  /** Cancels pending lookups. */
  close: () => void;
}

/** Most records of one name that are read, and the longest text of one. */
const MAX_RECORDS = 16;
const TEXT_LENGTH = 2_000;

/** Time for the first answer of a name server, in milliseconds; the second try gets more. */
const LOOKUP = { timeout: 1500, tries: 2 };

/** Opens a resolver for TXT records. `servers` are name servers with their ports, instead of the system's. */
export function openTextResolver({ servers }: { servers?: readonly string[] | undefined } = {}): TextResolver {
  const resolver = new Resolver(LOOKUP);
  if (servers) resolver.setServers(servers);
  return {
    async listTexts(name) {
      const [answer] = await Promise.allSettled([resolver.resolveTxt(name)]);
      if (answer.status === 'rejected') return [];
      return answer.value.slice(0, MAX_RECORDS).map((parts) => parts.join('').slice(0, TEXT_LENGTH));
    },
    close: () => resolver.cancel(),
  };
}
