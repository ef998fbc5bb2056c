import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { PERMIT2_ADDRESS, x402UptoPermit2ProxyAddress } from '@x402/evm';
import {
  createTestClient,
  encodeAbiParameters,
  type Hex,
  http,
  numberToHex,
  pad,
  parseAbi,
  parseAbiParameters,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { base } from 'viem/chains';
import { describe, expect, it } from 'vitest';
import { allowPermit2, openWallet } from '../../scripts/market/chain-base.ts';
import { TOKEN_ABI, TOKEN_ADDRESS } from '../../scripts/market/token/token.ts';
import { countSpent } from '../../src/catalogue/write/payments.ts';
import { describePayment } from '../../src/cli/verify-report.ts';
import { NETWORKS, PERMIT2 } from '../../src/model/network.ts';
import type { Payment } from '../../src/model/payment.ts';
import { openEvmReader } from '../../src/paying/evm/chain.ts';
import { findSettledPermit, UPTO_PROXY } from '../../src/paying/evm/permit.ts';
import { openEvmRail } from '../../src/paying/evm/rail.ts';
import { checkReceipt } from '../../src/paying/receipt-check.ts';
import { reconcilePayments } from '../../src/paying/reconcile.ts';
import { buildAgentReceipt } from '../../src/views/receipt.ts';
import { startCatalogue } from '../cli/running.ts';
import { makeTerms } from '../records.ts';
import { SITE } from '../site.ts';
import { getMarket } from '../worker-market.ts';
import { openAsking } from './independent-check.ts';
import { type Lie, openLyingNode } from './lying-node.ts';
import { checkPayment, deliver, openPayingWith, PAY_TO, type Sale, serveSeller } from './paying.ts';
import { makePayingCommands, SLUG } from './verifying.ts';

const { base: chain } = await getMarket();

const CEILING = 50_000;
const TAKEN = 12_345;
const OFFER = { scheme: 'upto', amount: String(CEILING) };
const TERMS = makeTerms({ scheme: 'upto', amount: CEILING, pay_to: PAY_TO });
const CAPS = { per_call: CEILING, per_day: 1_000_000 };
const now = () => new Date();

/** Takes less than the ceiling, delivers, and says so. */
const takeLess: Sale<Hex> = async ({ response, settle }) => deliver(response, await settle(BigInt(TAKEN)));

/** Reads the permit that a paid request carries. */
function readPermit({ headers }: IncomingMessage) {
  const header = Buffer.from(String(headers['payment-signature']), 'base64').toString();
  return JSON.parse(header).payload.permit2Authorization;
}

/** Writes the words of a permit in a row, as an input has them, with nothing to be taken. */
function encodePermit(permit: { token: Hex; ceiling: bigint; nonce: bigint; deadline: bigint; owner: Hex }): Hex {
  const { token, ceiling, nonce, deadline, owner } = permit;
  const types = parseAbiParameters('address, uint256, uint256, uint256, uint256, address, address');
  return encodeAbiParameters(types, [token, ceiling, nonce, deadline, 0n, owner, PAY_TO]);
}

interface PayingOptions {
  privateKey?: Hex;
  sale?: Sale<Hex>;
  offer?: Record<string, unknown>;
  funds?: bigint;
  isAllowed?: boolean;
  lie?: Lie;
}

/** A seller whose price is a ceiling, and a wallet that lets Permit2 move its USDC. */
async function openPaying(options: PayingOptions = {}) {
  const { sale = takeLess, offer = {}, funds = 1_000_000n, isAllowed = true, lie } = options;
  const { privateKey = generatePrivateKey() } = options;
  const node = await openLyingNode(chain.rpcUrl, lie);
  const rail = openEvmRail(NETWORKS.base, { privateKey, rpcUrls: [node.url, node.url] });
  await chain.fund(rail.payer, funds);
  if (isAllowed) await allowPermit2(chain, privateKeyToAccount(privateKey));
  const { pay, ...paying } = await openPayingWith(
    rail,
    await serveSeller(chain, sale, 2, { ...OFFER, ...offer }),
    TERMS,
  );
  const reconcile = async () => (await reconcilePayments({ rail, ledger: paying.ledger, now }))[0];
  return {
    ...paying,
    node,
    reconcile,
    pay: (overrides: Parameters<typeof pay>[0] = {}) => pay({ caps: CAPS, ...overrides }),
  };
}

function buildReceipt(payment: Payment) {
  const { settlement } = payment;
  if (!settlement) throw new Error('the payment did not settle');
  const view = { listing: SLUG, route: 'GET /v1/quote', revision: 0, site: SITE };
  return buildAgentReceipt({ ...payment, settlement }, view);
}

describe('a call whose price is a ceiling', () => {
  it('costs what the seller took, and its receipt says that and the ceiling', async () => {
    const { pay, rail, getRoute } = await openPaying();
    const payment = await pay();
    expect(payment).toMatchObject({ state: 'settled', delivered: true, amount: TAKEN, ceiling: CEILING });
    expect(await rail.chain.getBalance(rail.payer)).toBe(1_000_000 - TAKEN);
    expect((await getRoute()).proof).toMatchObject({ amount: TAKEN, ceiling: CEILING });
    const checks = await checkPayment(openEvmReader(NETWORKS.base, chain.rpcUrl), payment);
    expect(checks.filter(({ passed }) => !passed)).toEqual([]);
    expect(buildReceipt(payment).receipt).toMatchObject({ amount: '12345', ceiling: '50000', ceiling_usdc: '0.05' });
  });

  it('can be checked with nothing but a node', async () => {
    const { pay } = await openPaying();
    const payment = await pay();
    const { check } = buildReceipt(payment);
    const ask = openAsking(chain.rpcUrl);
    const [bitmap, transaction, logs] = await Promise.all([
      ask<Hex>(check.json_rpc[0]?.method ?? '', check.json_rpc[0]?.params ?? []),
      ask<{ input: string }>(check.json_rpc[1]?.method ?? '', check.json_rpc[1]?.params ?? []),
      ask<{ data: Hex; transactionHash: Hex }[]>(check.json_rpc[2]?.method ?? '', check.json_rpc[2]?.params ?? []),
    ]);
    const [, bit = ''] = /bit (\d+) is 1/.exec(check.json_rpc[0]?.expect ?? '') ?? [];
    expect((BigInt(bitmap) >> BigInt(bit)) & 1n).toBe(1n);
    const [, words = 'none'] = /holds ([0-9a-f]{128}):/.exec(check.json_rpc[1]?.expect ?? '') ?? [];
    expect(transaction.input).toContain(words);
    expect(words).toContain(CEILING.toString(16).padStart(64, '0'));
    expect(logs.map(({ data, transactionHash }) => [BigInt(data), transactionHash])).toEqual([
      [BigInt(TAKEN), payment.settlement?.transaction],
    ]);
  });

  it('is signed for the contracts of the SDK', () => {
    expect([PERMIT2, UPTO_PROXY]).toEqual([PERMIT2_ADDRESS, x402UptoPermit2ProxyAddress]);
  });

  it('counts as the ceiling while it is open, and as what was taken once it is settled', async () => {
    const spentBefore: number[] = [];
    const { pay, catalogue } = await openPaying({
      sale: async (context) => {
        spentBefore.push(await getSpent());
        await takeLess(context);
      },
    });
    const getSpent = () => countSpent(catalogue, now().toISOString());
    await expect(pay({ caps: { ...CAPS, per_call: CEILING - 1 } })).rejects.toMatchObject({ reason: 'cap_per_call' });
    await pay();
    expect(spentBefore).toEqual([CEILING]);
    expect(await getSpent()).toBe(TAKEN);
    const enough = TAKEN + CEILING;
    await expect(pay({ caps: { ...CAPS, per_day: enough - 1 } })).rejects.toMatchObject({ reason: 'cap_per_day' });
    expect(await pay({ caps: { ...CAPS, per_day: enough } })).toMatchObject({ state: 'settled' });
    expect(await getSpent()).toBe(2 * TAKEN);
  });

  it.each([
    ['the wallet does not let Permit2 move its USDC', { isAllowed: false }, 'allowance'],
    ['the wallet holds less than the ceiling', { funds: BigInt(CEILING - 1) }, 'balance'],
  ])('is not paid if %s', async (_name, options, reason) => {
    const { pay, ledger, rail } = await openPaying(options);
    await expect(pay()).rejects.toMatchObject({ code: 'refused', reason });
    expect(await ledger.listOpen(rail.payer)).toEqual([]);
  });

  it.each([{}, { facilitatorAddress: 'me' }])(
    'is not chosen without an account that may settle it: %j',
    async (extra) => {
      const { quote } = await openPaying({ offer: { extra } });
      expect(await quote()).toMatchObject({ chosen: null, refused: 'scheme_not_supported' });
    },
  );

  it('is not signed for nobody', async () => {
    const { pay, quote, ledger, rail } = await openPaying();
    const { chosen } = await quote();
    if (!chosen) throw new Error('the offer can be paid');
    const requirement = { ...chosen, raw: { ...chosen.raw, extra: { facilitatorAddress: 'me' } } };
    await expect(pay({ requirement })).rejects.toMatchObject({ code: 'refused', reason: 'no_facilitator' });
    expect(await ledger.listOpen(rail.payer)).toEqual([]);
  });

  it('that the seller never takes is not settled once it has expired', async () => {
    const { pay, reconcile, getRoute } = await openPaying({ sale: ({ response }) => deliver(response) });
    const payment = await pay({ signal: AbortSignal.timeout(300) });
    expect(payment).toMatchObject({ state: 'sent', amount: CEILING });
    await chain.undoAfter(async () => {
      await chain.setTime(Math.floor(Date.parse(payment.expires_at) / 1000) + 30);
      expect(await reconcile()).toMatchObject({ id: payment.id, state: 'not_settled', reason: 'expired' });
    });
    expect((await getRoute()).verification).toBe('unverified');
  });

  it('of which the seller takes nothing is not settled', async () => {
    const { pay, catalogue } = await openPaying({
      sale: async ({ response, settle }) => deliver(response, await settle(0n)),
    });
    expect(await pay()).toMatchObject({ state: 'not_settled', reason: 'nothing_taken' });
    expect(await countSpent(catalogue, now().toISOString())).toBe(0);
  });

  it('is not taken for another transaction that carries the permit and moves nothing', async () => {
    const relay = privateKeyToAccount(generatePrivateKey());
    await chain.fundGas(relay.address);
    const { pay } = await openPaying({
      sale: async ({ request, response, settle }) => {
        const { permitted, nonce, deadline, from } = readPermit(request);
        const dataSuffix = encodePermit({
          token: permitted.token,
          ceiling: permitted.amount,
          ...{ nonce, deadline, owner: from },
        });
        const args = [from, PAY_TO, 0n] as const;
        const wallet = openWallet(chain.rpcUrl, relay);
        const call = {
          address: TOKEN_ADDRESS,
          abi: TOKEN_ABI,
          functionName: 'transferFrom',
          args,
          dataSuffix,
        } as const;
        await wallet.waitForTransactionReceipt({ hash: await wallet.writeContract(call) });
        deliver(response, await settle(BigInt(TAKEN)));
      },
    });
    const payment = await pay();
    expect(payment).toMatchObject({ state: 'settled', amount: TAKEN });
    expect(payment.seller_receipt?.transaction).toBe(payment.settlement?.transaction);
  });

  it('of which nothing is taken is not taken for what a stranger does in the same block', async () => {
    const stranger = privateKeyToAccount(generatePrivateKey());
    await chain.fundGas(stranger.address);
    const miner = createTestClient({ mode: 'anvil', chain: base, transport: http(chain.rpcUrl) });
    const { pay } = await openPaying({
      sale: async ({ request, response, settle }) => {
        const args = [readPermit(request).from, stranger.address, 0n] as const;
        const call = { address: TOKEN_ADDRESS, abi: TOKEN_ABI, functionName: 'transferFrom', args } as const;
        await miner.setAutomine(false);
        // The higher fee comes first in the block.
        const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 11n };
        const first = await openWallet(chain.rpcUrl, stranger).writeContract({ ...call, ...fees });
        const settling = settle(0n);
        await expect.poll(async () => (await miner.getTxpoolStatus()).pending).toBe(2);
        await miner.mine({ blocks: 1 });
        await miner.setAutomine(true);
        const second = await settling;
        const places = await Promise.all(
          [first, second].map(async (hash) => {
            const { blockNumber, transactionIndex } = await openWallet(chain.rpcUrl, stranger).getTransactionReceipt({
              hash,
            });
            return { blockNumber, transactionIndex };
          }),
        );
        expect(places).toEqual([0, 1].map((at) => ({ blockNumber: places[0]?.blockNumber, transactionIndex: at })));
        deliver(response, second);
      },
    });
    expect(await pay({ patienceMs: 3_000 })).toMatchObject({ state: 'not_settled', reason: 'nothing_taken' });
  });

  it('that its wallet cancelled is not settled', async () => {
    const privateKey = generatePrivateKey();
    const account = privateKeyToAccount(privateKey);
    const { pay } = await openPaying({
      privateKey,
      sale: async ({ request, response }) => {
        const nonce = BigInt(readPermit(request).nonce);
        const wallet = openWallet(chain.rpcUrl, account);
        const abi = parseAbi(['function invalidateUnorderedNonces(uint256 word, uint256 mask)']);
        const args = [nonce >> 8n, 1n << (nonce & 255n)] as const;
        const call = { address: PERMIT2_ADDRESS, abi, functionName: 'invalidateUnorderedNonces', args } as const;
        await wallet.waitForTransactionReceipt({ hash: await wallet.writeContract(call) });
        deliver(response);
      },
    });
    expect(await pay({ patienceMs: 3_000 })).toMatchObject({ state: 'not_settled', reason: 'cancelled' });
  });

  it('is read from its own words in the input, wherever they are', () => {
    const nonce = `0x${'5'.repeat(64)}` as const;
    const payer = `0x${'2'.repeat(40)}` as const;
    const write = (owner: Hex, ceiling: bigint) =>
      encodePermit({ token: TOKEN_ADDRESS, ceiling, nonce: BigInt(nonce), deadline: 9n, owner }).slice(2);
    const input = `0x12345678${write(`0x${'3'.repeat(40)}`, 7n)}00${write(payer, 50_000n)}` as const;
    const claim = { nonce, payer, pay_to: PAY_TO };
    expect(findSettledPermit(NETWORKS.base, input, claim)).toMatchObject({
      ceiling: 50_000n,
      deadline: 9n,
      to: PAY_TO,
    });
    expect(findSettledPermit(NETWORKS.base, input.slice(0, -64) as Hex, claim)).toMatchObject({ ceiling: 7n });
    expect(findSettledPermit(NETWORKS.base, nonce, claim)).toBeUndefined();
  });

  it('is found by the block that used its nonce if no input shows the permit', async () => {
    const hideInput: Lie = (method, _params, truth) =>
      method === 'eth_getTransactionByHash' ? { ...(truth as object), input: '0x' } : undefined;
    const { pay, node } = await openPaying({
      lie: hideInput,
      sale: async ({ response, settle }) => {
        await chain.mine(3);
        const transaction = await settle(BigInt(TAKEN));
        await chain.mine(5);
        deliver(response, transaction);
      },
    });
    const payment = await pay();
    expect(payment).toMatchObject({ state: 'settled', amount: TAKEN, ceiling: CEILING });
    const checks = await checkPayment(openEvmReader(NETWORKS.base, node.url), payment);
    expect(checks.filter(({ passed }) => !passed)).toMatchObject([{ field: 'ceiling', found: 'none' }]);
  });

  it('after a kill between sending and the answer is found on the chain', async () => {
    let killed: () => Promise<void> = async () => undefined;
    const sold = Promise.withResolvers<void>();
    const { folder, environment, privateKey, runJson } = await makePayingCommands(chain, {
      offer: OFFER,
      route: { terms: [TERMS] },
      sale: async ({ response, settle }) => {
        await killed();
        await settle(BigInt(TAKEN));
        response.destroy();
        sold.resolve();
      },
    });
    await allowPermit2(chain, privateKeyToAccount(privateKey));
    const settings = { ...environment, PAYER_FOLDER: join(folder, 'payer') };
    const { child, ended } = startCatalogue(['verify', SLUG, '--pay'], settings);
    killed = async () => {
      child.kill('SIGKILL');
      await ended;
    };
    await sold.promise;
    expect((await runJson('receipts')).json.payments).toMatchObject([{ state: 'sent', amount: CEILING, answer: null }]);
    const { payments } = (await runJson('receipts', 'reconcile')).json;
    expect(payments).toMatchObject([{ state: 'settled', amount: TAKEN, ceiling: CEILING, delivered: null }]);
    expect((await runJson('receipts', 'check', payments[0].id)).code).toBe(0);
  });
});

/** Changes the transfers of USDC that a node shows. */
const changeTransfers =
  (change: (log: { topics: Hex[]; data: Hex }) => object): Lie =>
  (method, _params, truth) => {
    if (method !== 'eth_getTransactionReceipt' || truth === null) return undefined;
    const receipt = truth as { logs: { topics: Hex[]; data: Hex }[] };
    return { ...receipt, logs: receipt.logs.map((log) => ({ ...log, ...change(log) })) };
  };

describe('a chain that shows', () => {
  it.each([
    [
      'more than the ceiling',
      'above_ceiling',
      'more was taken than the ceiling',
      changeTransfers(() => ({ data: numberToHex(CEILING + 1, { size: 32 }) })),
    ],
    [
      'another payee',
      'no_matching_transfer',
      'another payee or amount',
      changeTransfers(({ topics }) => ({ topics: [topics[0], topics[1], pad('0xbad')] })),
    ],
  ])('%s leaves the payment open, and says so', async (_name, reason, words, lie) => {
    const { pay, node, reconcile } = await openPaying({ lie });
    const payment = await pay({ patienceMs: 300 });
    expect(payment).toMatchObject({ state: 'unknown', reason, amount: CEILING });
    expect(describePayment(payment)).toMatch(
      new RegExp(`^up to 0.05 USDC on base is still open \\(unknown: [^)]*${words}`),
    );
    node.lie = undefined;
    expect(await reconcile()).toMatchObject({ state: 'settled', amount: TAKEN });
  });
});

describe('a receipt of a ceiling is found wrong', () => {
  let paid: Promise<ReturnType<typeof buildReceipt>> | undefined;
  /** The receipt of one payment, of which each row changes a copy. */
  const getReceipt = async () => {
    paid ??= openPaying().then(async ({ pay }) => buildReceipt(await pay()));
    return (await paid).receipt;
  };

  it.each([
    ['another ceiling', { ceiling: '60000', ceiling_usdc: '0.06' }, ['ceiling']],
    ['a ceiling below what was taken', { ceiling: '12344', ceiling_usdc: '0.012344' }, ['ceiling', 'ceiling']],
    ['another ceiling in USDC', { ceiling_usdc: '0.5' }, ['ceiling_usdc']],
    ['no ceiling', { ceiling: undefined, ceiling_usdc: undefined }, ['ceiling']],
    ['another amount', { amount: '12346', amount_usdc: '0.012346' }, ['amount']],
    ['another nonce', { nonce: `0x${'7'.repeat(64)}` }, ['nonce', 'ceiling']],
    ['another payee', { pay_to: `0x${'b'.repeat(40)}` }, ['pay_to']],
    ['a payer that is no account', { payer: 'me' }, ['payer', 'pay_to', 'amount', 'nonce', 'log_index', 'ceiling']],
    ['a later expiry', { expires_at: '2099-01-01T00:00:00.000Z' }, ['expires_at']],
    ['another scheme', { scheme: 'exact' }, ['ceiling', 'payer', 'pay_to', 'amount', 'nonce', 'log_index', 'ceiling']],
  ])('with %s', async (_name, changes, wrong) => {
    const receipt = await getReceipt();
    const nodes = [{ name: 'the node', reader: openEvmReader(NETWORKS.base, chain.rpcUrl) }];
    const checks = await checkReceipt({ ...receipt, ...changes }, nodes);
    expect(checks.filter(({ passed }) => !passed).map(({ field }) => field)).toEqual(wrong);
  });

  it('by a node on which its nonce is not used', async () => {
    const { pay, node } = await openPaying();
    const { receipt } = buildReceipt(await pay());
    node.lie = (method, params) =>
      method === 'eth_call' && JSON.stringify(params).includes('0x4fe02b44') ? `0x${'0'.repeat(64)}` : undefined;
    const checks = await checkReceipt(receipt, [{ name: 'the node', reader: openEvmReader(NETWORKS.base, node.url) }]);
    expect(checks.filter(({ passed }) => !passed).map(({ field }) => field)).toEqual(['nonce', 'ceiling']);
  });
});
