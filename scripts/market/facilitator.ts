import { generateKeyPairSigner } from '@solana/kit';
import { x402Facilitator } from '@x402/core/facilitator';
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { ExactEvmScheme } from '@x402/evm/exact/facilitator';
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/facilitator';
import { UptoEvmScheme } from '@x402/evm/upto/facilitator';
import { SettlementCache, toFacilitatorSvmSigner } from '@x402/svm';
import { ExactSvmScheme } from '@x402/svm/exact/facilitator';
import { ExactSvmSchemeV1 } from '@x402/svm/exact/v1/facilitator';
import { verifyTypedData } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { NETWORKS } from '../../src/model/network.ts';
import { type BaseChain, openWallet } from './chain-base.ts';
import type { SolanaChain } from './chain-solana.ts';
import { openServer, type Serving } from './loopback.ts';

type Network = `${string}:${string}`;

/**
 * Verifies and settles payments for sellers, over HTTP on loopback, by the SDK's facilitator. It sends real transactions and
 * pays their fees.
 */
export interface Facilitator extends Serving {
  /** The account that sends transactions on Base. */
  readonly evmAddress: string;
  /** The account that pays fees on Solana; undefined without that chain. */
  readonly solanaFeePayer: string | undefined;
}

interface Question {
  paymentPayload: PaymentPayload;
  paymentRequirements: PaymentRequirements;
}

/** Opens the facilitator for x402 versions 1 and 2, on Base and, if that chain is given, on Solana. */
export async function openFacilitator(chains: {
  base: BaseChain;
  solana?: SolanaChain | undefined;
}): Promise<Facilitator> {
  const facilitator = new x402Facilitator();
  const evmAddress = await registerBase(facilitator, chains.base);
  const solanaFeePayer = chains.solana && (await registerSolana(facilitator, chains.solana));
  const server = await openServer(async (request) => {
    const { pathname } = new URL(request.url);
    if (request.method === 'GET' && pathname === '/supported') return Response.json(facilitator.getSupported());
    if (request.method !== 'POST') return Response.json({ error: 'not found' }, { status: 404 });
    const { paymentPayload, paymentRequirements }: Question = await request.json();
    if (pathname === '/verify') return Response.json(await facilitator.verify(paymentPayload, paymentRequirements));
    if (pathname === '/settle') return Response.json(await facilitator.settle(paymentPayload, paymentRequirements));
    return Response.json({ error: 'not found' }, { status: 404 });
  });
  return { ...server, evmAddress, solanaFeePayer };
}

async function registerBase(facilitator: x402Facilitator, chain: BaseChain): Promise<string> {
  const account = privateKeyToAccount(generatePrivateKey());
  await chain.fundGas(account.address);
  const wallet = openWallet(chain.rpcUrl, account);
  const signer = toFacilitatorEvmSigner({
    address: account.address,
    readContract: (call) => wallet.readContract({ ...call, args: call.args ?? [] }),
    verifyTypedData: (call) => verifyTypedData(call),
    writeContract: (call) => chain.send(account.address, call),
    sendTransaction: (call) => wallet.sendTransaction(call),
    waitForTransactionReceipt: (call) => wallet.waitForTransactionReceipt(call),
    getCode: (call) => wallet.getCode(call),
  });
  facilitator.register(NETWORKS.base.id as Network, new ExactEvmScheme(signer));
  facilitator.register(NETWORKS.base.id as Network, new UptoEvmScheme(signer));
  facilitator.registerV1(NETWORKS.base.key as Network, new ExactEvmSchemeV1(signer));
  return account.address;
}

async function registerSolana(facilitator: x402Facilitator, chain: SolanaChain): Promise<string> {
  const account = await generateKeyPairSigner();
  chain.fundFees(account.address);
  const signer = toFacilitatorSvmSigner(account, { defaultRpcUrl: chain.rpcUrl });
  const settled = new SettlementCache();
  facilitator.register(NETWORKS.solana.id as Network, new ExactSvmScheme(signer, settled));
  facilitator.registerV1(NETWORKS.solana.key as Network, new ExactSvmSchemeV1(signer, settled));
  return account.address;
}
