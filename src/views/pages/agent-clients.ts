/** Something to copy. */
export interface Snippet {
  /** What it is or which file it goes into. */
  readonly label: string;
  readonly code: string;
}

/** A program that speaks MCP, and how it is pointed at a server. */
export interface AgentClient {
  readonly id: string;
  readonly name: string;
  /** What to do, before the snippets. */
  readonly steps: string;
  readonly snippets: readonly Snippet[];
}

const json = (value: unknown) => JSON.stringify(value, null, 2);

/**
 * Lists how common MCP clients are pointed at a remote server that speaks Streamable HTTP and wants no login, as the
 * documentation of each says it (November 2026). `name` is what the server is called there.
 */
export function listAgentClients(name: string, url: string): AgentClient[] {
  const servers = (server: object) => json({ mcpServers: { [name]: server } });
  return [
    {
      ...{ id: 'claude-code', name: 'Claude Code' },
      steps: 'One command, or a file in the project that everybody who works on it shares.',
      snippets: [
        { label: 'Terminal', code: `claude mcp add --transport http ${name} ${url}` },
        { label: '.mcp.json in the project', code: servers({ type: 'http', url }) },
      ],
    },
    {
      ...{ id: 'claude-desktop', name: 'Claude Desktop and claude.ai' },
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
      ...{ id: 'cursor', name: 'Cursor' },
      steps: 'For every project in ~/.cursor/mcp.json, for one in .cursor/mcp.json.',
      snippets: [{ label: '~/.cursor/mcp.json', code: servers({ url }) }],
    },
    {
      ...{ id: 'vs-code', name: 'VS Code' },
      steps: 'In the workspace, or with the command “MCP: Open User Configuration” for all of them.',
      snippets: [{ label: '.vscode/mcp.json', code: json({ servers: { [name]: { type: 'http', url } } }) }],
    },
    {
      ...{ id: 'windsurf', name: 'Windsurf' },
      steps: 'The field is serverUrl, not url.',
      snippets: [{ label: '~/.codeium/windsurf/mcp_config.json', code: servers({ serverUrl: url }) }],
    },
    {
      ...{ id: 'codex', name: 'Codex' },
      steps: 'Command line, editor extension and desktop app read one file.',
      snippets: [
        { label: 'Terminal', code: `codex mcp add ${name} --url ${url}` },
        { label: '~/.codex/config.toml', code: `[mcp_servers.${name}]\nurl = ${JSON.stringify(url)}` },
      ],
    },
    {
      ...{ id: 'gemini-cli', name: 'Gemini CLI' },
      steps: 'The field is httpUrl; url would mean the older SSE transport.',
      snippets: [
        { label: 'Terminal', code: `gemini mcp add --scope user --transport http ${name} ${url}` },
        { label: '~/.gemini/settings.json', code: servers({ httpUrl: url }) },
      ],
    },
    {
      ...{ id: 'goose', name: 'Goose' },
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
      ...{ id: 'cline', name: 'Cline' },
      steps: 'MCP Servers, Configure, Configure MCP Servers. Without the type the older SSE transport is meant.',
      snippets: [{ label: 'cline_mcp_settings.json', code: servers({ type: 'streamableHttp', url }) }],
    },
    {
      ...{ id: 'zed', name: 'Zed' },
      steps: 'In the settings file.',
      snippets: [{ label: 'settings.json', code: json({ context_servers: { [name]: { url } } }) }],
    },
    {
      ...{ id: 'openai-agents', name: 'OpenAI Agents SDK' },
      steps: 'In Python, beside the agent’s own tools.',
      snippets: [
        {
          label: 'Python',
          code: `from agents import Agent\nfrom agents.mcp import MCPServerStreamableHttp\n\nasync with MCPServerStreamableHttp(\n    name=${JSON.stringify(name)},\n    params={"url": ${JSON.stringify(url)}},\n) as catalogue:\n    agent = Agent(name="Buyer", mcp_servers=[catalogue])`,
        },
      ],
    },
    {
      ...{ id: 'ai-sdk', name: 'Vercel AI SDK' },
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
