import { createKeyPairSignerFromPrivateKeyBytes, getBase58Decoder } from '@solana/kit';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type SolanaChain, startSolanaChain } from '../../scripts/market/chain-solana.ts';
import type { MarketNetwork } from '../../scripts/market/providers/route.ts';
import { NETWORKS } from '../../src/model/network.ts';
import type { Payment } from '../../src/model/payment.ts';
import { IDENTITY, makeDeclaration, makeRoute, makeTerms } from '../builders.ts';
import { makeCommands } from '../cli/running.ts';
import { openNewCatalogue } from '../new-catalogue.ts';
import { getMarket } from '../worker-market.ts';
import { declareListings } from '../written.ts';
import { type Lie, openLyingNode } from './lying-node.ts';
import { deliver, PAY_TO, type Sale, serveSeller } from './paying.ts';
import { serveSolanaSeller } from './solana-seller.ts';

/** How far the clocks of the commands and the chains are ahead of the machine's, in milliseconds. */
let ahead = 0;
const getNow = () => Date.now() + ahead;
const HOUR_MS = 3_600_000;

const { base } = await getMarket();
let solana: SolanaChain;
beforeAll(async () => {
  solana = await startSolanaChain({ now: getNow });
});
afterAll(() => solana.stop());

const SLUG = 'example-prices';
const FUNDS = 1_000_000n;
const LAST_ROUTE = 8;
const SETTINGS = {
  base: { url: 'EVM_RPC_URL', second: 'EVM_RPC_URL_SECOND', key: 'PAYER_EVM_PRIVATE_KEY' },
  solana: { url: 'SOLANA_RPC_URL', second: 'SOLANA_RPC_URL_SECOND', key: 'PAYER_SOLANA_PRIVATE_KEY' },
} as const;

/** Denies every payment and dates the latest block 270 seconds ahead, but for what is read right before a payment. */
function denyOnBase(): Lie {
  let isPreparing = false;
  return (method, params, truth) => {
    if (method === 'eth_getBlockByNumber' && params[0] === 'latest' && !isPreparing) {
      return { ...(truth as object), timestamp: `0x${(Math.floor(getNow() / 1000) + 270).toString(16)}` };
    }
    if (method !== 'eth_call') return undefined;
    const asked = JSON.stringify(params);
    // The balance is read before a payment is made; then comes its head.
    isPreparing = asked.includes('0x70a08231');
    return asked.includes('0xe94a0102') ? `0x${'0'.repeat(64)}` : undefined;
  };
}

/** Shows no transaction, and is many blocks and 270 seconds ahead. */
const denyOnSolana: Lie = (method, params, truth) => {
  if (method === 'getSignaturesForAddress') return [];
  if (method === 'getBlockTime') return Number(truth) + 270;
  const isFinal = !JSON.stringify(params).includes('confirmed');
  return method === 'getBlockHeight' && isFinal ? Number(truth) + 1000 : undefined;
};

/** A wallet with 1 USDC at one node of a network, and the commands to pay a seller of eight routes. */
async function openPaying(network: MarketNetwork, sale: Sale<string>) {
  const isBase = network === 'base';
  const chain = isBase ? base : solana;
  const node = await openLyingNode(chain.rpcUrl);
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  const key = isBase ? generatePrivateKey() : getBase58Decoder().decode(bytes);
  const payer = isBase
    ? privateKeyToAddress(key as `0x${string}`)
    : (await createKeyPairSignerFromPrivateKeyBytes(bytes)).address;
  await chain.fund(payer, FUNDS);
  const { url, payee } = isBase
    ? { url: await serveSeller(base, sale), payee: PAY_TO }
    : await serveSolanaSeller(solana, sale);
  const settings = SETTINGS[network];
  const commands = makeCommands(
    { ALLOW_PRIVATE_NETWORKS: 'on', [settings.url]: node.url, [settings.key]: key, MAX_USDC_PER_DAY: '0.003' },
    () => new Date(getNow()),
  );
  const catalogue = await openNewCatalogue(commands.file, { identity: IDENTITY, at: new Date().toISOString() });
  onTestFinished(() => catalogue.close());
  const terms = [makeTerms({ network, asset: NETWORKS[network].usdc, pay_to: payee })];
  const paths = Array.from({ length: LAST_ROUTE }, (_, index) => `/v1/quote-${index + 1}`);
  const routes = paths.map((path) => makeRoute({ path, example: { query: { of: 'gold' } }, terms }));
  await declareListings(catalogue, [makeDeclaration({ base_url: url, routes })], new Date().toISOString());
  const { run, runJson, environment } = commands;
  /** Runs a command that only shows something, which refuses to see a key. */
  const show = async (...args: string[]) => {
    const kept = { ...environment };
    for (const name of Object.keys(environment))
      if (/^(PAYER|EVM|SOLANA)_/.test(name)) Object.assign(environment, { [name]: '' });
    const { stdout } = await run(args);
    Object.assign(environment, kept);
    return stdout;
  };
  return {
    ...{ node, run, show, settings, chain },
    verify: () => run(['verify', SLUG, '--route', 'GET /v1/quote-1', '--pay']),
    verifyDue: async (budget: string) => (await runJson('verify', '--due', '--budget', budget)).json,
    reconcile: async (): Promise<Payment[]> => (await runJson('receipts', 'reconcile')).json.payments,
    list: async (): Promise<Payment[]> => (await runJson('receipts')).json.payments,
    addNode: () => Object.assign(environment, { [settings.second]: chain.rpcUrl }),
    setCap: (cap: string) => Object.assign(environment, { MAX_USDC_PER_DAY: cap }),
    getLost: async () => FUNDS - (await chain.getBalance(payer)),
  };
}

const settleAndDeliver: Sale<string> = async ({ response, settle }) => deliver(response, await settle());

/** Lets the time pass in which a payment can settle, by the chain's clock, and undoes that on Base. */
async function afterExpiry(network: MarketNetwork, work: () => Promise<void>): Promise<void> {
  if (network === 'solana') {
    solana.skipSlots(400);
    await work();
  } else {
    await base.undoAfter(async () => {
      await base.setTime(Math.max(await base.getTime(), Math.floor(getNow() / 1000)) + 200);
      await work();
    });
  }
}

/** Lets hours pass, by every clock. */
async function afterHours(network: MarketNetwork, hours: number, work: () => Promise<void>): Promise<void> {
  ahead = hours * HOUR_MS;
  try {
    if (network === 'solana') return await work();
    await base.undoAfter(async () => {
      await base.setTime(Math.floor(getNow() / 1000));
      await work();
    });
  } finally {
    ahead = 0;
  }
}

describe.each(['base', 'solana'] as const)('a lone node of %s that denies payments', (network) => {
  const lie = () => (network === 'base' ? denyOnBase() : denyOnSolana);

  it('cannot make payments cost more than a day may, however many are tried', async () => {
    const { node, verify, show, run, reconcile, list, getLost } = await openPaying(network, settleAndDeliver);
    node.lie = lie();
    const said: string[] = [];
    for (let payment = 1; payment <= 6; payment += 1) {
      const { stdout, stderr } = await verify();
      said.push(stdout + stderr);
    }
    expect(await getLost()).toBe(3000n);
    expect(said[0]).toMatch(
      /is unconfirmed: one node alone says that it did not settle, so it counts as spent until .* UTC\. Its id/,
    );
    expect(said.slice(3).filter((words) => !words.includes('is more than a day may cost: 0.003 USDC'))).toEqual([]);
    expect(await list()).toMatchObject(Array.from({ length: 3 }, () => ({ state: 'unknown', reason: 'unconfirmed' })));
    expect((await run(['receipts'])).stdout).toMatch(
      /\tunconfirmed \(one node alone .* counts as spent until .* UTC\)\t/,
    );
    expect(await show('status')).toContain(
      '0 settled (0 USDC), 0 not, 0 open; 0.003 USDC of 3 more count as spent until a day after their expiry, because one node alone says that they did not settle',
    );
    expect((await show('metrics')).split('\n')).toEqual(
      expect.arrayContaining([
        'catalogue_payments{state="unconfirmed"} 3',
        'catalogue_payments{state="open"} 0',
        'catalogue_day_spent_usdc 0.003',
      ]),
    );
    node.lie = undefined;
    expect(await reconcile()).toMatchObject(Array.from({ length: 3 }, () => ({ state: 'settled', delivered: true })));
  });

  it('cannot make a run pay more than its budget', async () => {
    const { node, verifyDue, setCap, getLost } = await openPaying(network, settleAndDeliver);
    setCap('5');
    node.lie = lie();
    const result = await verifyDue('0.003');
    expect(await getLost()).toBe(3000n);
    expect(result).toMatchObject({ ended: 'done', spent: 3000, left: 0 });
    const outcomes = result.routes.map(({ outcome, reason }: { outcome: string; reason: string }) => [outcome, reason]);
    expect(outcomes).toEqual([
      ...Array.from({ length: 3 }, () => ['open', 'unconfirmed']),
      ...Array.from({ length: LAST_ROUTE - 3 }, () => ['skipped', 'beyond_budget']),
    ]);
  });
});

describe.each(['base', 'solana'] as const)('a payment on %s that never settles', (network) => {
  const EXPIRED = { state: 'not_settled', reason: 'expired' };
  const UNCONFIRMED = { state: 'unknown', reason: 'unconfirmed' };

  /** Two payments that are not settled by the word of the only node: after the first the wallet paid on. */
  async function openUnconfirmed() {
    const paying = await openPaying(network, ({ response }) => deliver(response));
    paying.node.lie = network === 'base' ? denyOnBase() : denyOnSolana;
    await paying.verify();
    await paying.verify();
    paying.node.lie = undefined;
    expect(await paying.list()).toMatchObject([UNCONFIRMED, UNCONFIRMED]);
    return paying;
  }
  const isSpent = (usdc: string) => expect.stringContaining(`\ncatalogue_day_spent_usdc ${usdc}\n`);

  it('is free once a second node says so', async () => {
    const { reconcile, addNode, show } = await openUnconfirmed();
    await afterExpiry(network, async () => {
      expect(await reconcile()).toMatchObject([UNCONFIRMED, UNCONFIRMED]);
      expect(await show('metrics')).toEqual(isSpent('0.002'));
      addNode();
      expect(await reconcile()).toMatchObject([EXPIRED, EXPIRED]);
      expect(await show('metrics')).toEqual(isSpent('0'));
      expect(await reconcile()).toEqual([]);
    });
  });

  it('is free when its only node has said so for a day', async () => {
    const { reconcile, run } = await openUnconfirmed();
    await afterHours(network, 23.9, async () => {
      expect(await reconcile()).toMatchObject([UNCONFIRMED, UNCONFIRMED]);
    });
    await afterHours(network, 24.2, async () => {
      expect(await reconcile()).toMatchObject([EXPIRED, EXPIRED]);
      expect((await run(['receipts'])).stdout).not.toContain('counts as spent');
    });
  });
});
