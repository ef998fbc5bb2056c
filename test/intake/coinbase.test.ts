import { expect, it } from 'vitest';
import { openCoinbase } from '../coinbase.ts';
import { openShop, serveWithIntake } from './serving.ts';

it("checks what Coinbase's client has validated, as by our own address", async () => {
  const server = await serveWithIntake({ count: 0 });
  const { origin, asked } = await openShop();
  const client = await openCoinbase(server.url);
  const report = await client.validateX402Resource({ resource: `${origin}/v1/quote`, method: 'GET' });
  expect(report).toMatchObject({ resource: `${origin}/v1/quote`, state: 'done', valid: true });
  expect(report.checks).toContainEqual(expect.objectContaining({ check: 'returns_402', passed: true }));
  expect(asked).toContain('GET /v1/quote');
  await expect(client.validateX402Resource({ resource: 'nowhere' })).rejects.toMatchObject({ statusCode: 400 });
  expect((await fetch(`${server.url}/v2/x402/validate`)).status).toBe(405);
});
