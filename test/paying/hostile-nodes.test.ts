import { getBase58Decoder } from '@solana/kit';
import { generatePrivateKey } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import type { MarketNetwork } from '../../scripts/market/providers/route.ts';
import { NETWORKS } from '../../src/model/network.ts';
import { openEvmRail } from '../../src/paying/evm/rail.ts';
import { reconcilePayments } from '../../src/paying/reconcile.ts';
import { openSvmRail } from '../../src/paying/svm/rail.ts';
import { getMarket } from '../worker-market.ts';
import { type Lie, openLyingNode } from './lying-node.ts';
import { HONEST, openMarketPaying, payHonest } from './market-paying.ts';

const market = await getMarket();

/** Time limits for a node that never ends, and for one that answers: an honest one is slow on a machine that does much else. */
const ENDLESS_MS = 1_200;
const TIMEOUT_MS = 20_000;
const HUGE = 2n ** 52n;
const toHex = (value: bigint) => `0x${value.toString(16)}`;

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

/** Hostile answers for either network. */
const ANSWERS: Record<string, Lie> = {
  'a byte every moment': trickle,
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
      return { ...(truth as object), number: toHex(HUGE) };
    }
    if (method === 'eth_call') return `0x${'1'.padStart(64, '0')}`;
    return method === 'eth_getLogs' ? [] : undefined;
  },
  solana: (method) => {
    if (method !== 'getSignaturesForAddress') return undefined;
    return Array.from({ length: 1000 }, () => ({ signature: '1'.repeat(64), slot: Number(HUGE) }));
  },
};

/** Opens a wallet with a node that can lie, and an honest seller. */
async function openPaying(network: MarketNetwork, timeoutMs = TIMEOUT_MS) {
  const chain = network === 'base' ? market.base : market.solana;
  const node = await openLyingNode(chain?.rpcUrl ?? '');
  const rail =
    network === 'base'
      ? openEvmRail(NETWORKS.base, { privateKey: generatePrivateKey(), rpcUrls: [node.url], timeoutMs })
      : await openSvmRail(NETWORKS.solana, {
          privateKey: getBase58Decoder().decode(crypto.getRandomValues(new Uint8Array(32))),
          rpcUrls: [node.url],
          timeoutMs,
        });
  const paying = await openMarketPaying(market, HONEST, { network, version: 2 }, rail);
  return { ...paying, node };
}

/** Pays while a node lies from a certain moment on. Returns the payment, or why there is none. */
async function payUnder(opened: Awaited<ReturnType<typeof openPaying>>, lie: Lie, from: 'first' | 'answered') {
  const { node, pay, ledger, rail } = opened;
  if (from === 'first') node.lie = lie;
  const onEvent = ({ type }: { type: string }) => {
    if (type === 'answered') node.lie = lie;
  };
  const failed = await pay({ onEvent, patienceMs: 300 }).then(
    () => null,
    ({ code }: { code: string }) => code,
  );
  const [open] = await ledger.listOpen(rail.payer);
  node.lie = undefined;
  return { failed, open };
}

describe.each(['base', 'solana'] as const)('a node of %s that answers', (network) => {
  it.each([...Object.keys(ANSWERS), 'without end'])('%s ends no payment wrongly, and keeps no wallet', async (name) => {
    const lie = ANSWERS[name] ?? ENDLESS[network];
    const opened = await openPaying(network, name === 'a byte every moment' ? ENDLESS_MS : TIMEOUT_MS);
    const { rail, ledger, getRoute, getLost } = opened;
    if (name !== 'without end' && name !== 'a byte every moment') {
      // Before sending: nothing is sent and nothing is recorded.
      const before = await payUnder(opened, lie, 'first');
      expect(before).toEqual({ failed: expect.stringMatching(/^(unavailable|refused)$/), open: undefined });
      expect(await getLost()).toBe(0n);
    }
    // After sending: the payment stays open, whatever the node says.
    const { open } = await payUnder(opened, lie, 'answered');
    expect(open?.state).toMatch(/^(sent|unknown)$/);
    expect((await getRoute()).verification).toBe('unverified');
    expect(await reconcilePayments({ rail, ledger, now: () => new Date() })).toMatchObject([{ state: 'settled' }]);
    expect(await getLost()).toBe(1000n);
    expect(await payHonest(market, opened)).toMatchObject({ state: 'settled', delivered: true });
  });
});

it('a Solana node with an endless blockhash prevents sending', async () => {
  const opened = await openPaying('solana');
  const lie: Lie = (method, _params, truth) =>
    method === 'getLatestBlockhash'
      ? { ...(truth as object), value: { ...(truth as { value: object }).value, lastValidBlockHeight: Number(HUGE) } }
      : undefined;
  expect(await payUnder(opened, lie, 'first')).toEqual({ failed: 'unavailable', open: undefined });
  expect(await payHonest(market, opened)).toMatchObject({ state: 'settled', delivered: true });
});
