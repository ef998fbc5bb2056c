import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createKeyPairSignerFromPrivateKeyBytes,
  createSolanaRpc,
  generateKeyPairSigner,
  getBase58Decoder,
  getBase64EncodedWireTransaction,
  getBase64Encoder,
  getTransactionDecoder,
  partiallySignTransaction,
} from '@solana/kit';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type SolanaChain, startSolanaChain } from '../../scripts/market/chain-solana.ts';
import { NETWORKS } from '../../src/model/network.ts';
import { reconcilePayments } from '../../src/paying/reconcile.ts';
import { openSolanaReader } from '../../src/paying/solana/chain.ts';
import { openSolanaRail } from '../../src/paying/solana/rail.ts';
import { makeTerms } from '../records.ts';
import { checkPayment, openPayingWith, type Sale } from './paying.ts';

let chain: SolanaChain;
beforeAll(async () => {
  chain = await startSolanaChain();
});
afterAll(() => chain.stop());

const now = () => new Date();

/** A seller that pays the fee and settles without a facilitator. */
async function serveSeller(sale: Sale<string>, version: 1 | 2 = 2, extra: object = {}) {
  const [payee, feePayer] = await Promise.all([generateKeyPairSigner(), generateKeyPairSigner()]);
  chain.fundFees(feePayer.address);
  await chain.fund(payee.address, 0n);
  const rpc = createSolanaRpc(chain.rpcUrl);
  const offer = {
    scheme: 'exact',
    network: version === 2 ? NETWORKS.solana.id : 'solana',
    asset: NETWORKS.solana.usdc,
    payTo: payee.address,
    maxTimeoutSeconds: 60,
    extra: { feePayer: feePayer.address, ...extra },
    ...(version === 2
      ? { amount: '1000' }
      : { maxAmountRequired: '1000', resource: 'http://127.0.0.1/v1/quote', description: '', mimeType: '' }),
  };
  const challenge = { x402Version: version, accepts: [offer], resource: { url: 'http://127.0.0.1/v1/quote' } };
  const server = createServer((request, response) => {
    const header = request.headers['payment-signature'] ?? request.headers['x-payment'];
    if (header === undefined) {
      response.statusCode = 402;
      if (version === 2) response.setHeader('payment-required', btoa(JSON.stringify(challenge)));
      response.end(version === 1 ? JSON.stringify(challenge) : '{}');
      return;
    }
    const { payload } = JSON.parse(Buffer.from(String(header), 'base64').toString());
    const settle = async () => {
      const partial = getTransactionDecoder().decode(getBase64Encoder().encode(payload.transaction));
      const signed = await partiallySignTransaction([feePayer.keyPair], partial);
      return rpc.sendTransaction(getBase64EncodedWireTransaction(signed), { encoding: 'base64' }).send();
    };
    void sale({ request, response, settle });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, payee: payee.address };
}

async function openPaying({ url, payee }: Awaited<ReturnType<typeof serveSeller>>) {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  const signer = await createKeyPairSignerFromPrivateKeyBytes(bytes);
  const rail = await openSolanaRail({ privateKey: getBase58Decoder().decode(bytes), rpcUrl: chain.rpcUrl });
  expect(rail.payer).toBe(signer.address);
  await chain.fund(rail.payer, 1_000_000n);
  const terms = makeTerms({ network: 'solana', asset: NETWORKS.solana.usdc, pay_to: payee });
  return { ...(await openPayingWith(rail, url, terms)), rail };
}

describe('a paid call on Solana', () => {
  it.each([1, 2] as const)('settles, delivers and verifies its route, with x402 version %i', async (version) => {
    const seller = await serveSeller(async ({ response, settle }) => {
      response.setHeader('payment-response', btoa(JSON.stringify({ success: true, transaction: await settle() })));
      response.setHeader('content-type', 'application/json');
      response.end('{"quote":42}');
    }, version);
    const { pay, rail, getRoute } = await openPaying(seller);
    const payment = await pay();
    expect(payment).toMatchObject({ state: 'settled', delivered: true, network: 'solana', pay_to: seller.payee });
    expect(payment.seller_receipt?.transaction).toBe(payment.settlement?.transaction);
    expect(await rail.chain.getBalance(rail.payer)).toBe(999_000);
    expect(await getRoute()).toMatchObject({ verification: 'settlement-verified', proof: { public_chain: false } });
    const checks = await checkPayment(openSolanaReader(chain.rpcUrl), payment);
    expect(checks.filter(({ passed }) => !passed)).toEqual([]);
  });

  it('is found by our own signature, whatever memo the seller asks for and whatever it says', async () => {
    const seller = await serveSeller(
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
    const seller = await serveSeller(({ response }) => void response.end('{}'));
    const { pay, ledger, rail } = await openPaying(seller);
    expect(await pay({ signal: AbortSignal.timeout(300) })).toMatchObject({ state: 'sent' });
    chain.skipSlots(400);
    expect(await reconcilePayments({ rail, ledger, now })).toMatchObject([{ state: 'not_settled', reason: 'expired' }]);
  });

  it('is not made if the seller wants us to pay the fee', async () => {
    const seller = await serveSeller(({ response }) => void response.end('{}'), 2, { feePayer: undefined });
    const { pay, rail } = await openPaying(seller);
    await expect(pay()).rejects.toMatchObject({ reason: 'no_fee_payer' });
    expect(await rail.chain.getBalance(rail.payer)).toBe(1_000_000);
  });
});
