import { isObject } from '../model/json.ts';
import { cutText } from '../model/text.ts';
import { listNamed } from './json-value.ts';
import { type Entry, listEntries, locateResource, namesX402 } from './x402-file/entries.ts';

/** A protocol other than x402, by which something is found or paid for. */
interface OtherProtocol {
  readonly name: string;
  /** Schemes of `WWW-Authenticate` by which its 402 answers ask for payment, in lower case. */
  readonly schemes?: readonly string[];
  /** The document in which its providers describe themselves. */
  readonly document?: {
    readonly name: string;
    readonly matches: (file: Record<string, unknown>) => boolean;
    /** Lists what may have the address of an endpoint. */
    readonly list: (file: Record<string, unknown>, url: string | null) => Entry[];
  };
}

/**
 * The other protocols, their documents recognised by marks that no x402 file has: the first that matches counts. What such a
 * document says of x402, as `x402Support`, states no terms.
 */
const OTHER_PROTOCOLS: readonly OtherProtocol[] = [
  {
    name: 'ERC-8004',
    document: {
      name: 'a registration of an agent',
      matches: ({ type }) => typeof type === 'string' && /\beip-?8004\b/i.test(type),
      list: ({ services, endpoints }) => [services, endpoints].flatMap(listMembers),
    },
  },
  {
    name: 'MCP',
    document: {
      name: 'a server.json',
      matches: ({ $schema, name, remotes, packages }) =>
        (typeof $schema === 'string' && $schema.includes('modelcontextprotocol.io')) ||
        (typeof name === 'string' && /^[\w.-]+\/[\w.-]+$/.test(name) && [remotes, packages].some(Array.isArray)),
      list: ({ remotes }) => listMembers(remotes),
    },
  },
  {
    name: 'A2A',
    document: {
      name: 'an agent card',
      matches: (file) =>
        Array.isArray(file.skills) &&
        (isObject(file.capabilities) || typeof file.protocolVersion === 'string') &&
        !namesX402(file) &&
        listEntries(file, null) === undefined,
      list: (file) => listMembers([file, ...[file.supportedInterfaces, file.additionalInterfaces].flat()]),
    },
  },
  {
    name: 'L402 (Lightning)',
    schemes: ['l402', 'lsat'],
    document: {
      name: 'a list of services',
      matches: (file) => isAboutL402(file) && !/x402/i.test(JSON.stringify(file)),
      list: (file, url) => listEntries(file, url) ?? [],
    },
  },
  { name: 'MPP (Machine Payments Protocol)', schemes: ['payment'] },
];

/** Most addresses that a sentence names, and the longest part of each. */
const MAX_NAMED = 3;
const ADDRESS_LENGTH = 200;

/**
 * Describes the document of another protocol: what it is, and where its endpoints are, if it says so. Undefined for any
 * other document. Nothing of it is listed, because it states no terms of x402. `url` is its address, if it has one.
 */
export function describeOtherList(file: unknown, subject: string, url: string | null): string | undefined {
  if (!isObject(file)) return undefined;
  const found = OTHER_PROTOCOLS.find(({ document }) => document?.matches(file));
  if (!found?.document) return undefined;
  const located = found.document.list(file, url).map((entry) => locateResource(entry).address ?? '');
  const addresses = [...new Set(located.filter((address) => URL.parse(address)?.protocol.startsWith('http')))];
  const named = addresses.slice(0, MAX_NAMED).map((address) => cutText(address, ADDRESS_LENGTH));
  const more = addresses.length > MAX_NAMED ? ` and ${addresses.length - MAX_NAMED} more` : '';
  const noun = addresses.length === 1 ? 'the endpoint' : 'the endpoints';
  const where = named.length > 0 ? `names ${noun} ${named.join(', ')}${more}` : 'names no address of an endpoint';
  return `${subject} is ${found.document.name} of ${found.name}: it ${where}, and states no terms of x402.`;
}

/** Returns the name of the protocol of a scheme of `WWW-Authenticate`; the scheme itself if it is not known. */
export function nameScheme(scheme: string): string {
  return OTHER_PROTOCOLS.find(({ schemes }) => schemes?.includes(scheme))?.name ?? scheme;
}

function listMembers(list: unknown): Entry[] {
  return Array.isArray(list) ? list.map((raw) => ({ raw, place: '', base: null })) : [];
}

/** Returns whether a file, or an entry of its lists, names L402 or a price in satoshis. */
function isAboutL402(file: Record<string, unknown>): boolean {
  const entries = listEntries(file, null) ?? [];
  return [file, ...entries.map(({ raw }) => raw)].some((holder) =>
    listNamed(holder).some(
      ([normal, member]) =>
        /^(?:l402|lsat)|sats$/.test(normal) || (typeof member === 'string' && /^(?:l402|lsat)$/i.test(member)),
    ),
  );
}
