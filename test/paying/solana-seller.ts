import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createSolanaRpc,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getBase64Encoder,
  getTransactionDecoder,
  partiallySignTransaction,
} from '@solana/kit';
import { onTestFinished } from 'vitest';
import type { SolanaChain } from '../../scripts/market/chain-solana.ts';
import { NETWORKS } from '../../src/model/network.ts';
import type { Sale } from './paying.ts';

/** A seller that pays the fee and settles without a facilitator. */
export async function serveSolanaSeller(
  chain: SolanaChain,
  sale: Sale<string>,
  version: 1 | 2 = 2,
  extra: object = {},
) {
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
