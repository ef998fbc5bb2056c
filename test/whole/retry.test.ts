import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Declaration } from '../../src/model/declaration.ts';
import { makeWorld } from '../catalogue/evidence-world.ts';
import { makeCommands } from '../cli/running.ts';
import { SITE, serveLive } from '../http/serving.ts';
import { openPages } from '../pages/site.ts';
import { makeRoute } from '../records.ts';

const SLUG = 'example-prices';

/** Serves a catalogue with one listing, and gives what each surface says of its route. */
async function serve(world: Awaited<ReturnType<typeof makeWorld>>) {
  const live = await serveLive(world.catalogue);
  const { listing } = await (await live.get(`/agent/listings/${SLUG}`)).json();
  const pages = await openPages(live.reading);
  const { text } = await pages.get(`/api/${SLUG}`);
  const response = await live.fetch('/mcp', {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      Host: new URL(SITE.baseUrl).host,
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': 'tools/call',
      'Mcp-Name': 'get_listing',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'get_listing',
        arguments: { slug: SLUG },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    }),
  });
  const told = await response.text();
  live.reading.close();
  return { json: listing.routes[0].payment_identifier, mcp: /\\?"retry\\?":\\?"([^"\\]+)/.exec(told)?.[1], page: text };
}

it('what a 402 says of an id of the payment is a fact of its route, on every surface, as long as it says so', async () => {
  const world = await makeWorld();
  await world.declare();
  expect(await serve(world)).toMatchObject({ json: undefined, mcp: undefined });
  await world.look(6, { payment_identifier: 'supported' });
  const supported = await serve(world);
  expect(supported).toMatchObject({ json: 'supported', mcp: 'safe to retry' });
  expect(supported.page).toContain('Safe to retry.');
  await world.look(12, { payment_identifier: 'required' });
  const required = await serve(world);
  expect(required).toMatchObject({ json: 'required', mcp: 'needs payment id' });
  expect(required.page).toContain('Needs payment id.');
  // A failure says nothing of it, and the next valid 402 without it takes it back.
  await world.look(18, { outcome: 'server_error', status: 500, terms: [] });
  expect(await serve(world)).toMatchObject({ json: 'required' });
  await world.look(24);
  expect(await serve(world)).toMatchObject({ json: undefined, mcp: undefined });
});

it('what a document of the provider says of it counts until a 402 is seen, and what a stranger says never', async () => {
  const { declare, look, find } = await makeWorld();
  const source = (kind: 'openapi' | 'bazaar', name: string): Partial<Declaration> => ({
    source: { kind, name, observed_at: null },
    routes: [makeRoute({ payment_identifier: 'supported' })],
  });
  const getSaid = async () => (await find()).routes[0]?.payment_identifier;
  await declare();
  await declare(source('bazaar', 'https://feed.example/discovery/resources'));
  expect(await getSaid()).toBeUndefined();
  await declare(source('openapi', 'https://prices.example-provider.com/openapi.json'));
  expect(await getSaid()).toBe('supported');
  await look(6);
  expect(await getSaid()).toBeUndefined();
});

it.each([
  [
    'an x402 file',
    {
      items: [
        {
          url: '/v1/a',
          method: 'GET',
          price: '$0.01',
          extensions: { 'payment-identifier': { info: { required: true } } },
        },
      ],
    },
  ],
  [
    'an OpenAPI document',
    {
      ...{ openapi: '3.1.0', info: { title: 'Tides of Tests', version: '1' }, servers: [{ url: '/' }] },
      paths: {
        '/v1/a': {
          get: {
            'x-payment-info': {
              price: '0.01',
              protocols: [{ x402: { extensions: { 'payment-identifier': { info: { required: true } } } } }],
            },
          },
        },
      },
    },
  ],
])('%s can say it', async (_name, document) => {
  const { folder, runJson } = makeCommands();
  const file = join(folder, 'saved.json');
  writeFileSync(file, JSON.stringify(document));
  const { json } = await runJson('import', '--openapi', file, '--source', 'https://api.tides-of-tests.com/x.json');
  const { listing } = (await runJson('show', json.outcomes[0].slug)).json;
  expect(listing.routes[0].payment_identifier).toBe('required');
});
