import { buildUrl, PATHS } from '../links.ts';
import { getMcpIdentity } from '../mcp-identity.ts';
import type { Site } from '../site.ts';
import { SERVER_CARD_TYPE } from './server-card.ts';

/** An entry of an AI catalogue. What an artifact says of itself (a card its title) is left out here. */
export interface AiCatalogEntry {
  readonly identifier: string;
  /** Media type that says what kind of thing the artifact is. */
  readonly type: string;
  readonly url: string;
  readonly displayName?: string;
  readonly description?: string;
  readonly tags: readonly string[];
}

/** An AI catalogue (AI Catalog 1.0, conformance level 2). */
export interface AiCatalog {
  readonly specVersion: '1.0';
  readonly host: { readonly displayName: string; readonly identifier: string; readonly documentationUrl: string };
  readonly entries: readonly AiCatalogEntry[];
}

/** Builds what this host has for agents. Listings are other publishers' and are found through the entries. */
export function buildAiCatalog(site: Site): AiCatalog {
  const { hostname } = new URL(site.baseUrl);
  const { name } = getMcpIdentity(site);
  const url = (path: string) => buildUrl(site.baseUrl, path);
  return {
    specVersion: '1.0',
    host: { displayName: site.serviceTitle, identifier: hostname, documentationUrl: url(PATHS.docsAgents) },
    entries: [
      {
        identifier: `urn:air:${hostname}:mcp:${name}`,
        type: SERVER_CARD_TYPE,
        url: url(PATHS.serverCard),
        tags: ['mcp', 'search', 'x402'],
      },
      {
        identifier: `urn:air:${hostname}:api:${name}`,
        type: 'application/openapi+json',
        url: url(PATHS.openapi),
        displayName: `${site.serviceTitle}: OpenAPI document`,
        description: 'The HTTP interface, with one tag for each listed API. Large: search instead of reading it.',
        tags: ['openapi', 'search', 'x402'],
      },
      {
        identifier: `urn:air:${hostname}:docs:llms-txt`,
        type: 'text/plain',
        url: url(PATHS.guide),
        displayName: `${site.serviceTitle}: guide for agents`,
        description: 'How to find an API here, how to call it, and how to pay for it.',
        tags: ['llms.txt', 'documentation'],
      },
      {
        identifier: `urn:air:${hostname}:x402:resources`,
        type: 'application/json',
        url: url(PATHS.discoveryResources),
        displayName: `${site.serviceTitle}: x402 resources`,
        description: 'Every listed route with what it asks, in the shape of an x402 facilitator, in pages.',
        tags: ['x402', 'payments'],
      },
    ],
  };
}
