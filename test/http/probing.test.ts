import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { openCatalogue } from '../../src/catalogue/database.ts';
import { NETWORKS } from '../../src/model/network.ts';
import { IDENTITY, makeDeclaration, makeFolder, makeRoute, makeTerms } from '../builders.ts';
import { declareListings } from '../written.ts';
import { start } from './starting.ts';

/** A provider whose only route asks for 0.0025 USDC, whatever was declared of it. */
async function serveProvider(): Promise<string> {
  const offer = {
    scheme: 'exact',
    network: 'base',
    maxAmountRequired: '2500',
    asset: NETWORKS.base.usdc,
    payTo: makeTerms().pay_to,
    resource: 'http://127.0.0.1/v1/quote',
    description: '',
    mimeType: 'application/json',
    maxTimeoutSeconds: 60,
  };
  const server = createServer(({ url }, response) => {
    response.statusCode = url === '/v1/quote' ? 402 : 404;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ x402Version: 1, error: 'payment required', accepts: [offer] }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function startProbed(now: string) {
  const folder = makeFolder();
  const catalogue = await openCatalogue(join(folder, 'catalogue.sqlite'), { identity: IDENTITY, at: now });
  const base_url = await serveProvider();
  await declareListings(catalogue, [makeDeclaration({ base_url, routes: [makeRoute({ path: '/v1/quote' })] })], now);
  await catalogue.close();
  return start(folder, { PROBE: 'on', INTAKE: 'off', ALLOW_PRIVATE_NETWORKS: 'on' }, ['--no-rebuild']);
}

it('says why it probes nothing where the clock is over a year ahead of the catalogue', async () => {
  const server = await startProbed('2024-01-01T00:00:00.000Z');
  while (!server.said.err.includes('Set the clock that is wrong')) await sleep(50);
  expect(server.said.err).toMatch(/The clock of this machine says .*, and the catalogue was last written 2024-01-01T/);
});
