import { expect, it } from 'vitest';
import { buildFeedDeclarations } from '../../../src/sources/bazaar/feed.ts';
import { NOW } from '../../records.ts';

const OFFER = {
  scheme: 'exact',
  network: 'eip155:8453',
  amount: '1000',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  payTo: '0x1111111111111111111111111111111111111111',
  maxTimeoutSeconds: 60,
};

/** An item as a facilitator that follows the extension `bazaar` has it. */
function makeTool(input: object, rest: object = {}) {
  return {
    x402Version: 2,
    type: 'mcp',
    resource: 'https://tools.example/mcp',
    accepts: [OFFER],
    extensions: { bazaar: { info: { input: { type: 'mcp', toolName: 'report', ...input } } } },
    ...rest,
  };
}

const read = (...items: unknown[]) => {
  const options = { feed: 'a feed', pulledAt: NOW, allowPrivateNetworks: false };
  const { declarations, outcomes } = buildFeedDeclarations(items, options);
  return { routes: declarations.flatMap(({ routes }) => routes), outcomes: outcomes.map(({ outcome }) => outcome) };
};

it('makes a route of each tool of one endpoint, with its arguments as the body', () => {
  const inputSchema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
  const forecast = makeTool({ description: 'Says what comes.', inputSchema, example: { city: 'Oslo' } });
  const other = makeTool({ toolName: 'now', inputSchema: { type: 'object', properties: {} } });
  const { routes, outcomes } = read(forecast, other);
  expect(outcomes).toEqual(['taken', 'taken']);
  expect(routes).toMatchObject([
    { method: 'POST', path: '/mcp#now', example: { body: {} } },
    {
      ...{ method: 'POST', path: '/mcp#report', description: 'Says what comes.' },
      input_schema: { properties: { body: inputSchema } },
      example: { body: { city: 'Oslo' } },
      terms: [{ amount: 1000 }],
    },
  ]);
});

it('takes no call without arguments for the example of a tool that needs some', () => {
  const inputSchema = { type: 'object', properties: { city: { type: 'string' } } };
  expect(read(makeTool({ inputSchema })).routes.map(({ example }) => example)).toEqual([null]);
});

it.each([
  ['without a name', makeTool({ toolName: undefined })],
  ['with a name that MCP does not allow', makeTool({ toolName: 'a b#c' })],
  ['over another transport', makeTool({ transport: 'sse' })],
  ['at an address that nobody can call', makeTool({}, { resource: 'mcp://tool/report' })],
])('refuses a tool %s', (_, item) => {
  expect(read(item)).toEqual({ routes: [], outcomes: ['refused'] });
});
