import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type BaseChain, openWallet, startBaseChain } from '../../scripts/market/chain-base.ts';
import { TOKEN_ABI } from '../../scripts/market/token/token.ts';
import { type EvmNetwork, NETWORKS, type NetworkKey, networkKey } from '../../src/model/network.ts';
import { openChainReader } from '../../src/paying/networks.ts';
import { checkReceipt } from '../../src/paying/receipt-check.ts';
import { findListingPage, findReceiptPage } from '../../src/published/page-data.ts';
import { buildRouteCall } from '../../src/views/call/guide.ts';
import { listPaid } from '../../src/views/pages/receipt-page.ts';
import { serveLive } from '../http/serving.ts';
import { makeAccount } from '../market/authorizations.ts';
import { takeRoute } from '../sources/openapi/documents.ts';
import { deliver, PAY_TO, type Sale } from './paying.ts';
import { makePayingCommands, SLUG } from './verifying.ts';

/** The chain that was added to the table. */
const MEADOW = NETWORKS['meadow' as NetworkKey] as EvmNetwork;

let chain: BaseChain;
beforeAll(async () => {
  const tokenCode = readFileSync(new URL('./meadow-dollar.hex', import.meta.url), 'utf8').trim() as `0x${string}`;
  chain = await startBaseChain({ network: MEADOW, tokenCode });
  const { hash } = await openWallet(chain.rpcUrl, makeAccount(), chain.network).getBlock({ blockNumber: 0n });
  Object.assign(MEADOW, { genesis: hash });
});
afterAll(() => chain.stop());

const sell: Sale<`0x${string}`> = async ({ response, settle }) => {
  const transaction = await settle();
  await chain.mine(MEADOW.confirmations);
  deliver(response, transaction);
};

it('has the domain that its contract says', async () => {
  const wallet = openWallet(chain.rpcUrl, makeAccount(), chain.network);
  const read = (functionName: 'name' | 'version' | 'decimals') =>
    wallet.readContract({ address: MEADOW.usdc as `0x${string}`, abi: TOKEN_ABI, functionName });
  expect(await Promise.all([read('name'), read('version'), read('decimals')])).toEqual([
    MEADOW.domain.name,
    MEADOW.domain.version,
    MEADOW.decimals,
  ]);
});

it('is probed, quoted, paid and shown with its receipt as soon as it is in the table', async () => {
  const { verify, catalogue, getLost } = await makePayingCommands(chain, { sale: sell, offer: { amount: '2000' } });
  // The record says 1000, so nothing is paid, and the probe puts the offer of the 402 on record.
  expect((await verify('--pay')).json).toMatchObject({ refused: 'terms_differ', payment: null });
  const quote = await verify();
  expect(quote.json).toMatchObject({
    ...{ status: 402, refused: null, differences: [] },
    on_record: [{ network: 'meadow', amount: 2000, evidence: 'observed' }],
    asked: [{ network: 'meadow', asset: MEADOW.usdc, amount: 2000, pay_to: PAY_TO, x402_version: 2 }],
    would_pay: { network: 'meadow', amount: 2000 },
  });
  const { code, json } = await verify('--pay');
  expect([code, json.payment.state, json.payment.delivered]).toEqual([0, 'settled', true]);
  expect(await getLost()).toBe(2000n);

  const { reading, get } = await serveLive(catalogue, () => new Date());
  const { receipt, check } = await (await get(`/agent/receipts/${json.payment.id}`)).json();
  expect(receipt).toMatchObject({
    ...{ network: 'meadow', network_id: MEADOW.id, public_chain: true, seller_agrees: true },
    transaction_url: MEADOW.getTransactionUrl(receipt.settlement.transaction),
  });
  expect(check.json_rpc[0].params[0]).toMatchObject({ address: MEADOW.usdc });
  const checks = await checkReceipt(receipt, [
    { name: 'the node', reader: await openChainReader(receipt.network, chain.rpcUrl) },
  ]);
  expect(checks.filter(({ passed }) => !passed)).toEqual([]);
  const page = findReceiptPage(reading, receipt.id);
  expect(page && listPaid(page)).toContainEqual(
    expect.objectContaining({ href: MEADOW.getBlockUrl(receipt.settlement.block) }),
  );
});

it('is listed, filtered and explained as the others are', async () => {
  const { catalogue, verify } = await makePayingCommands(chain, { sale: sell, offer: { amount: '2000' } });
  for (const code of [1, 0]) expect((await verify('--pay')).code).toBe(code);
  const { get, reading } = await serveLive(catalogue, () => new Date());
  const { tags } = await (await get('/openapi.json')).json();
  expect(tags[0]['x-networks']).toMatchObject([
    { key: 'base', advertised: false },
    { key: 'meadow', id: MEADOW.id, label: 'Meadow', advertised: true, settlement_verified: true },
  ]);
  const { total } = await (await get('/agent/list?network=meadow')).json();
  expect(total).toBe(1);
  const found = await (
    await get(`/discovery/resources?network=${MEADOW.id}&payTo=${PAY_TO.toUpperCase().replace('X', 'x')}`)
  ).json();
  expect(found.items[0].accepts).toMatchObject([{ network: MEADOW.id, asset: MEADOW.usdc, extra: MEADOW.domain }]);
  const page = await findListingPage(reading, SLUG);
  const route = page?.kind === 'live' && page.listing.routes[0];
  if (!route) throw new Error('the listing has no route');
  expect(buildRouteCall(page.listing, route).paying?.typescript).toContain(`networks: ['${MEADOW.id}']`);
});

it('is believed of an address that is paid on another chain of its family', () => {
  const networks = ['base', 'Meadow Mainnet', 'solana'];
  const { terms } = takeRoute({ resources: [{ url: '/v1/heights', price: '$0.01', payTo: PAY_TO, networks }] });
  expect(terms.map(({ network, pay_to }) => [network, pay_to])).toEqual([
    ['base', PAY_TO],
    ['meadow', PAY_TO],
    ['solana', null],
  ]);
  expect(networkKey.options).toEqual(['base', 'solana', 'meadow']);
});
