import { buildUrl, PATHS } from '../links.ts';
import type { Site } from '../site.ts';
import { SERVER_CARD_TYPE } from './server-card.ts';

/** A link of a linkset: where it leads, and what is found there (RFC 9264, section 4.2.3). */
export interface LinkTarget {
  readonly href: string;
  readonly type?: string;
  readonly title?: string;
}

/** The links of one context: its address, and targets by relation. */
export type LinkContext = { readonly anchor: string } & {
  readonly [relation: string]: readonly LinkTarget[] | string;
};

/** A linkset as JSON (RFC 9264, section 4.2). */
export interface Linkset {
  readonly linkset: readonly LinkContext[];
}

/**
 * Builds the API catalogue (RFC 9727): the APIs that this service publishes, which are its own doors, each with description,
 * documentation, terms and state (relations of RFC 8631). Listed APIs are other publishers'; `search` says how to find them.
 */
export function buildApiCatalog({ baseUrl }: Site): Linkset {
  const link = (path: string, type: string, title: string) => ({ href: buildUrl(baseUrl, path), type, title });
  const search = link(PATHS.agentList, 'application/json', 'Search and filter the listed APIs');
  const x402 = link(
    PATHS.discoveryResources,
    'application/json',
    'The listed APIs in the shape of an x402 facilitator',
  );
  const mcp = link(PATHS.mcp, 'application/json', 'MCP server (Streamable HTTP, POST)');
  const state = {
    'service-meta': [link(PATHS.aiCatalog, 'application/ai-catalog+json', 'What here is for AI agents')],
    status: [link(PATHS.ready, 'application/json', 'Whether the service can do its work')],
  };
  const rest = {
    'service-desc': [link(PATHS.openapi, 'application/json', 'OpenAPI 3.1.0')],
    'service-doc': [
      link(PATHS.docsApi, 'text/html', 'Reference for people'),
      link(PATHS.guide, 'text/plain', 'Guide for agents'),
    ],
    ...state,
  };
  return {
    linkset: [
      {
        anchor: buildUrl(baseUrl, PATHS.apiCatalog),
        item: [search, x402, mcp],
        search: [search],
        profile: [{ href: 'https://www.rfc-editor.org/info/rfc9727' }],
      },
      { anchor: search.href, ...rest },
      { anchor: x402.href, ...rest },
      {
        anchor: mcp.href,
        'service-desc': [link(PATHS.serverCard, SERVER_CARD_TYPE, 'MCP server card')],
        'service-doc': [link(PATHS.docsAgents, 'text/html', 'How to point an agent at it')],
        ...state,
      },
    ],
  };
}
