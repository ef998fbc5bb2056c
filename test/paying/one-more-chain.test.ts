import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type BaseChain, openWallet, startBaseChain } from '../../scripts/market/chain-base.ts';
import { TOKEN_ABI } from '../../scripts/market/token/token.ts';
import { networkKey } from '../../src/model/network.ts';
import { openChainReader } from '../../src/paying/networks.ts';
import { checkReceipt } from '../../src/paying/receipt-check.ts';
import { findListingPage, findReceiptPage } from '../../src/published/page-data.ts';
import { listWays } from '../../src/sources/x402-file/stated-payment.ts';
import { buildRouteCall } from '../../src/views/call/guide.ts';
import { listPaid } from '../../src/views/pages/receipt-page.ts';
import { serveLive } from '../http/serving.ts';
import { makeAccount } from '../market/authorizations.ts';
import { compileContract } from '../market/compile-token.ts';
import { deliver, PAY_TO, type Sale } from './paying.ts';
import { makePayingCommands, SLUG } from './verifying.ts';

/** One more entry of the table: nothing else of the service knows this chain. Its first block is read from the local chain. */
const MEADOW = vi.hoisted(() => {
  // Files of one worker share its modules, and those that were loaded before know nothing of this chain.
  vi.resetModules();
  return {
    key: 'meadow',
    family: 'evm',
    id: 'eip155:31337',
    label: 'Meadow',
    aliases: ['meadowmainnet', '31337'],
    isWord: true,
    usdc: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
    decimals: 6,
    domain: { name: 'Meadow Dollar', version: '3' },
    genesis: '',
    confirmations: 3,
    coin: 'SEED',
    nodeSetting: 'MEADOW_RPC_URL',
    getTransactionUrl: (transaction: string) => `https://meadow.example/tx/${transaction}`,
    getAccountUrl: (account: string) => `https://meadow.example/address/${account}`,
    getBlockUrl: (block: number) => `https://meadow.example/block/${block}`,
  };
});

vi.mock('../../src/model/chains.ts', async (load) => {
  const { NETWORKS } = await load<typeof import('../../src/model/chains.ts')>();
  return { NETWORKS: { ...NETWORKS, meadow: MEADOW } };
});

let chain: BaseChain;
beforeAll(async () => {
  const tokenCode = compileContract('LocalUsdc', 'LocalUsdc.sol', (source) =>
    source
      .replace('name = "USD Coin"', `name = "${MEADOW.domain.name}"`)
      .replace('version = "2"', `version = "${MEADOW.domain.version}"`),
  );
  chain = await startBaseChain({ network: MEADOW as unknown as BaseChain['network'], tokenCode });
  const { hash } = await openWallet(chain.rpcUrl, makeAccount(), chain.network).getBlock({ blockNumber: 0n });
  MEADOW.genesis = hash;
});
afterAll(async () => {
  vi.doUnmock('../../src/model/chains.ts');
  vi.resetModules();
  await chain.stop();
});

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
  const page = findListingPage(reading, SLUG);
  const route = page?.kind === 'live' && page.listing.routes[0];
  if (!route) throw new Error('the listing has no route');
  expect(buildRouteCall(page.listing, route).paying?.typescript).toContain(`networks: ['${MEADOW.id}']`);
});

it('is believed of an address that is paid on another chain of its family', () => {
  const ways = listWays({ payTo: PAY_TO, networks: ['base', 'Meadow Mainnet', 'solana'] });
  expect(ways.map(({ network, pay_to }) => [network, pay_to])).toEqual([
    ['base', PAY_TO],
    ['meadow', PAY_TO],
    ['solana', undefined],
  ]);
  expect(networkKey.options).toEqual(['base', 'solana', 'meadow']);
});
