import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { allowPermit2 } from '../../scripts/market/chain-base.ts';
import { openServer } from '../../scripts/market/loopback.ts';
import { type Market, startMarket } from '../../scripts/market/market.ts';
import { openCatalogue } from '../../src/catalogue/database.ts';
import { serveLive } from '../http/serving.ts';
import { makeCommands } from './running.ts';

let market: Market;
beforeAll(async () => {
  market = await startMarket({ plans: [], solana: false, tools: true });
});
afterAll(() => market.stop());

/** Starts an operator's commands on the market, with a wallet that holds 1 USDC. */
async function openOperator() {
  const privateKey = generatePrivateKey();
  await market.base.fund(privateKeyToAddress(privateKey), 1_000_000n);
  const now = () => new Date();
  const operator = makeCommands({ ALLOW_PRIVATE_NETWORKS: 'on' }, now);
  const { file } = operator;
  await operator.runJson('import', '--bazaar', market.feedUrl);
  const probed = await operator.runJson('probe', '--all', '--pause', '0');
  expect(JSON.stringify(probed.json)).toContain('"payable"');
  const payer = makeCommands(
    {
      ...{ ALLOW_PRIVATE_NETWORKS: 'on', CATALOGUE: file },
      ...{ EVM_RPC_URL: market.base.rpcUrl, PAYER_EVM_PRIVATE_KEY: privateKey },
    },
    now,
  );
  return { payer, privateKey, file };
}

/** Serves a catalogue, and checks one of its receipts as an outsider does: by its address and a node alone. */
async function openServing(file: string) {
  const catalogue = await openCatalogue(file, { identity: '', at: new Date().toISOString() });
  onTestFinished(() => catalogue.close());
  const { get } = await serveLive(catalogue, () => new Date());
  const checkReceipt = async (receiptId: string) => {
    const origin = await openServer((request) => get(new URL(request.url).pathname));
    onTestFinished(origin.close);
    const outsider = makeCommands({ ALLOW_PRIVATE_NETWORKS: 'on' });
    return outsider.runJson(
      ...['receipts', 'check', `${origin.url}/agent/receipts/${receiptId}`, '--rpc', market.base.rpcUrl],
    );
  };
  return { get, checkReceipt };
}

it('lists the paid tool of an MCP server, probes it, pays for it, and has a receipt that anybody can check', async () => {
  const { payer, file } = await openOperator();
  const paid = await payer.runJson('verify', 'tool-desk', '--route', 'POST /mcp#reverse_text', '--pay');
  expect(paid.json).toMatchObject({
    request: { method: 'POST', url: `${market.toolDesk?.endpoint}#reverse_text` },
    payment: { state: 'settled', delivered: true, conforming: 'undeclared', amount: 2000 },
  });

  const { get, checkReceipt } = await openServing(file);
  const listing = (await (await get('/agent/listings/tool-desk')).json()).listing;
  expect(listing.routes).toMatchObject([
    { path: '/mcp#count_letters', verification: 'unverified', terms: [{ needs: expect.arrayContaining(['mcp']) }, {}] },
    {
      path: '/mcp#reverse_text',
      verification: 'settlement-verified',
      example: { body: { text: 'stressed' } },
      proof: { request: { body: expect.stringContaining('"method":"tools/call"') } },
    },
    { path: '/mcp#shout_text', terms: [{ scheme: 'upto' }, { scheme: 'upto', evidence: 'observed' }] },
  ]);
  const item = (await (await get('/agent/list')).json()).listings[0];
  expect(item).toMatchObject({ price_min_usdc: 0.001, price_max_usdc: 0.05, price_max_is_ceiling: true });
  const ceiling = await payer.runJson('verify', 'tool-desk', '--route', 'POST /mcp#shout_text');
  expect(ceiling.json).toMatchObject({
    asked: [{ scheme: 'upto', amount: 50_000 }],
    would_pay: { amount: 50_000, is_ceiling: true },
  });

  // A client that cannot pay inside a tool call is not sent here.
  const list = async (can: string) => (await (await get(`/agent/list?can=${can}`)).json()).total;
  expect([await list('exact,eip3009'), await list('exact,eip3009,mcp')]).toEqual([0, 1]);
  const url = encodeURIComponent(`${market.toolDesk?.endpoint}#reverse_text`);
  const checked = await (await get(`/agent/check?method=POST&url=${url}&can=exact`)).json();
  expect(checked).toMatchObject({ verdict: 'expected', can_pay: false, missing: ['mcp'] });
  const found = await (await get('/discovery/resources?type=mcp')).json();
  expect(found.items).toMatchObject([
    { resource: market.toolDesk?.endpoint, type: 'mcp' },
    { type: 'mcp', extensions: { bazaar: { info: { input: { type: 'mcp', toolName: 'reverse_text' } } } } },
    { type: 'mcp', accepts: [{ scheme: 'upto' }] },
  ]);
  expect((await (await get('/discovery/resources?type=http')).json()).items).toEqual([]);

  const answer = await checkReceipt(listing.routes[1].proof.receipt_id);
  expect(answer.json.checks.filter(({ passed }: { passed: boolean }) => !passed)).toEqual([]);
  expect(answer.code).toBe(0);
});

it('pays for a tool what a call came to, below the ceiling that it signed, and has a receipt that says both', async () => {
  const { payer, privateKey, file } = await openOperator();
  const verify = () => payer.runJson('verify', 'tool-desk', '--route', 'POST /mcp#shout_text', '--pay');
  const refused = await verify();
  expect(refused.code).not.toBe(0);
  expect(refused.json.error).toMatchObject({ reason: 'allowance', hint: expect.stringContaining('approve(0x0000') });
  const account = privateKeyToAccount(privateKey);
  await allowPermit2(market.base, account);
  const { payment, caps } = (await verify()).json;
  expect(payment).toMatchObject({ state: 'settled', delivered: true, scheme: 'upto', amount: 120, ceiling: 50_000 });
  expect(caps.spent).toBe(120);
  expect(await market.base.getBalance(account.address)).toBe(1_000_000n - 120n);
  const shown = await payer.run(['receipts', 'check', payment.id]);
  expect(shown.stdout).toContain('0.00012 of at most 0.05 USDC on base settled, and the product came');

  const { get, checkReceipt } = await openServing(file);
  const route = (await (await get('/agent/listings/tool-desk')).json()).listing.routes[2];
  expect(route).toMatchObject({
    verification: 'settlement-verified',
    proof: { receipt_id: payment.id, amount: 120, ceiling: 50_000 },
  });
  const { receipt, check } = await (await get(`/agent/receipts/${payment.id}`)).json();
  expect(receipt).toMatchObject({
    ...{ scheme: 'upto', amount: '120', amount_usdc: '0.00012', ceiling: '50000', ceiling_usdc: '0.05' },
  });
  expect(check.json_rpc).toHaveLength(3);
  const answer = await checkReceipt(payment.id);
  expect(answer.json.checks.filter(({ passed }: { passed: boolean }) => !passed)).toEqual([]);
  expect(answer.json.checks.map(({ field }: { field: string }) => field)).toEqual(
    expect.arrayContaining(['ceiling', 'ceiling_usdc', 'nonce', 'amount', 'expires_at']),
  );
  expect(answer.code).toBe(0);
});
