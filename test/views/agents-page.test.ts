import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { buildAgentsPage } from '../../src/views/pages/agents-page.ts';
import { SITE } from '../http/serving.ts';

const page = buildAgentsPage(SITE);

describe('the page for agents', () => {
  it('gives every client the one address of the MCP server, in files that can be read', () => {
    expect(page.clients.length).toBeGreaterThanOrEqual(10);
    expect(new Set(page.clients.map(({ id }) => id)).size).toBe(page.clients.length);
    for (const { name, snippets } of page.clients) {
      for (const { label, code } of snippets) {
        expect([name, label, code.includes(`${SITE.baseUrl}/mcp`)]).toEqual([name, label, true]);
        if (code.startsWith('{')) expect(JSON.stringify(JSON.parse(code))).toContain(page.name);
        if (label.endsWith('.yaml'))
          expect(parse(code)).toMatchObject({ extensions: { [page.name]: { enabled: true } } });
      }
    }
  });

  it('asks for nothing but addresses of the service', () => {
    for (const { code } of page.requests) expect(code).toMatch(new RegExp(`^curl '?${SITE.baseUrl}/`));
    expect(page.x402_client).toContain(`url: '${SITE.baseUrl}'`);
  });
});
