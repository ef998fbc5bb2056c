import { NETWORKS } from '../../model/network.ts';
import { buildUrl, PATHS } from '../links.ts';
import { getMcpIdentity } from '../mcp-server.ts';
import type { Site } from '../site.ts';
import { type AgentClient, listAgentClients, type Snippet } from './agent-clients.ts';

/** How an agent is pointed at the service. */
export interface AgentsPage {
  readonly mcp_url: string;
  /** What the server is called in configurations. */
  readonly name: string;
  readonly clients: readonly AgentClient[];
  /** Without MCP: what to ask, each with what it is for. */
  readonly requests: readonly (Snippet & { readonly purpose: string })[];
  readonly x402_client: string;
  readonly networks: readonly { readonly label: string; readonly id: string; readonly usdc: string }[];
}

/** Builds the page that says how to point an agent at the service. */
export function buildAgentsPage(site: Site): AgentsPage {
  const url = (path: string) => buildUrl(site.baseUrl, path);
  const mcpUrl = url(PATHS.mcp);
  const { name } = getMcpIdentity(site);
  const { base } = NETWORKS;
  const check = new URLSearchParams({
    ...{ url: 'https://api.example.com/v1/forecast', network: base.id, asset: base.usdc },
    ...{ pay_to: '0x1111111111111111111111111111111111111111', amount: '1000' },
  });
  return {
    ...{ mcp_url: mcpUrl, name },
    clients: listAgentClients(name, mcpUrl),
    requests: [
      {
        label: 'Read the guide',
        code: `curl ${url(PATHS.guide)}`,
        purpose: 'A page of plain text for a model to read first.',
      },
      {
        label: 'Search',
        code: `curl '${url(PATHS.agentList)}?q=convert+a+pdf+to+text&max_price_usdc=0.01&limit=5'`,
        purpose: 'A request in plain words, filters that all hold, and a cursor for more.',
      },
      {
        label: 'Read one listing',
        code: `curl ${url(PATHS.agentListing('SLUG'))}`,
        purpose: 'Routes, terms, networks, evidence. As Markdown it is the page’s address with .md behind it.',
      },
      {
        label: 'Check a 402 before paying',
        code: `curl '${url(PATHS.agentCheck)}?${check}'`,
        purpose:
          'Match, mismatch, unknown or delisted, with the date of the evidence. It can be sent the raw challenge by POST, too.',
      },
      {
        label: 'Follow what changes',
        code: `curl '${url(PATHS.agentChanges)}?since=REVISION'`,
        purpose: 'Everything after the revision you have, tombstones included.',
      },
    ],
    x402_client: `import { HTTPFacilitatorClient } from '@x402/core/server';
import { withBazaar } from '@x402/extensions/bazaar';

const { bazaar } = withBazaar(new HTTPFacilitatorClient({ url: '${site.baseUrl}' })).extensions;
const { resources } = await bazaar.search({ query: 'convert a pdf to text' });`,
    networks: Object.values(NETWORKS).map(({ label, id, usdc }) => ({ label, id, usdc })),
  };
}
