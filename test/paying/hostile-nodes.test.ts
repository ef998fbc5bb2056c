import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { openWallet as openEvmWallet } from '../../scripts/market/chain-base.ts';
import type { MarketNetwork } from '../../scripts/market/providers/route.ts';
import { TOKEN_ABI, TOKEN_ADDRESS, TOKEN_DOMAIN, TOKEN_TYPES } from '../../scripts/market/token/token.ts';
import { countSpent } from '../../src/catalogue/write/payments.ts';
import { NETWORKS } from '../../src/model/network.ts';
import type { Payment } from '../../src/model/payment.ts';
import { openEvmRail } from '../../src/paying/evm/rail.ts';
import type { Chain, ChainFinding } from '../../src/paying/rail.ts';
import { checkUnsettled } from '../../src/paying/receipt-check.ts';
import { reconcilePayments } from '../../src/paying/reconcile.ts';
import { makeTerms } from '../records.ts';
import { getMarket } from '../worker-market.ts';
import { beDown, type Lie, openLyingNode, sayPublic } from './lying-node.ts';
import { getChain, HONEST, openMarketPaying, openWallet, shareWallets, type Wallet } from './market-paying.ts';
import { deliver, openPaying, PAY_TO, serveSeller } from './paying.ts';

const market = await getMarket();
const { base: chain } = market;

const now = () => new Date();
const PATIENCE = { patienceMs: 300 };
const PRICE = 1000;

const wallets = await shareWallets(market);

/** Opens a wallet at a node that may lie, or at two if `second` is given, with an honest seller. */
async function openUnderLies(
  { network = 'base', first, second, timeoutMs }: Partial<Row>,
  wallet: Wallet = wallets[network],
) {
  const { rpcUrl } = getChain(market, network);
  const [node, other] = await Promise.all([openLyingNode(rpcUrl, first), openLyingNode(rpcUrl, second)]);
  const rail = await wallet.openAt(second ? [node.url, other.url] : [node.url], timeoutMs);
  const paying = await openMarketPaying(market, HONEST, { network, version: 2 }, { ...wallet, rail });
  const { ledger, catalogue } = paying;
  return {
    ...paying,
    node,
    other,
    reconcile: async () => (await reconcilePayments({ rail, ledger, now }))[0],
    getSpent: () => countSpent(catalogue, now().toISOString()),
  };
}
/** The same, for a wallet of its own. */
const openAlone = async (lies: Partial<Row> = {}) =>
  openUnderLies(lies, await openWallet(market, lies.network ?? 'base'));

interface Row {
  /** Default: Base. */
  network?: MarketNetwork;
  /** What the first node says in place of the truth, and the second; without it there is one node. */
  first?: Lie;
  second?: Lie;
  /** Lies only once the seller has answered. Default: at once. */
  isLater?: true;
  /** Time limit for one answer of a node, in milliseconds. */
  timeoutMs?: number;
  /** How far our clock is ahead, in milliseconds. */
  off?: number;
  /** Why nothing is paid, or the payment under the lie. */
  comes: Failure | Partial<Record<keyof Payment, unknown>>;
  /** How the call fails although the payment is sent, or null if it may. Default: it does not. */
  fails?: Failure | null;
}

interface Failure {
  code: string;
  reason?: string;
}

const fail = (reason: string): Failure => ({ code: 'unavailable', reason });

/** Time limits for a node that never ends, and for one that answers: an honest one is slow on a machine that does much else. */
const ENDLESS_MS = 1_200;
const TIMEOUT_MS = 20_000;
const HUGE = 2n ** 52n;
const TEN_YEARS = 315_360_000;

/** A response with endless bytes, one at a time. */
function trickle(): Response {
  let timer: NodeJS.Timeout;
  const body = new ReadableStream({
    start: (stream) => {
      timer = setInterval(() => stream.enqueue(Buffer.from(' ')), 20);
    },
    cancel: () => clearInterval(timer),
  });
  return new Response(body, { headers: { 'content-type': 'application/json' } });
}

/** Answers of no use, of a node of either network. */
const ANSWERS: Record<string, Lie> = {
  'a page': () => new Response('<!doctype html><title>Sign in</title>', { headers: { 'content-type': 'text/html' } }),
  'an object': () => ({ __proto__: null, length: -1 }),
  'a list': () => [[]],
  'a number without end': () => Number.MAX_SAFE_INTEGER,
  null: () => null,
};

/** Well-formed but endless answers for one network. */
const ENDLESS: Record<MarketNetwork, Lie> = {
  base: (method, params, truth) => {
    if (method === 'eth_getBlockByNumber' && params[0] === 'latest') {
      return { ...(truth as object), number: `0x${HUGE.toString(16)}` };
    }
    if (method === 'eth_call') return `0x${'1'.padStart(64, '0')}`;
    return method === 'eth_getLogs' ? [] : undefined;
  },
  solana: (method) => {
    if (method !== 'getSignaturesForAddress') return undefined;
    return Array.from({ length: 1000 }, () => ({ signature: '1'.repeat(64), slot: Number(HUGE) }));
  },
};

const tellTruth: Lie = () => undefined;
const denyUse: Lie = (method, params) =>
  method === 'eth_call' && JSON.stringify(params).includes('0xe94a0102') ? `0x${'0'.repeat(64)}` : undefined;
const sayTime =
  (seconds: number): Lie =>
  (method, params, truth) =>
    method === 'eth_getBlockByNumber' && params[0] === 'latest' && typeof truth === 'object'
      ? { ...truth, timestamp: `0x${(Math.floor(Date.now() / 1000) + seconds).toString(16)}` }
      : undefined;
const deny =
  (seconds: number): Lie =>
  (...asked) =>
    denyUse(...asked) ?? sayTime(seconds)(...asked);

/** What a node says, and what comes of a payment. */
const ROWS: Record<string, Row> = {
  ...Object.fromEntries(
    (['base', 'solana'] as const).flatMap((network) => [
      ...Object.entries(ANSWERS).flatMap(([name, first]): [string, Row][] => [
        [
          `${name} before the payment, on ${network}`,
          { network, first, timeoutMs: TIMEOUT_MS, comes: { code: expect.stringMatching(/^(unavailable|refused)$/) } },
        ],
        [`${name} after the payment, on ${network}`, answerLater({ network, first })],
      ]),
      ...([
        [`answers without end, on ${network}`, answerLater({ network, first: ENDLESS[network] })],
        [`a byte every moment, on ${network}`, answerLater({ network, first: trickle, timeoutMs: ENDLESS_MS })],
      ] satisfies [string, Row][]),
    ]),
  ),
  'a blockhash that is good without end': {
    network: 'solana',
    first: (method, _params, truth) =>
      method === 'getLatestBlockhash'
        ? { ...(truth as object), value: { ...(truth as { value: object }).value, lastValidBlockHeight: Number(HUGE) } }
        : undefined,
    comes: { code: 'unavailable' },
  },
  'nothing before the payment': { first: beDown, comes: fail('rpc_failed') },
  'nothing after the payment': {
    first: beDown,
    isLater: true,
    comes: { state: 'unknown', reason: 'rpc_failed', delivered: true },
    fails: fail('rpc_failed'),
  },
  'another chain': {
    first: (method) => (method === 'eth_chainId' ? '0x1' : undefined),
    comes: { code: 'refused', reason: 'wrong_chain' },
  },
  'no events': {
    first: (method) => (method === 'eth_getLogs' ? [] : undefined),
    comes: { state: 'unknown', reason: 'no_event' },
  },
  'the transaction without its transfer': {
    first: (method, _params, truth) =>
      method === 'eth_getTransactionReceipt' ? { ...(truth as object), logs: [] } : undefined,
    comes: { state: 'unknown', reason: 'no_matching_transfer' },
  },
  'as the second, that the payment was not seen yet': {
    first: tellTruth,
    second: denyUse,
    comes: { state: 'sent', settlement: null },
  },
  'as the second, that the payment never settled': {
    second: deny(100_000),
    isLater: true,
    comes: { state: 'unknown', reason: 'nodes_disagree' },
  },
  'a time in ten years after the payment': {
    first: deny(TEN_YEARS),
    isLater: true,
    comes: { state: 'unknown', reason: 'clock_differs' },
  },
  'a time in ten years': { first: sayTime(TEN_YEARS), comes: fail('clock_differs') },
  'as the second, a time in ten years': { second: sayTime(TEN_YEARS), comes: fail('clock_differs') },
  'as the second, a time an hour ago': { second: sayTime(-3600), comes: fail('clock_differs') },
  'the truth, while our clock is 25 hours ahead': { off: 25 * 3_600_000, comes: fail('clock_differs') },
  'the truth, while our clock is six minutes behind': { off: -360_000, comes: fail('clock_differs') },
  'a latest block of the public chain that is an hour old': {
    first: sayPublic(NETWORKS.base.genesis),
    off: 3_600_000,
    comes: fail('chain_behind'),
  },
};

/** A payment that stays open under the lie, whether or not the call fails. */
function answerLater(row: Omit<Row, 'comes'>): Row {
  return {
    timeoutMs: TIMEOUT_MS,
    ...row,
    isLater: true,
    comes: { state: expect.stringMatching(/^(sent|unknown)$/) },
    fails: null,
  };
}

it.each(Object.entries(ROWS))(
  'a node that says %s ends no payment wrongly, and keeps no wallet',
  async (_name, row) => {
    const { isLater, off = 0, comes, fails } = row;
    const opened = await openUnderLies(
      isLater ? { ...row, first: tellTruth, ...(row.second && { second: tellTruth }) } : row,
    );
    const { pay, ledger, rail, journal, seller, node, other, reconcile, getSpent, getRoute, getLost } = opened;
    const [spent, noted] = [await getSpent(), journal.payments.size];
    const onEvent = ({ type }: { type: string }) => {
      if (type !== 'answered') return;
      node.lie = row.first;
      other.lie = row.second;
    };
    const failed = await pay({ ...PATIENCE, onEvent, now: () => new Date(Date.now() + off) }).then(
      () => undefined,
      (error: object) => error,
    );
    if ('code' in comes) {
      expect(failed).toMatchObject(comes);
      expect([await ledger.listOpen(rail.payer), journal.payments.size, await getLost()]).toEqual([[], noted, 0n]);
      expect(seller.asked.filter(({ isPaid }) => isPaid)).toEqual([]);
      return;
    }
    if (fails) expect(failed).toMatchObject(fails);
    else if (fails !== null) expect(failed).toBeUndefined();
    expect(await ledger.listOpen(rail.payer)).toMatchObject([comes]);
    expect([await getSpent(), (await getRoute()).verification]).toEqual([spent + PRICE, 'unverified']);
    node.lie = undefined;
    other.lie = undefined;
    await expect(pay()).rejects.toMatchObject({ code: 'conflict', reason: 'payment_open' });
    const read_from = row.second ? 2 : 1;
    expect(await reconcile()).toMatchObject({
      ...{ state: 'settled', reason: null, delivered: true, settlement: { read_from } },
    });
    expect([await getLost(), await getSpent()]).toEqual([BigInt(PRICE), spent + PRICE]);
    expect((await getRoute()).verification).toBe('settlement-verified');
  },
);

it.each(['base', 'solana'] as const)(
  'after all of them, the wallet on %s still pays, and two nodes are believed',
  async (network) => {
    const { pay } = await openUnderLies({ network, first: tellTruth, second: tellTruth });
    expect(await pay()).toMatchObject({ state: 'settled', delivered: true, settlement: { read_from: 2 } });
  },
);

describe('on the public chain', () => {
  const first = sayPublic(NETWORKS.base.genesis);

  it('a payment counts after ten blocks', async () => {
    const { pay, reconcile } = await openAlone({ first });
    await chain.mine();
    expect(await pay(PATIENCE)).toMatchObject({ state: 'sent', delivered: true });
    await chain.mine(8);
    expect(await reconcile()).toMatchObject({ state: 'sent' });
    await chain.mine(1);
    expect(await reconcile()).toMatchObject({ state: 'settled', settlement: { genesis: NETWORKS.base.genesis } });
  });

  it('a payment that the chain reverts never counts', async () => {
    const { pay, reconcile, rail, getRoute, getSpent } = await openAlone({ first, second: first });
    await chain.mine();
    await chain.undoAfter(async () => {
      expect(await pay(PATIENCE)).toMatchObject({ state: 'sent', delivered: true });
      expect(await rail.chain.getBalance(rail.payer)).toBe(999_000);
    });
    expect(await reconcile()).toMatchObject({ state: 'sent' });
    expect(await getSpent()).toBe(PRICE);
    await chain.undoAfter(async () => {
      await chain.setTime((await chain.getTime()) + 200);
      expect(await reconcile()).toMatchObject({ state: 'not_settled', reason: 'expired' });
    });
    expect([(await getRoute()).verification, await getSpent()]).toEqual(['unverified', 0]);
  });
});

describe('a clock that is a little wrong', () => {
  it('as that of one node, changes neither day, expiry nor search', async () => {
    const first: Lie = (...asked) => {
      const said = sayTime(280)(...asked);
      return said && { ...said, number: '0xffffff' };
    };
    const { pay, node } = await openAlone({ first, second: tellTruth });
    const onEvent = ({ type }: { type: string }) => {
      if (type === 'prepared') node.lie = undefined;
    };
    const payment = await pay({ onEvent });
    expect(payment.state).toBe('settled');
    expect(Date.parse(payment.expires_at) - Date.now()).toBeLessThanOrEqual(121_000);
    expect(Date.parse(payment.head_at)).toBeLessThanOrEqual(Date.now() + 2000);
    expect(payment.from_block).toBeLessThan(0xffffff);
  });

  it.each([-200_000, 200_000])('as ours, by %i ms, pays once, with a validity by the chain’s clock', async (off) => {
    const { pay } = await openAlone();
    const payment = await pay({ now: () => new Date(Date.now() + off) });
    expect(payment).toMatchObject({ state: 'settled', delivered: true });
    const start = Math.max(Date.now() + off, (await chain.getTime()) * 1000);
    expect(Date.parse(payment.expires_at) - start).toBeLessThanOrEqual(120_000);
  });
});

it('a payment that its wallet cancelled is not settled, and nothing is spent', async () => {
  const seller = await serveSeller(chain, ({ response }) => deliver(response));
  const privateKey = generatePrivateKey();
  const wallet = openEvmWallet(chain.rpcUrl, privateKeyToAccount(privateKey));
  const rail = openEvmRail(NETWORKS.base, { privateKey, rpcUrls: [chain.rpcUrl, chain.rpcUrl] });
  await chain.fundGas(rail.payer);
  const { pay, ledger } = await openPaying(chain, seller, makeTerms({ pay_to: PAY_TO }), rail);
  const payment = await pay(PATIENCE);
  const message = { authorizer: wallet.account.address, nonce: payment.nonce as `0x${string}` };
  const signature = await wallet.signTypedData({
    domain: TOKEN_DOMAIN,
    types: { CancelAuthorization: TOKEN_TYPES.CancelAuthorization },
    primaryType: 'CancelAuthorization',
    message,
  });
  const hash = await wallet.writeContract({
    address: TOKEN_ADDRESS,
    abi: TOKEN_ABI,
    functionName: 'cancelAuthorization',
    args: [message.authorizer, message.nonce, signature],
  });
  await wallet.waitForTransactionReceipt({ hash });
  expect(await reconcilePayments({ rail, ledger, now })).toMatchObject([{ state: 'not_settled', reason: 'cancelled' }]);
});

it.each<[Partial<ChainFinding>, boolean, string]>([
  [{ state: 'not_settled', reason: 'expired' }, true, 'not settled: expired'],
  [{ state: 'open' }, false, 'nothing, so far'],
])('of a payment recorded as not settled, a chain that says %j is told as it is', async (finding, passed, found) => {
  const asked = { findSettlement: async () => finding } as unknown as Chain;
  const payment = {
    ...{ amount: 1000, payer: '0xpayer', pay_to: '0xpayee', state: 'not_settled', reason: 'expired' },
  } as Payment;
  expect(await checkUnsettled(asked, payment)).toMatchObject([
    { field: 'state', what: '1000 atomic USDC from 0xpayer to 0xpayee', passed, found },
  ]);
});
