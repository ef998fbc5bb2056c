import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { buildServerCard, buildServerJson, PROTOCOL_VERSIONS } from '../../src/views/mcp-server.ts';
import { makeCatalogue } from '../builders.ts';
import { SITE, serveLive } from '../http/serving.ts';
import { connectModern } from './clients.ts';
import { serveMcp } from './serving.ts';

/** What the schemas of card and registry entry ask alike; both refuse ranges as versions. */
const facts = {
  name: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/),
  title: z.string().min(1).max(100),
  version: z
    .string()
    .max(255)
    .regex(/^\d+\.\d+\.\d+$/),
  description: z.string().min(1).max(100),
  websiteUrl: z.url(),
};
const remote = { type: z.literal('streamable-http'), url: z.string().regex(/^https?:\/\/[^\s]+$/) };

/** The server card schema of SEP-2127, version 1, which takes no further member. */
const serverCard = z.strictObject({
  $schema: z.literal('https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json'),
  ...facts,
  remotes: z.array(z.strictObject({ ...remote, supportedProtocolVersions: z.array(z.iso.date()) })),
});

/** The registry's schema of 2025-12-11, and that a remote is a public address under the host of the name's namespace. */
const serverJson = z.strictObject({
  $schema: z.literal('https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'),
  ...facts,
  remotes: z.array(z.strictObject(remote)).length(1),
});

describe('the server card', () => {
  it('holds to its schema and is the same bytes at both addresses', async () => {
    const { get } = await serveLive(await makeCatalogue());
    const [card, twin] = [await get('/mcp/server-card'), await get('/.well-known/mcp/server-card.json')];
    expect(card.headers.get('content-type')).toBe('application/mcp-server-card+json');
    expect([twin.headers.get('content-type'), twin.headers.get('etag')]).toEqual([
      card.headers.get('content-type'),
      card.headers.get('etag'),
    ]);
    const text = await card.text();
    expect(await twin.text()).toBe(text);
    const { name, remotes } = serverCard.parse(JSON.parse(text));
    expect([name, remotes[0]?.url]).toEqual(['example.catalogue/agent-payable-apis', 'https://catalogue.example/mcp']);
  });

  it('says what the server says once connected', async () => {
    const { url, reading } = await serveMcp([]);
    const card = buildServerCard(reading.site);
    const { server, protocol } = await connectModern(url);
    expect(protocol).toBe(PROTOCOL_VERSIONS[0]);
    expect(server).toMatchObject({ title: card.title, version: card.version, websiteUrl: card.websiteUrl });
    expect(card.name.split('/')[1]).toBe(server?.name);
    expect(card.remotes[0]?.url).toBe(`${reading.site.baseUrl}/mcp`);
  });

  it.each(PROTOCOL_VERSIONS.slice(1))('names a protocol that the server answers: %s', async (protocolVersion) => {
    const { fetch } = await serveLive(await makeCatalogue());
    const clientInfo = { name: 'test-client', version: '1.0.0' };
    const response = await fetch('/mcp', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
        params: { protocolVersion, capabilities: {}, clientInfo },
      }),
    });
    expect(await response.text()).toContain(`"protocolVersion":"${protocolVersion}"`);
  });
});

describe('server.json', () => {
  it('is what the registry takes, under the name that the owner of the host can prove', async () => {
    const response = await (await serveLive(await makeCatalogue())).get('/server.json');
    const { name, remotes } = serverJson.parse(await response.json());
    expect([name, remotes[0]?.url]).toEqual(['example.catalogue/agent-payable-apis', 'https://catalogue.example/mcp']);
  });

  it.each([
    ['https://apis.example.com', 'com.example.apis/agent-payable-apis'],
    ['https://apis.example.com:8443', 'com.example.apis/agent-payable-apis'],
    ['http://localhost:4321', 'localhost/agent-payable-apis'],
    ['http://192.0.2.7', '192.0.2.7/agent-payable-apis'],
    ['http://[::1]:4321', 'localhost/agent-payable-apis'],
  ])('has a name that the schemas take for a service at %s', (baseUrl, name) => {
    const site = { ...SITE, baseUrl };
    expect(serverJson.parse(buildServerJson(site)).name).toBe(name);
    expect(serverCard.parse(buildServerCard(site)).name).toBe(name);
  });
});
