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

interface Content {
  uri: string;
  mimeType?: string | undefined;
  text: string;
  _meta?: Record<string, unknown> | undefined;
}

interface Completion {
  values: string[];
  total?: number | undefined;
  hasMore?: boolean | undefined;
}

type Ref = { type: 'ref/prompt'; name: string } | { type: 'ref/resource'; uri: string };

/** The prompt of the server, and the template of its resources. */
const PROMPT = 'pay_for_listed_api';
const TEMPLATE: Ref = { type: 'ref/resource', uri: 'catalogue://listing/{slug}' };

/** What the tests ask of a client. */
export interface Connected {
  protocol: string | undefined;
  instructions: string | undefined;
  server:
    | {
        name: string;
        title?: string | undefined;
        version: string;
        websiteUrl?: string | undefined;
        description?: string | undefined;
      }
    | undefined;
  capabilities: unknown;
  listTools(): Promise<
    { name: string; description?: string | undefined; annotations?: unknown; [key: string]: unknown }[]
  >;
  listResources(): Promise<{ uri: string; [key: string]: unknown }[]>;
  listTemplates(): Promise<{ uriTemplate: string; [key: string]: unknown }[]>;
  listPrompts(): Promise<{ name: string; [key: string]: unknown }[]>;
  /** Asks for each list with this cursor; the protocol's error of each. */
  listFrom(cursor: string): Promise<unknown[]>;
  read(uri: string): Promise<Content>;
  getPrompt(args: Record<string, string>): Promise<{ role: string; text: string }[]>;
  complete(argument: { name: string; value: string }, slug?: string): Promise<Completion>;
  completeFor(ref: Ref, argument: { name: string; value: string }): Promise<Completion>;
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
  return describeClient(client, transport.protocolVersion);
}

/** Connects the 2.x client, by default in today's protocol. */
export async function connectModern(
  url: URL,
  mode: 'legacy' | { pin: string } = { pin: '2026-07-28' },
): Promise<Connected> {
  const client = new ModernClient(CLIENT, { versionNegotiation: { mode } });
  await client.connect(new ModernTransport(url));
  onTestFinished(() => client.close());
  return describeClient(client, client.getNegotiatedProtocolVersion());
}

/** Gives one face to both clients: what is asked here has the same name in each. */
function describeClient(client: FirstClient | ModernClient, protocol: string | undefined): Connected {
  const complete: Connected['completeFor'] = async (ref, argument) =>
    (await client.complete({ ref, argument })).completion;
  return {
    protocol,
    instructions: client.getInstructions(),
    server: client.getServerVersion(),
    capabilities: client.getServerCapabilities(),
    listTools: async () => (await client.listTools()).tools,
    listResources: async () => (await client.listResources()).resources,
    listTemplates: async () => (await client.listResourceTemplates()).resourceTemplates,
    listPrompts: async () => (await client.listPrompts()).prompts,
    listFrom: (cursor) =>
      Promise.all(
        [
          client.listTools({ cursor }),
          client.listResources({ cursor }),
          client.listResourceTemplates({ cursor }),
          client.listPrompts({ cursor }),
        ].map((listing: Promise<unknown>) => listing.then(() => undefined).catch((error: unknown) => error)),
      ),
    read: async (uri) => {
      const { contents } = await client.readResource({ uri });
      const [first] = contents;
      if (contents.length !== 1 || first === undefined || !('text' in first)) throw new Error('not one text');
      return first;
    },
    getPrompt: async (args) => {
      const { messages } = await client.getPrompt({ name: PROMPT, arguments: args });
      return messages.map(({ role, content }) => ({ role, text: content.type === 'text' ? content.text : '' }));
    },
    completeFor: complete,
    complete: async (argument, slug) =>
      slug === undefined
        ? complete(TEMPLATE, argument)
        : (
            await client.complete({
              ref: { type: 'ref/prompt', name: PROMPT },
              argument,
              context: { arguments: { slug } },
            })
          ).completion,
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
