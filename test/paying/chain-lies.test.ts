import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { openWallet } from '../../scripts/market/chain-base.ts';
import { TOKEN_ABI, TOKEN_ADDRESS, TOKEN_DOMAIN, TOKEN_TYPES } from '../../scripts/market/token/token.ts';
import { countSpent } from '../../src/catalogue/write/payments.ts';
import { NETWORKS } from '../../src/model/network.ts';
import { openEvmRail } from '../../src/paying/evm/rail.ts';
import { reconcilePayments } from '../../src/paying/reconcile.ts';
import { makeTerms } from '../records.ts';
import { getMarket } from '../worker-market.ts';
import { beDown, type Lie, openLyingNode, sayPublic } from './lying-node.ts';
import { deliver, openPayingWith, PAY_TO, serveSeller } from './paying.ts';

const { base: chain } = await getMarket();

const now = () => new Date();
const PATIENCE = { patienceMs: 300 };
const AUTHORIZATION_STATE = '0xe94a0102';

/** A wallet with an honest seller and a node that may lie, and with `second` another node. */
async function openPaying({ first, second }: { first?: Lie; second?: Lie } = {}) {
  const seller = await serveSeller(chain, async ({ response, settle }) => deliver(response, await settle()));
  const [node, other] = await Promise.all([openLyingNode(chain.rpcUrl, first), openLyingNode(chain.rpcUrl, second)]);
  const rpcUrls: [string, ...string[]] = second ? [node.url, other.url] : [node.url];
  const rail = openEvmRail(NETWORKS.base, { privateKey: generatePrivateKey(), rpcUrls });
  await chain.fund(rail.payer, 1_000_000n);
  const paying = await openPayingWith(rail, seller, makeTerms({ pay_to: PAY_TO }));
  const { ledger, catalogue } = paying;
  return {
    ...paying,
    node,
    other,
    reconcile: async () => (await reconcilePayments({ rail, ledger, now }))[0],
    getSpent: () => countSpent(catalogue, now().toISOString()),
  };
}

const denyUse: Lie = (method, params) =>
  method === 'eth_call' && JSON.stringify(params).includes(AUTHORIZATION_STATE) ? `0x${'0'.repeat(64)}` : undefined;

const beLate: Lie = (method, params, truth) =>
  method === 'eth_getBlockByNumber' && params[0] === 'latest' && typeof truth === 'object'
    ? { ...truth, timestamp: `0x${(Math.floor(Date.now() / 1000) + 100_000).toString(16)}` }
    : undefined;

describe('with two nodes', () => {
  it('what both say is believed, and their number is recorded', async () => {
    const { pay } = await openPaying({ second: () => undefined });
    expect(await pay()).toMatchObject({ state: 'settled', settlement: { read_from: 2 } });
  });

  it('a payment that one of them has not seen stays open until it has', async () => {
    const { pay, other, reconcile } = await openPaying({ second: denyUse });
    expect(await pay(PATIENCE)).toMatchObject({ state: 'sent', settlement: null });
    other.lie = undefined;
    expect(await reconcile()).toMatchObject({ state: 'settled', settlement: { read_from: 2 } });
  });

  it('a payment that one of them denies for good is unknown, counts as spent, and is never repeated', async () => {
    const { pay, other, reconcile, getSpent } = await openPaying({ second: () => undefined });
    const onEvent = ({ type }: { type: string }) => {
      if (type === 'answered') other.lie = (...asked) => denyUse(...asked) ?? beLate(...asked);
    };
    expect(await pay({ ...PATIENCE, onEvent })).toMatchObject({ state: 'unknown', reason: 'nodes_disagree' });
    expect(await getSpent()).toBe(1000);
    other.lie = denyUse;
    await expect(pay(PATIENCE)).rejects.toMatchObject({ reason: 'payment_open' });
    other.lie = undefined;
    expect(await reconcile()).toMatchObject({ state: 'settled', reason: null });
  });
});

describe('a node that contradicts itself', () => {
  it.each([
    ['keeps the events to itself', 'no_event', (method: string) => (method === 'eth_getLogs' ? [] : undefined)],
    [
      'shows the transaction without its transfer',
      'no_matching_transfer',
      (method: string, _params: unknown[], truth: unknown) =>
        method === 'eth_getTransactionReceipt' ? { ...(truth as object), logs: [] } : undefined,
    ],
  ])('and %s decides nothing about a payment', async (_name, reason, first) => {
    const { pay, node, reconcile, getSpent, getRoute } = await openPaying({ first });
    expect(await pay(PATIENCE)).toMatchObject({ state: 'unknown', reason });
    expect([await getSpent(), (await getRoute()).verification]).toEqual([1000, 'unverified']);
    node.lie = undefined;
    expect(await reconcile()).toMatchObject({ state: 'settled', reason: null });
    expect((await getRoute()).verification).toBe('settlement-verified');
  });
});

describe('a node that is down', () => {
  it('before the payment prevents sending', async () => {
    const { pay, ledger, rail } = await openPaying({ first: beDown });
    await expect(pay()).rejects.toMatchObject({ code: 'unavailable', reason: 'rpc_failed' });
    expect(await ledger.listOpen(rail.payer)).toEqual([]);
  });

  it('after the payment leaves it unknown until it is found later', async () => {
    const { pay, node, ledger, rail, reconcile } = await openPaying();
    const onEvent = ({ type }: { type: string }) => {
      if (type === 'answered') node.lie = beDown;
    };
    await expect(pay({ onEvent })).rejects.toMatchObject({ code: 'unavailable', reason: 'rpc_failed' });
    expect(await ledger.listOpen(rail.payer)).toMatchObject([
      { state: 'unknown', reason: 'rpc_failed', delivered: true },
    ]);
    node.lie = undefined;
    expect(await reconcile()).toMatchObject({ state: 'settled', delivered: true });
  });

  it('or of another chain has nothing sent', async () => {
    const first: Lie = (method) => (method === 'eth_chainId' ? '0x1' : undefined);
    const { pay, ledger, rail } = await openPaying({ first });
    await expect(pay()).rejects.toMatchObject({ code: 'refused', reason: 'wrong_chain' });
    expect(await ledger.listOpen(rail.payer)).toEqual([]);
  });
});

describe('on the public chain', () => {
  const first = sayPublic(NETWORKS.base.genesis);

  it('a payment counts after ten blocks', async () => {
    const { pay, reconcile } = await openPaying({ first });
    await chain.mine();
    expect(await pay(PATIENCE)).toMatchObject({ state: 'sent', delivered: true });
    await chain.mine(8);
    expect(await reconcile()).toMatchObject({ state: 'sent' });
    await chain.mine(1);
    expect(await reconcile()).toMatchObject({ state: 'settled', settlement: { genesis: NETWORKS.base.genesis } });
  });

  it('a payment that the chain reverts never counts', async () => {
    const { pay, reconcile, rail, getRoute, getSpent } = await openPaying({ first, second: first });
    await chain.mine();
    await chain.undoAfter(async () => {
      expect(await pay(PATIENCE)).toMatchObject({ state: 'sent', delivered: true });
      expect(await rail.chain.getBalance(rail.payer)).toBe(999_000);
    });
    expect(await reconcile()).toMatchObject({ state: 'sent' });
    expect(await getSpent()).toBe(1000);
    await chain.undoAfter(async () => {
      await chain.setTime((await chain.getTime()) + 200);
      expect(await reconcile()).toMatchObject({ state: 'not_settled', reason: 'expired' });
    });
    expect([(await getRoute()).verification, await getSpent()]).toEqual(['unverified', 0]);
  });

  it('nothing is paid if the node is stuck or our clock is far ahead', async () => {
    const { pay, ledger, rail } = await openPaying({ first });
    const ahead = () => new Date(Date.now() + 3_600_000);
    await expect(pay({ now: ahead })).rejects.toMatchObject({ code: 'unavailable', reason: 'chain_behind' });
    expect(await ledger.listOpen(rail.payer)).toEqual([]);
  });
});

describe('a clock that is wrong', () => {
  const sayTime =
    (seconds: number): Lie =>
    (method, params, truth) =>
      method === 'eth_getBlockByNumber' && params[0] === 'latest' && typeof truth === 'object'
        ? { ...truth, timestamp: `0x${(Math.floor(Date.now() / 1000) + seconds).toString(16)}` }
        : undefined;
  const TEN_YEARS = 315_360_000;

  it.each([
    ['ours, 25 hours ahead', {}, 25 * 3_600_000],
    ['ours, six minutes behind', {}, -360_000],
    ['that of the first node, ten years ahead', { first: sayTime(TEN_YEARS) }, 0],
    ['that of the second node, ten years ahead', { second: sayTime(TEN_YEARS) }, 0],
    ['that of the second node, an hour behind', { second: sayTime(-3600) }, 0],
  ])('prevents signing: %s', async (_name, lies, off) => {
    const { pay, ledger, rail, journal } = await openPaying(lies);
    const paying = pay({ now: () => new Date(Date.now() + off) });
    await expect(paying).rejects.toMatchObject({ code: 'unavailable', reason: 'clock_differs' });
    expect([await ledger.listOpen(rail.payer), journal.payments.size]).toEqual([[], 0]);
  });

  it('of one node that is a little ahead changes neither day, expiry nor search', async () => {
    const first: Lie = (...asked) => {
      const said = sayTime(280)(...asked);
      return said && { ...said, number: '0xffffff' };
    };
    const { pay, node } = await openPaying({ first, second: () => undefined });
    const onEvent = ({ type }: { type: string }) => {
      if (type === 'prepared') node.lie = undefined;
    };
    const payment = await pay({ onEvent });
    expect(payment.state).toBe('settled');
    expect(Date.parse(payment.expires_at) - Date.now()).toBeLessThanOrEqual(121_000);
    expect(Date.parse(payment.head_at)).toBeLessThanOrEqual(Date.now() + 2000);
    expect(payment.from_block).toBeLessThan(0xffffff);
  });

  it('never makes a payment expire', async () => {
    const { pay, node, reconcile, getSpent } = await openPaying();
    const onEvent = ({ type }: { type: string }) => {
      if (type === 'answered') node.lie = (...asked) => denyUse(...asked) ?? sayTime(TEN_YEARS)(...asked);
    };
    expect(await pay({ ...PATIENCE, onEvent })).toMatchObject({ state: 'unknown', reason: 'clock_differs' });
    expect(await getSpent()).toBe(1000);
    node.lie = undefined;
    expect(await reconcile()).toMatchObject({ state: 'settled' });
  });

  it.each([-200_000, 200_000])('by %i ms pays once, with a validity by the chain’s clock', async (off) => {
    const { pay } = await openPaying();
    const payment = await pay({ now: () => new Date(Date.now() + off) });
    expect(payment).toMatchObject({ state: 'settled', delivered: true });
    const start = Math.max(Date.now() + off, (await chain.getTime()) * 1000);
    expect(Date.parse(payment.expires_at) - start).toBeLessThanOrEqual(120_000);
  });
});

it('a payment that its wallet cancelled is not settled, and nothing is spent', async () => {
  const seller = await serveSeller(chain, ({ response }) => deliver(response));
  const privateKey = generatePrivateKey();
  const wallet = openWallet(chain.rpcUrl, privateKeyToAccount(privateKey));
  const rail = openEvmRail(NETWORKS.base, { privateKey, rpcUrls: [chain.rpcUrl, chain.rpcUrl] });
  await Promise.all([chain.fund(rail.payer, 1_000_000n), chain.fundGas(rail.payer)]);
  const { pay, ledger } = await openPayingWith(rail, seller, makeTerms({ pay_to: PAY_TO }));
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
