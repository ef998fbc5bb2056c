import { expect, it, onTestFinished } from 'vitest';
import { startBaseChain } from '../../scripts/market/chain-base.ts';
import { makeFolder } from '../builders.ts';
import { runKillCampaign } from '../paying/kill-campaign.ts';

const KILLS = 200;
const CAP = 90_000;

it('pays nothing twice and loses no receipt, killed 200 times', async () => {
  const chain = await startBaseChain();
  onTestFinished(() => chain.stop());
  const { killed, killedAtStep, setBack, finished, payments, used } = await runKillCampaign(chain, {
    folder: makeFolder(),
    kills: KILLS,
    capUsdc: String(CAP / 1_000_000),
    random: Math.random,
  });
  const count = (state: string) => payments.filter((payment) => payment.state === state).length;
  const total = used.reduce((sum, { amount }) => sum + Number(amount), 0);
  console.info(
    `${killed} killed (${killedAtStep} at a step), ${finished} finished, catalogue set back ${setBack} times; ${payments.length} attempts: ${count('settled')} settled, ` +
      `${count('not_settled')} not settled; the chain shows ${used.length} payments of ${total} atomic USDC`,
  );
  expect(payments.filter(({ state }) => state !== 'settled' && state !== 'not_settled')).toEqual([]);
  const settled = payments.filter(({ state }) => state === 'settled');
  expect(new Set(used.map(({ nonce }) => nonce))).toEqual(new Set(settled.map(({ nonce }) => nonce)));
  expect(used).toHaveLength(settled.length);
  expect(total).toBeLessThanOrEqual(CAP);
  // The campaign proves nothing where nothing is paid or nothing was cut short.
  expect(killedAtStep).toBeGreaterThan(KILLS / 4);
  expect(setBack).toBeGreaterThan(5);
  expect(used.length).toBeGreaterThan(20);
  expect(count('not_settled')).toBeGreaterThan(5);
}, 1_800_000);
