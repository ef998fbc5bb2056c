import { x402Client } from '@x402/core/client';
import type { PaymentRequired } from '@x402/core/types';
import { UptoEvmScheme } from '@x402/evm/upto/client';
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { allowPermit2 } from '../../scripts/market/chain-base.ts';
import { type Market, startMarket } from '../../scripts/market/market.ts';
import { TOKEN_ADDRESS } from '../../scripts/market/token/token.ts';

let market: Market;
beforeAll(async () => {
  market = await startMarket({ plans: [], solana: false });
});
afterAll(() => market.stop());

const CEILING = 50_000n;

/** Signs a payment of the scheme upto as the SDK's client does, from a wallet that allows Permit2 to move its USDC. */
async function signPayment() {
  const account = privateKeyToAccount(generatePrivateKey());
  await Promise.all([market.base.fund(account.address, 1_000_000n), allowPermit2(market.base, account)]);
  const requirement = {
    ...{ scheme: 'upto', network: 'eip155:8453', asset: TOKEN_ADDRESS, amount: String(CEILING) },
    payTo: privateKeyToAddress(generatePrivateKey()),
    maxTimeoutSeconds: 60,
    extra: { facilitatorAddress: market.facilitator.evmAddress },
  };
  const challenge = { x402Version: 2, resource: { url: 'http://127.0.0.1/x' }, accepts: [requirement] };
  const client = new x402Client().register('eip155:*', new UptoEvmScheme(account));
  const payment = await client.createPaymentPayload(challenge as unknown as PaymentRequired);
  return { account, requirement, payment };
}

async function settle(paymentPayload: unknown, paymentRequirements: unknown) {
  const body = JSON.stringify({ x402Version: 2, paymentPayload, paymentRequirements });
  const headers = { 'content-type': 'application/json' };
  return (await fetch(`${market.facilitator.url}/settle`, { method: 'POST', headers, body })).json();
}

it('settles what a call came to, below the ceiling that was signed, once', async () => {
  const { account, requirement, payment } = await signPayment();
  const taken = { ...requirement, amount: '12345' };
  expect(await settle(payment, taken)).toMatchObject({ success: true, amount: '12345' });
  expect(await market.base.getBalance(requirement.payTo)).toBe(12_345n);
  expect(await market.base.getBalance(account.address)).toBe(1_000_000n - 12_345n);
  expect(await settle(payment, taken)).toMatchObject({ success: false });
  expect(await market.base.getBalance(requirement.payTo)).toBe(12_345n);
});

it('takes neither more than the ceiling, nor for another payee', async () => {
  const { account, requirement, payment } = await signPayment();
  expect(await settle(payment, { ...requirement, amount: String(CEILING + 1n) })).toMatchObject({ success: false });
  const payTo = privateKeyToAddress(generatePrivateKey());
  expect(await settle(payment, { ...requirement, payTo })).toMatchObject({ success: false });
  expect(await market.base.getBalance(account.address)).toBe(1_000_000n);
});
