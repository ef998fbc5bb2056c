import { describe, expect, it } from 'vitest';
import { makePayingCommands, SLUG, sellWithoutSettling } from '../paying/verifying.ts';
import { getMarket } from '../worker-market.ts';

const { base: chain } = await getMarket();

const ID = '5f3a0c53-3b6e-4a0e-8d43-2d7e7f2f0b01';

describe('receipts', () => {
  it('lists every payment, the latest first, and says if there is none', async () => {
    const { run, runJson } = await makePayingCommands(chain);
    expect(await run(['receipts'])).toEqual({ code: 0, stdout: 'There is no payment.\n', stderr: '' });
    const [first, second] = [await runJson('verify', SLUG, '--pay'), await runJson('verify', SLUG, '--pay')];
    const { code, json } = await runJson('receipts');
    expect(code).toBe(0);
    expect(json.payments).toEqual([second.json.payment, first.json.payment]);
    expect((await run(['receipts'])).stdout).toMatch(/settled\tyes\t[-0-9a-f]{36}\tGET http/);
  });

  it('of a payment are checked with the chain alone, at any node and without a wallet', async () => {
    const { run, runJson, environment } = await makePayingCommands(chain);
    const { payment } = (await runJson('verify', SLUG, '--pay')).json;
    Object.assign(environment, { PAYER_EVM_PRIVATE_KEY: '', EVM_RPC_URL: '' });
    const { code, json } = await runJson('receipts', 'check', payment.id, '--rpc', chain.rpcUrl);
    expect(code).toBe(0);
    expect(json.checks.filter(({ passed }: { passed: boolean }) => !passed)).toEqual([]);
    expect(
      json.checks.filter(({ node }: { node: string }) => node === new URL(chain.rpcUrl).host).length,
    ).toBeGreaterThan(8);
    expect((await run(['receipts', 'check', payment.id, '--rpc', chain.rpcUrl])).stdout).toContain(payment.nonce);
    expect(await run(['receipts', 'check', payment.id])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('Add --rpc <url>, or set EVM_RPC_URL.'),
    });
    expect(await run(['receipts', 'check', payment.id, '--rpc', 'http://127.0.0.1:9/sesame'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: The chain cannot be asked: (?!.*sesame)/),
    });
  });

  it('of a payment that the chain does not have are false', async () => {
    const { run, runJson, environment } = await makePayingCommands(chain);
    const id = await chain.undoAfter(async () => (await runJson('verify', SLUG, '--pay')).json.payment.id);
    Object.assign(environment, { PAYER_EVM_PRIVATE_KEY: '' });
    const { code, stdout } = await run(['receipts', 'check', id]);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/^NO\ttransaction .*the node has no such transaction/m)]);
  });

  describe('settled by hand', () => {
    /** A payment that the seller never settles: it is open until it expires. */
    const openUnsettled = async () => {
      const { sale, signal } = sellWithoutSettling();
      const paying = await makePayingCommands(chain, { sale });
      await paying.run(['verify', SLUG, '--pay'], { signal });
      const [payment] = (await paying.runJson('receipts')).json.payments;
      return { ...paying, payment };
    };

    it('are the operator’s word: shown as such, no proof and no caution, and the wallet is free again', async () => {
      const { runJson, run, payment, catalogue, environment } = await openUnsettled();
      expect(payment.state).toBe('sent');
      expect((await run(['verify', SLUG, '--pay'])).stderr).toContain('is still open');
      const because = 'The explorer shows it.';
      Object.assign(environment, { PAYER_EVM_PRIVATE_KEY: '', EVM_RPC_URL: '' });
      const settle = ['receipts', 'settle', payment.id, '--as', 'settled', '--because', because];
      const { code, json } = await runJson(...settle);
      expect([code, json.payments]).toMatchObject([
        0,
        [{ id: payment.id, state: 'settled', settlement: null, by_operator: { because } }],
      ]);
      expect((await run(['receipts'])).stdout).toContain(`settled (decided by the operator: ${because})`);
      expect(catalogue.engine.sqlite.prepare('SELECT count(*) FROM receipts').pluck().get()).toBe(0);
      expect((await run(['show', SLUG])).stdout).not.toMatch(/settlement-verified|paid, nothing/);
      expect(await run(['receipts', 'check', payment.id])).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('yourself; no chain shows it'),
      });
      expect((await run(settle)).stderr).toContain('is not open: it is settled');
      expect(catalogue.engine.sqlite.prepare("SELECT 1 FROM payments WHERE state = 'sent'").get()).toBeUndefined();
    });

    it('as not settled are refused until they can no longer settle', async () => {
      const { run, payment } = await openUnsettled();
      const settle = ['receipts', 'settle', payment.id, '--as', 'not_settled', '--because', 'Nothing came.'];
      expect(await run(settle)).toMatchObject({ code: 1, stderr: expect.stringContaining('can still settle, until') });
    });
  });

  it.each([
    [['settle', ID], 2, 'settle takes the id of a payment'],
    [['settle', 'x', '--as', 'settled', '--because', 'y'], 2, 'settle takes the id of a payment'],
    [['settle', ID, '--as', 'gone', '--because', 'y'], 2, 'settled or not_settled'],
    [['check', ID, '--because', 'y'], 2, 'settle takes the id of a payment'],
    [['settle', ID, '--as', 'settled', '--because', 'y'], 1, `There is no payment ${ID}.`],
    [['check'], 2, 'check takes the address of a receipt'],
    [['reconcile', ID], 2, 'check takes the address of a receipt'],
    [['--rpc', 'http://127.0.0.1:9'], 2, '--rpc goes with check'],
    [['check', ID, '--rpc', 'nonsense'], 2, 'an http(s) address'],
    [['destroy'], 2, 'check, reconcile or settle'],
    [['check', ID, '--rpc', 'http://127.0.0.1:9'], 1, `There is no receipt ${ID}.`],
  ])('%j ends with %i', async (args, code, sentence) => {
    const { run } = await makePayingCommands(chain);
    const ran = await run(['receipts', ...args]);
    expect([ran.code, ran.stdout]).toEqual([code, '']);
    expect(ran.stderr).toContain(sentence);
  });
});
