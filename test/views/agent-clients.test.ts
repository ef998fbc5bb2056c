import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { listAgentClients } from '../../src/views/agent-clients.ts';

it('gives every client the one address of the MCP server, in files that can be read', () => {
  const [name, url] = ['catalogue', 'https://catalogue.example/mcp'];
  const clients = listAgentClients(name, url);
  expect(clients.length).toBeGreaterThanOrEqual(10);
  expect(new Set(clients.map(({ id }) => id)).size).toBe(clients.length);
  for (const { name: client, snippets } of clients) {
    for (const { label, code } of snippets) {
      expect([client, label, code.includes(url)]).toEqual([client, label, true]);
      if (code.startsWith('{')) expect(JSON.stringify(JSON.parse(code))).toContain(name);
      if (label.endsWith('.yaml')) expect(parse(code)).toMatchObject({ extensions: { [name]: { enabled: true } } });
    }
  }
});
