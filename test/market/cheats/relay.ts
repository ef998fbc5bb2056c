import { createSolanaRpc, generateKeyPairSigner, address as toAddress } from '@solana/kit';
import type { Hex } from 'viem';
import { z } from 'zod';
import { openWallet } from '../../../scripts/market/chain-base.ts';
import { type Settlement, settlePayment } from '../../../scripts/market/providers/facilitation.ts';
import { makeAccount, makeAuthorization, signAuthorization, submit } from '../authorizations.ts';
import { signTransfer } from '../transfers.ts';
import type { Sale } from './cheating.ts';

const authorized = z.object({
  signature: z.string(),
  authorization: z.object({
    from: z.string(),
    to: z.string(),
    value: z.string(),
    validAfter: z.string(),
    validBefore: z.string(),
    nonce: z.string(),
  }),
});

/** Settles a payment past any check but the chain's own: on Base by a relay of the seller's, on Solana by the fee payer. */
export async function submitOnChain(sale: Sale): Promise<Settlement> {
  const { market, payment, presented, options } = sale;
  if (options.network === 'solana') return settlePayment(market.facilitator.url, presented);
  const { signature, authorization } = authorized.parse(payment.payload);
  const { value, validAfter, validBefore } = authorization;
  const given = {
    ...authorization,
    value: BigInt(value),
    validAfter: BigInt(validAfter),
    validBefore: BigInt(validBefore),
  };
  const failed = { success: false, transaction: '', network: 'base' };
  try {
    const receipt = await submit(await openRelay(sale), given as Parameters<typeof submit>[1], signature as Hex);
    return { ...failed, success: receipt.status === 'success', transaction: receipt.transactionHash };
  } catch (error) {
    const reason = /authorization is [\w ]+|invalid signature|exceeds balance/.exec(String(error))?.[0];
    return { ...failed, errorReason: reason ?? String(error) };
  }
}

async function openRelay({ market }: Sale) {
  const relay = makeAccount();
  await market.base.fundGas(relay.address);
  return openWallet(market.base.rpcUrl, relay);
}

/** Has somebody else pay the seller the same amount, for real. Gives that transaction. */
export async function payAsBystander(sale: Sale): Promise<string> {
  const { market, payees, options } = sale;
  const amount = BigInt(options.price);
  if (options.network === 'base') {
    const bystander = makeAccount();
    await market.base.fund(bystander.address, amount);
    const authorization = makeAuthorization(bystander, payees.base as Hex, { value: amount });
    const signature = await signAuthorization(bystander, authorization);
    return (await submit(await openRelay(sale), authorization, signature)).transactionHash;
  }
  const [payer, feePayer] = await Promise.all([generateKeyPairSigner(), generateKeyPairSigner()]);
  const rpc = createSolanaRpc(market.solana?.rpcUrl ?? '');
  market.solana?.fundFees(feePayer.address);
  await market.solana?.fund(payer.address, amount);
  const wire = await signTransfer(rpc, { payer, feePayer, payee: toAddress(payees.solana), amount });
  return rpc.sendTransaction(wire, { encoding: 'base64' }).send();
}
