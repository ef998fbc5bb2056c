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

/** The drawing of `src/assets/favicon.svg`; a test compares them. Hosts of MCP get the bytes, not an address. */
const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><title>A receipt with a tick</title>' +
  '<path d="M4 2h24v28l-4-3-4 3-4-3-4 3-4-3-4 3z" fill="#0f5c4c"/>' +
  '<path d="M9 9h14M9 14h8" stroke="#fff" stroke-width="2.4" stroke-linecap="round" opacity=".65"/>' +
  '<path d="m10 20.5 3.6 3.4L22.5 15" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round"' +
  ' stroke-linejoin="round"/></svg>';

/** The same, 48 pixels wide, for hosts that show no SVG; Base64. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAADAAAAAwCAYAAABXAvmHAAACo0lEQVR4nO2XP2gTYRjG32KgUNEE6h9QUlGQ4lBSKIKITiIOplUcKrTRZiq4ZR' +
  'FsOxTBRkGQdtGlQ9RW1EltHRycqsVFsFbRLooNDrYVErCFQiQ+T0o06d2pyb0fl8L9hnzvd/dx9/zu7vtyVycbHF/AaxwFgrFoHk3NkB2btM1q' +
  'u5H4Asr4Al7jC3iNL1Ckob5ewo07UOmT/r4gK6urqKyoCDD8tVhvoTVBemlBrj9+YCuhItC8OywXT51FZQ4KzH1NoypHRYBXfrCzRxq3bEVPn/' +
  'TSIgTum7sDhBLhbYbmAB4hu/BETcArfAGvURPoOHhYmneFUVXG9Nx7efnxHarqUBHg5B3sPI+qOi4/vFOYqKWcbDskF050yPziN+kbH5XsyjK2' +
  'WqlJga6jx+RmbwLVGi8+zEo02Y/KiooAOR5pk9a9+1FVxjQen9JHaH34IqFz7fi1oiaggVP4p69fSffwECorNSPgFH52/rNEh/rMzgG3VBueeC' +
  '7gJjzxVMBteKIqEGzYXAhF7k09/2sAjnMbnqgKTF0ZkZY9+1AhyJdPhbXbLohWeKImcORAi0z2J1H9gf+i3SPJgkwRzfBETaBp+055e2MUVTnZ' +
  '5R8SvTpQkNAOT9QEiFNAStx69kQunelCrxw34YmqAHGSsMNteKIuQP5HQiM8MSJA+DpMCS6t69EKT4wJEC6pXJlKJTTDE6MChBLjiQFpwjcD3+' +
  'v5VqkVnhgXMI0vQDB4Bo1gRwTNP9Ec71qgTupuS2DT2pqZ+zmcl3wPKke0x1ctgANn8ZPI3J1ISQn4do3jUvFEQXR/Y2p8VQLYOSOBQDyTevQG' +
  'myyE4qdbJZdLwTSCLg9mbHzFAqFYe4q3FAfPoOsIThLiLUcpJsdnxibiYoOjwEbBF/CaX436BE/u6rU2AAAAAElFTkSuQmCC';

/** An icon as the protocol names it (MCP, "Icons"). */
interface McpIcon {
  src: string;
  mimeType: string;
  sizes: string[];
}

/** Returns the icons of the MCP server as data, so that a host shows them without a request to any service. */
export function getMcpIcons(): McpIcon[] {
  const svg = Buffer.from(SVG).toString('base64');
  return [
    { src: `data:image/svg+xml;base64,${svg}`, mimeType: 'image/svg+xml', sizes: ['any'] },
    { src: `data:image/png;base64,${PNG}`, mimeType: 'image/png', sizes: ['48x48'] },
  ];
}

/** Media type of a server card (MCP, SEP-2127). */
export const SERVER_CARD_TYPE = 'application/mcp-server-card+json';

/** Protocol revisions that the endpoint answers, the latest first. */
export const PROTOCOL_VERSIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'] as const;

/** Facts on the server that both its card and its registry entry have. */
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
  readonly icons: readonly { readonly src: string; readonly mimeType: string; readonly sizes: readonly string[] }[];
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
    icons: getMcpIcons(),
    remotes: [{ type: 'streamable-http', url, supportedProtocolVersions: PROTOCOL_VERSIONS }],
  };
}

/**
 * Builds the entry with which the operator publishes the server in the MCP registry, under the name of its own host. Icons
 * must be addresses there, so it has none.
 */
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

/** Returns the namespace that the owner of the host can prove to be theirs: `apis.example.com` → `com.example.apis`. */
function getNamespace({ baseUrl }: Site): string {
  const { hostname } = new URL(baseUrl);
  // An IPv6 address has no reverse-DNS form that fits into a name; such a service is not published anywhere.
  if (hostname.startsWith('[')) return 'localhost';
  return /^[\d.]+$/.test(hostname) ? hostname : hostname.split('.').toReversed().join('.');
}
