import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { onTestFinished } from 'vitest';

const CLIENT = { name: 'test-client', version: '1.0.0' };

/** One answer of a tool, whatever client asked. */
interface Answer {
  isError: boolean;
  text: string;
  structured: Record<string, unknown>;
}

/** What the tests ask of a client. */
export interface Connected {
  protocol: string | undefined;
  instructions: string | undefined;
  server: { name: string; title?: string | undefined; version: string; websiteUrl?: string | undefined } | undefined;
  capabilities: unknown;
  listTools(): Promise<
    { name: string; description?: string | undefined; annotations?: unknown; [key: string]: unknown }[]
  >;
  call(name: string, args?: Record<string, unknown>): Promise<Answer>;
}

/** Real clients: 1.x, and 2.x pinned to each generation of the protocol. */
export const CLIENTS: Record<string, (url: URL) => Promise<Connected>> = {
  '1.x client': connectFirst,
  '2.x client, 2025 protocol': (url) => connectModern(url, 'legacy'),
  '2.x client, 2026 protocol': (url) => connectModern(url),
};

async function connectFirst(url: URL): Promise<Connected> {
  const client = new FirstClient(CLIENT);
  const transport = new FirstTransport(url);
  await client.connect(transport);
  onTestFinished(() => client.close());
  return {
    protocol: transport.protocolVersion,
    instructions: client.getInstructions(),
    server: client.getServerVersion(),
    capabilities: client.getServerCapabilities(),
    listTools: async () => (await client.listTools()).tools,
    call: async (name, args = {}) => readAnswer(await client.callTool({ name, arguments: args })),
  };
}

/** Connects the 2.x client, by default in today's protocol. */
export async function connectModern(
  url: URL,
  mode: 'legacy' | { pin: string } = { pin: '2026-07-28' },
): Promise<Connected> {
  const client = new ModernClient(CLIENT, { versionNegotiation: { mode } });
  await client.connect(new ModernTransport(url));
  onTestFinished(() => client.close());
  return {
    protocol: client.getNegotiatedProtocolVersion(),
    instructions: client.getInstructions(),
    server: client.getServerVersion(),
    capabilities: client.getServerCapabilities(),
    listTools: async () => (await client.listTools()).tools,
    call: async (name, args = {}) => readAnswer(await client.callTool({ name, arguments: args })),
  };
}

function readAnswer(result: { [key: string]: unknown }): Answer {
  const [first] = Array.isArray(result.content) ? result.content : [];
  return {
    isError: result.isError === true,
    text: String(first?.text),
    structured: Object(result.structuredContent),
  };
}
