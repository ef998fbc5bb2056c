import { expect, it, onTestFinished } from 'vitest';
import { createRandom } from '../../scripts/bench/synthetic.ts';
import { startBaseChain } from '../../scripts/market/chain-base.ts';
import { makeFolder } from '../builders.ts';
import { runKillCampaign } from './kill-campaign.ts';

const CAP = 4_000;

// A long test kills it at any moment, too.
it('after a kill at a step of the journal nothing is paid twice and no receipt is lost', async () => {
  const chain = await startBaseChain();
  onTestFinished(() => chain.stop());
  const plan = {
    folder: makeFolder(),
    kills: 2,
    atStep: 1,
    capUsdc: String(CAP / 1_000_000),
    random: createRandom(11),
  };
  const { payments, used, killedAtStep } = await runKillCampaign(chain, plan);
  const settled = payments.filter(({ state }) => state === 'settled').map(({ nonce }) => nonce);
  expect(payments.filter(({ state }) => state !== 'settled' && state !== 'not_settled')).toEqual([]);
  expect(killedAtStep).toBeGreaterThan(0);
  expect(used.map(({ nonce }) => nonce).toSorted()).toEqual(settled.toSorted());
  expect(used.reduce((sum, { amount }) => sum + Number(amount), 0)).toBeLessThanOrEqual(CAP);
});
