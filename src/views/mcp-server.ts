import { buildUrl, PATHS } from './links.ts';
import type { Site } from './site.ts';

/** Identity of the MCP server in the protocol, in its card and in registries. */
export interface McpIdentity {
  /** Name for programs; independent of the service's title. */
  readonly name: string;
  /** Name for people. */
  readonly title: string;
  /** Version of tools, resources and prompt as a contract: raised when a name, an argument or a field of an answer changes. */
  readonly version: string;
  /** One sentence of at most 100 characters: registries take no more. */
  readonly description: string;
  readonly websiteUrl: string;
}

/** Returns the identity of the MCP server of a site. */
export function getMcpIdentity({ serviceTitle, baseUrl }: Site): McpIdentity {
  return {
    name: 'agent-payable-apis',
    title: serviceTitle,
    version: '2.2.0',
    description: 'Find APIs that agents pay for per request in USDC over x402, and check their terms before paying.',
    websiteUrl: baseUrl,
  };
}

/** Media type of a server card (MCP, SEP-2127). */
export const SERVER_CARD_TYPE = 'application/mcp-server-card+json';

/** Protocol revisions that the endpoint answers, the latest first. */
export const PROTOCOL_VERSIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'] as const;

/** Facts about the server in both its card and its registry entry. */
interface ServerFacts {
  /** Reverse-DNS namespace of the service's host, and the server's name. */
  readonly name: string;
  readonly title: string;
  readonly version: string;
  readonly description: string;
  readonly websiteUrl: string;
}

/** A server card (SEP-2127): how to reach the server before connecting. By design it names no tools. */
export interface ServerCard extends ServerFacts {
  readonly $schema: string;
  readonly remotes: readonly { type: 'streamable-http'; url: string; supportedProtocolVersions: readonly string[] }[];
}

/** `server.json` as the MCP registry takes it. */
export interface ServerJson extends ServerFacts {
  readonly $schema: string;
  readonly remotes: readonly { type: 'streamable-http'; url: string }[];
}

/** Builds the card of the MCP server. */
export function buildServerCard(site: Site): ServerCard {
  const url = buildUrl(site.baseUrl, PATHS.mcp);
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    ...buildFacts(site),
    remotes: [{ type: 'streamable-http', url, supportedProtocolVersions: PROTOCOL_VERSIONS }],
  };
}

/** Builds the entry with which the operator publishes the server in the MCP registry, under the name of its own host. */
export function buildServerJson(site: Site): ServerJson {
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    ...buildFacts(site),
    remotes: [{ type: 'streamable-http', url: buildUrl(site.baseUrl, PATHS.mcp) }],
  };
}

function buildFacts(site: Site): ServerFacts {
  const { name, title, version, description, websiteUrl } = getMcpIdentity(site);
  return { name: `${getNamespace(site)}/${name}`, title, version, description, websiteUrl };
}

/** Returns the namespace that the host's owner can claim: `apis.example.com` → `com.example.apis`. */
function getNamespace({ baseUrl }: Site): string {
  const { hostname } = new URL(baseUrl);
  // An IPv6 address has no reverse-DNS form that fits into a name; such a service is not published anywhere.
  if (hostname.startsWith('[')) return 'localhost';
  return /^[\d.]+$/.test(hostname) ? hostname : hostname.split('.').toReversed().join('.');
}
