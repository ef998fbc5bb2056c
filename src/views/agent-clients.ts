import { NETWORKS } from '../model/network.ts';
import { buildUrl, PATHS } from './links.ts';
import type { Site } from './site.ts';

/**
 * Writes a paid call as a TypeScript module, on @x402/fetch 2.x. Its client asks this catalogue before it signs, and signs only
 * for an offer on record. The challenge is sent with the called address, since a seller may name another one in it.
 */
export function buildCheckHook({ baseUrl }: Site): string {
  return `import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';

const url = 'https://api.example.com/v1/forecast?city=Lisbon';
const method = 'GET';

const client = new x402Client();
registerExactEvmScheme(client, {
  signer: privateKeyToAccount(process.env.EVM_PRIVATE_KEY as \`0x\${string}\`),
  networks: ['${NETWORKS.base.id}'],
});
client.setSpendControls({ maxAmountPerPayment: '$0.01' });
client.onBeforePaymentCreation(async ({ paymentRequired, selectedRequirements }) => {
  const answer = await fetch('${buildUrl(baseUrl, PATHS.agentCheck)}', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ url, method, challenge: paymentRequired }),
  });
  const { severity, safe_offers = [], summary, detail } = await answer.json();
  const place = paymentRequired.accepts.indexOf(selectedRequirements);
  if (severity === 'danger' || !safe_offers.includes(place)) return { abort: true, reason: summary ?? detail };
});

const response = await wrapFetchWithPayment(fetch, client)(url, { method, redirect: 'error' });
console.log(response.status, await response.text());
`;
}

/** A text to copy. */
interface Snippet {
  /** Name of the snippet, or of the file it goes into. */
  readonly label: string;
  readonly code: string;
}

/** An MCP client, with the steps that connect it to a server. */
interface AgentClient {
  readonly id: string;
  readonly name: string;
  /** Instructions before the snippets. */
  readonly steps: string;
  readonly snippets: readonly Snippet[];
}

const json = (value: unknown) => JSON.stringify(value, null, 2);

/**
 * Lists common MCP clients with the steps for a remote server with Streamable HTTP and without login, by the documentation of
 * each (November 2026). `name` is the server's name there.
 */
export function listAgentClients(name: string, url: string): AgentClient[] {
  const servers = (server: object) => json({ mcpServers: { [name]: server } });
  return [
    {
      id: 'claude-code',
      name: 'Claude Code',
      steps: 'One command, or a file in the project that everybody who works on it shares.',
      snippets: [
        { label: 'Terminal', code: `claude mcp add --transport http ${name} ${url}` },
        { label: '.mcp.json in the project', code: servers({ type: 'http', url }) },
      ],
    },
    {
      id: 'claude-desktop',
      name: 'Claude Desktop and claude.ai',
      steps:
        'Settings, Connectors, Add custom connector: paste the address, no login. Remote servers are not taken from claude_desktop_config.json; there a local bridge can stand for this one, which needs Node.js.',
      snippets: [
        { label: 'Address of the connector', code: url },
        {
          label: 'claude_desktop_config.json, by a bridge',
          code: servers({ command: 'npx', args: ['-y', 'mcp-remote', url] }),
        },
      ],
    },
    {
      id: 'cursor',
      name: 'Cursor',
      steps: 'For every project in ~/.cursor/mcp.json, for one in .cursor/mcp.json.',
      snippets: [{ label: '~/.cursor/mcp.json', code: servers({ url }) }],
    },
    {
      id: 'vs-code',
      name: 'VS Code',
      steps: 'In the workspace, or with the command “MCP: Open User Configuration” for all of them.',
      snippets: [{ label: '.vscode/mcp.json', code: json({ servers: { [name]: { type: 'http', url } } }) }],
    },
    {
      id: 'windsurf',
      name: 'Windsurf',
      steps: 'The field is serverUrl, not url.',
      snippets: [{ label: '~/.codeium/windsurf/mcp_config.json', code: servers({ serverUrl: url }) }],
    },
    {
      id: 'codex',
      name: 'Codex',
      steps: 'Command line, editor extension and desktop app read one file.',
      snippets: [
        { label: 'Terminal', code: `codex mcp add ${name} --url ${url}` },
        { label: '~/.codex/config.toml', code: `[mcp_servers.${name}]\nurl = ${JSON.stringify(url)}` },
      ],
    },
    {
      id: 'gemini-cli',
      name: 'Gemini CLI',
      steps: 'The field is httpUrl; url would mean the older SSE transport.',
      snippets: [
        { label: 'Terminal', code: `gemini mcp add --scope user --transport http ${name} ${url}` },
        { label: '~/.gemini/settings.json', code: servers({ httpUrl: url }) },
      ],
    },
    {
      id: 'goose',
      name: 'Goose',
      steps: 'The address goes into uri.',
      snippets: [
        {
          label: '~/.config/goose/config.yaml',
          code: `extensions:\n  ${name}:\n    type: streamable_http\n    name: ${name}\n    enabled: true\n    uri: ${JSON.stringify(url)}\n    timeout: 300`,
        },
        { label: 'One session', code: `goose session --with-streamable-http-extension ${JSON.stringify(url)}` },
      ],
    },
    {
      id: 'cline',
      name: 'Cline',
      steps: 'MCP Servers, Configure, Configure MCP Servers. Without the type the older SSE transport is meant.',
      snippets: [{ label: 'cline_mcp_settings.json', code: servers({ type: 'streamableHttp', url }) }],
    },
    {
      id: 'zed',
      name: 'Zed',
      steps: 'In the settings file.',
      snippets: [{ label: 'settings.json', code: json({ context_servers: { [name]: { url } } }) }],
    },
    {
      id: 'openai-agents',
      name: 'OpenAI Agents SDK',
      steps: 'In Python, beside the agent’s own tools.',
      snippets: [
        {
          label: 'Python',
          code: `from agents import Agent\nfrom agents.mcp import MCPServerStreamableHttp\n\nasync with MCPServerStreamableHttp(\n    name=${JSON.stringify(name)},\n    params={"url": ${JSON.stringify(url)}},\n) as catalogue:\n    agent = Agent(name="Buyer", mcp_servers=[catalogue])`,
        },
      ],
    },
    {
      id: 'ai-sdk',
      name: 'Vercel AI SDK',
      steps: 'The tools of the server become tools of the model.',
      snippets: [
        {
          label: 'TypeScript',
          code: `import { createMCPClient } from '@ai-sdk/mcp';\n\nconst catalogue = await createMCPClient({\n  transport: { type: 'http', url: '${url}' },\n});\nconst tools = await catalogue.tools();`,
        },
      ],
    },
  ];
}
