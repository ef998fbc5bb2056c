import { expect, it } from 'vitest';
import { readDocument, takeDocument } from './openapi/documents.ts';

const AT = {
  url: 'https://agent.tides-of-tests.com/.well-known/x402',
  name: 'https://agent.tides-of-tests.com/.well-known/x402',
};

const CARD = {
  protocolVersion: '0.3.0',
  name: 'Tides',
  url: 'https://agent.tides-of-tests.com/a2a',
  capabilities: { extensions: [{ uri: 'https://github.com/google-agentic-commerce/a2a-x402/v0.1' }] },
  skills: [{ id: 'heights', name: 'Heights', description: 'Heights of tides.' }],
};
const REGISTRATION = {
  type: 'https://eips.ethereum.org/EIPS/eip-8004#registration-v1',
  name: 'Tides',
  services: [
    { name: 'web', endpoint: 'https://agent.tides-of-tests.com/' },
    { name: 'A2A', endpoint: 'https://agent.tides-of-tests.com/.well-known/agent-card.json' },
    { name: 'ENS', endpoint: 'tides.eth' },
    { name: 'email', endpoint: 'us@tides-of-tests.com' },
  ],
  x402Support: true,
};
const SERVER = {
  $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
  name: 'com.tides-of-tests/heights',
  version: '1.0.0',
  remotes: [{ type: 'streamable-http', url: 'https://agent.tides-of-tests.com/mcp' }],
};

it.each<[string, object, string]>([
  ['an agent card of A2A', CARD, 'names the endpoint https://agent.tides-of-tests.com/a2a,'],
  [
    'an agent card of A2A',
    { ...CARD, url: undefined, supportedInterfaces: [{ url: 'https://agent.tides-of-tests.com/v1' }] },
    'names the endpoint https://agent.tides-of-tests.com/v1,',
  ],
  [
    'a registration of an agent of ERC-8004',
    REGISTRATION,
    'endpoints https://agent.tides-of-tests.com/, https://agent.tides-of-tests.com/.well-known/agent-card.json,',
  ],
  ['a server.json of MCP', SERVER, 'names the endpoint https://agent.tides-of-tests.com/mcp,'],
  [
    'a server.json of MCP',
    { name: 'com.tides-of-tests/heights', packages: [{ registryType: 'npm', identifier: 'heights' }] },
    'names no address of an endpoint,',
  ],
  [
    'a list of services of L402 (Lightning)',
    { services: ['a', 'b', 'c', 'd', 'e'].map((name) => ({ path: `/v1/${name}`, price_sats: 10 })) },
    'tests.com/v1/a, https://agent.tides-of-tests.com/v1/b, https://agent.tides-of-tests.com/v1/c and 2 more,',
  ],
  [
    'a list of services of L402 (Lightning)',
    { protocol: 'L402', endpoints: [{ url: 'https://agent.tides-of-tests.com/v1/a' }] },
    'names the endpoint https://agent.tides-of-tests.com/v1/a,',
  ],
])('%s is told apart, and never listed', (what, document, where) => {
  const read = readDocument(document, AT);
  expect(read).toMatchObject({ code: 'other_list', message: expect.stringContaining(`is ${what}: it `) });
  expect(read).toMatchObject({ message: expect.stringContaining(where) });
  expect(read).toMatchObject({ message: expect.stringMatching(/, and states no terms of x402\.$/) });
});

it.each<[string, object]>([
  ['is paid by L402, too', { protocols: ['x402', 'L402'], resources: [{ path: '/v1/a', price_sats: 10 }] }],
  ['has skills beside its endpoints', { skills: [{}], capabilities: {}, endpoints: [{ path: '/v1/a', price: '$1' }] }],
  [
    'is versioned',
    { x402Version: 2, skills: [], capabilities: {}, resources: ['https://agent.tides-of-tests.com/v1/a'] },
  ],
])('an x402 file that %s is read as one', (_what, document) => {
  expect(takeDocument(document, AT).declarations).toMatchObject([{ routes: [{ path: '/v1/a' }] }]);
});
