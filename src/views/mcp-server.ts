import { buildUrl, PATHS } from './links.ts';
import type { Site } from './site.ts';

/** Returns the identity of the MCP server of a site, in the protocol, in its card and in registries. */
export function getMcpIdentity({ serviceTitle, baseUrl }: Site) {
  return {
    /** Name for programs; independent of the service's title. */
    name: 'agent-payable-apis',
    /** Name for people. */
    title: serviceTitle,
    /** Version of tools, resources and prompt as a contract: raised when a name, an argument or a field of an answer changes. */
    version: '2.2.0',
    /** One sentence of at most 100 characters: registries take no more. */
    description: 'Find APIs that agents pay for per request in USDC over x402, and check their terms before paying.',
    websiteUrl: baseUrl,
  };
}

/** Media type of a server card (MCP, SEP-2127). */
export const SERVER_CARD_TYPE = 'application/mcp-server-card+json';

/** Protocol revisions that the endpoint answers, the latest first. */
export const PROTOCOL_VERSIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'] as const;

/** Builds the card of the MCP server (SEP-2127): how to reach it before connecting. By design it names no tools. */
export function buildServerCard(site: Site) {
  const url = buildUrl(site.baseUrl, PATHS.mcp);
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    ...buildFacts(site),
    remotes: [{ type: 'streamable-http', url, supportedProtocolVersions: PROTOCOL_VERSIONS }],
  };
}

/**
 * Builds `server.json`, the entry with which the operator publishes the server in the MCP registry, under the name of its own
 * host.
 */
export function buildServerJson(site: Site) {
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    ...buildFacts(site),
    remotes: [{ type: 'streamable-http', url: buildUrl(site.baseUrl, PATHS.mcp) }],
  };
}

/** Builds the facts in both the card and the entry. The name starts with the reverse-DNS namespace of the service's host. */
function buildFacts(site: Site) {
  const identity = getMcpIdentity(site);
  return { ...identity, name: `${getNamespace(site)}/${identity.name}` };
}

/** Returns the namespace that the host's owner can claim: `apis.example.com` → `com.example.apis`. */
function getNamespace({ baseUrl }: Site): string {
  const { hostname } = new URL(baseUrl);
  // An IPv6 address has no reverse-DNS form that fits into a name; such a service is not published anywhere.
  if (hostname.startsWith('[')) return 'localhost';
  return /^[\d.]+$/.test(hostname) ? hostname : hostname.split('.').toReversed().join('.');
}
