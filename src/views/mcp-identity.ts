import type { Site } from './site.ts';

/** What the MCP server says of itself wherever it is named: in the protocol, in its card, in registries. */
export interface McpIdentity {
  /** For programs; stays the same whatever the service is called. */
  readonly name: string;
  /** For people. */
  readonly title: string;
  /** Version of tools, resources and prompt as a contract: raised when a name, an argument or a field of an answer changes. */
  readonly version: string;
  /** One sentence of at most 100 characters: registries take no more. */
  readonly description: string;
  readonly websiteUrl: string;
}

/** Gives the identity of the MCP server of a site. */
export function getMcpIdentity({ serviceTitle, baseUrl }: Site): McpIdentity {
  return {
    name: 'agent-payable-apis',
    title: serviceTitle,
    version: '1.1.0',
    description: 'Find APIs that agents pay for per request in USDC over x402, and check their terms before paying.',
    websiteUrl: baseUrl,
  };
}
