import { buildUrl, PATHS } from '../links.ts';
import { getMcpIdentity } from '../mcp-identity.ts';
import type { Site } from '../site.ts';
import { SERVER_CARD_TYPE } from './server-card.ts';

/** An entry of an AI catalogue, with what makes it an entry for agent discovery (ARD, "Entry Terms"). */
export interface AiCatalogEntry {
  readonly identifier: string;
  /** Media type that says what kind of thing the artifact is. */
  readonly type: string;
  readonly url: string;
  readonly displayName: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** Two to five things somebody may ask for that this answers: registries find an entry by them alone. */
  readonly representativeQueries: readonly string[];
}

/** An AI catalogue (AI Catalog 1.0). */
export interface AiCatalog {
  readonly specVersion: '1.0';
  readonly host: { readonly displayName: string; readonly identifier: string; readonly documentationUrl: string };
  readonly entries: readonly AiCatalogEntry[];
}

/**
 * Builds what this host has for agents to use: the MCP server. Its documents are no kind of artifact that agent discovery
 * knows, and are in the API catalogue; listings are other publishers', and are found through the server.
 */
export function buildAiCatalog(site: Site): AiCatalog {
  const { hostname } = new URL(site.baseUrl);
  const { name, title, description } = getMcpIdentity(site);
  const url = (path: string) => buildUrl(site.baseUrl, path);
  return {
    specVersion: '1.0',
    host: { displayName: site.serviceTitle, identifier: hostname, documentationUrl: url(PATHS.docsAgents) },
    entries: [
      {
        identifier: `urn:air:${hostname}:mcp:${name}`,
        type: SERVER_CARD_TYPE,
        url: url(PATHS.serverCard),
        displayName: title,
        description,
        tags: ['mcp', 'search', 'x402', 'payments'],
        representativeQueries: [
          'find an API that I can pay for per request, without an account or a key',
          'which API converts PDF to text for less than one cent a call',
          'has anybody paid for this x402 API and got what it sells',
          'are the terms of this 402 answer the usual ones',
        ],
      },
    ],
  };
}
