import { createKeyPairSignerFromPrivateKeyBytes, getBase58Decoder } from '@solana/kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SolanaChain, startSolanaChain } from '../../scripts/market/chain-solana.ts';
import { NETWORKS } from '../../src/model/network.ts';
import { reconcilePayments } from '../../src/paying/reconcile.ts';
import { openRpc, openSvmReader } from '../../src/paying/svm/chain.ts';
import { openSvmRail } from '../../src/paying/svm/rail.ts';
import { makeTerms } from '../records.ts';
import { type Lie, openLyingNode } from './lying-node.ts';
import { checkPayment, deliver, openPayingWith } from './paying.ts';
import { serveSolanaSeller } from './solana-seller.ts';

let chain: SolanaChain;
beforeAll(async () => {
  chain = await startSolanaChain();
});
afterAll(() => chain.stop());

const now = () => new Date();

type RpcUrls = Parameters<typeof openSvmRail>[1]['rpcUrls'];

async function openPaying(
  { url, payee }: Awaited<ReturnType<typeof serveSolanaSeller>>,
  rpcUrls: RpcUrls = [chain.rpcUrl, chain.rpcUrl],
) {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  const signer = await createKeyPairSignerFromPrivateKeyBytes(bytes);
  const rail = await openSvmRail(NETWORKS.solana, { privateKey: getBase58Decoder().decode(bytes), rpcUrls });
  expect(rail.payer).toBe(signer.address);
  await chain.fund(rail.payer, 1_000_000n);
  const terms = makeTerms({ network: 'solana', asset: NETWORKS.solana.usdc, pay_to: payee });
  return { ...(await openPayingWith(rail, url, terms)), rail };
}

describe('a paid call on Solana', () => {
  it.each([1, 2] as const)('settles, delivers and verifies its route, with x402 version %i', async (version) => {
    const seller = await serveSolanaSeller(
      chain,
      async ({ response, settle }) => {
        response.setHeader('payment-response', btoa(JSON.stringify({ success: true, transaction: await settle() })));
        response.setHeader('content-type', 'application/json');
        response.end('{"quote":42}');
      },
      version,
    );
    const { pay, rail, getRoute } = await openPaying(seller);
    const payment = await pay();
    expect(payment).toMatchObject({ state: 'settled', delivered: true, network: 'solana', pay_to: seller.payee });
    expect(payment.seller_receipt?.transaction).toBe(payment.settlement?.transaction);
    expect(await rail.chain.getBalance(rail.payer)).toBe(999_000);
    expect(await getRoute()).toMatchObject({ verification: 'settlement-verified', proof: { public_chain: false } });
    const checks = await checkPayment(openSvmReader(NETWORKS.solana, chain.rpcUrl), payment);
    expect(checks.filter(({ passed }) => !passed)).toEqual([]);
  });

  it('is found by our own signature, whatever memo the seller asks for and whatever it says', async () => {
    const seller = await serveSolanaSeller(
      chain,
      async ({ response, settle }) => {
        await settle();
        response.setHeader('payment-response', btoa(JSON.stringify({ success: true, transaction: '1'.repeat(64) })));
        response.end('{}');
      },
      2,
      { memo: 'order-17' },
    );
    const { pay } = await openPaying(seller);
    expect(await pay()).toMatchObject({ state: 'settled', seller_receipt: { transaction: '1'.repeat(64) } });
  });

  it('that never settles loses nothing once its blockhash is too old', async () => {
    const seller = await serveSolanaSeller(chain, ({ response }) => void response.end('{}'));
    const { pay, ledger, rail } = await openPaying(seller);
    expect(await pay({ signal: AbortSignal.timeout(300) })).toMatchObject({ state: 'sent' });
    chain.skipSlots(400);
    expect(await reconcilePayments({ rail, ledger, now })).toMatchObject([{ state: 'not_settled', reason: 'expired' }]);
  });

  it('is not made if the seller wants us to pay the fee', async () => {
    const seller = await serveSolanaSeller(chain, ({ response }) => void response.end('{}'), 2, {
      feePayer: undefined,
    });
    const { pay, rail } = await openPaying(seller);
    await expect(pay()).rejects.toMatchObject({ reason: 'no_fee_payer' });
    expect(await rail.chain.getBalance(rail.payer)).toBe(1_000_000);
  });
});

describe('with two nodes of Solana', () => {
  const sell = () => serveSolanaSeller(chain, async ({ response, settle }) => deliver(response, await settle()));
  /** A wallet at an honest node and, as the first, one that may lie. */
  async function openBeside(lie?: Lie) {
    const node = await openLyingNode(chain.rpcUrl, lie);
    return { ...(await openPaying(await sell(), [node.url, chain.rpcUrl])), node };
  }
  const changeHeight =
    (blocks: number): Lie =>
    (method, _params, truth) => {
      if (method === 'getBlockHeight') return Number(truth) + blocks;
      if (method !== 'getLatestBlockhash') return undefined;
      const { value, ...answer } = truth as { value: { lastValidBlockHeight: number } };
      return { ...answer, value: { ...value, lastValidBlockHeight: value.lastValidBlockHeight + blocks } };
    };

  it('what both say is believed, and their number is recorded', async () => {
    const { pay } = await openBeside();
    expect(await pay()).toMatchObject({ state: 'settled', settlement: { read_from: 2 } });
  });

  it('a payment that one of them denies for good is unknown, and its wallet waits', async () => {
    const { pay, node, ledger, rail } = await openBeside();
    const onEvent = ({ type }: { type: string }) => {
      if (type !== 'answered') return;
      node.lie = (...asked) => (asked[0] === 'getSignaturesForAddress' ? [] : changeHeight(1000)(...asked));
    };
    expect(await pay({ onEvent, patienceMs: 300 })).toMatchObject({ state: 'unknown', reason: 'nodes_disagree' });
    node.lie = undefined;
    await expect(pay()).rejects.toMatchObject({ reason: 'payment_open' });
    expect(await reconcilePayments({ rail, ledger, now })).toMatchObject([{ state: 'settled' }]);
  });

  it('none of them makes a payment expire while it can still settle', async () => {
    const { pay, node } = await openBeside(changeHeight(-100));
    chain.skipSlots(400);
    const height = await openRpc(chain.rpcUrl).getBlockHeight({ commitment: 'confirmed' }).send();
    const onEvent = ({ type }: { type: string }) => {
      if (type === 'prepared') node.lie = undefined;
    };
    const { state, expires_block } = await pay({ onEvent });
    expect(state).toBe('settled');
    expect(expires_block).toBeGreaterThanOrEqual(Number(height) + 140);
  });

  it('nothing is paid while one is far ahead', async () => {
    const { pay, journal } = await openBeside(changeHeight(1000));
    await expect(pay()).rejects.toMatchObject({ code: 'unavailable', reason: 'rpc_failed' });
    expect(journal.payments.size).toBe(0);
  });
});
