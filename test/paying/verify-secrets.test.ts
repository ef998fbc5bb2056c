import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { getMarket } from '../worker-market.ts';
import { beDown, openLyingNode } from './lying-node.ts';
import { deliver } from './paying.ts';
import { makePayingCommands, SLUG } from './verifying.ts';

const { base: chain } = await getMarket();

const RUNS = [
  ['verify', SLUG],
  ['verify', SLUG, '--json'],
  ['verify', SLUG, '--pay'],
  ['verify', SLUG, '--pay', '--json'],
  ['receipts'],
  ['receipts', 'reconcile'],
  ['receipts', 'reconcile', '--json'],
];

describe('a key', () => {
  it.each([
    ['on Base, of words', { PAYER_EVM_PRIVATE_KEY: 'sesame-open-the-door' }, 'sesame'],
    ['on Base, too long', { PAYER_EVM_PRIVATE_KEY: `0x${'5e5a3e'.repeat(12)}` }, '5e5a3e'],
    ['on Base, beyond the curve', { PAYER_EVM_PRIVATE_KEY: `0x${'f'.repeat(64)}` }, 'ffffffff'],
    ['on Solana, of words', { PAYER_SOLANA_PRIVATE_KEY: 'sesame-open-the-door' }, 'sesame'],
    ['on Solana, too short', { PAYER_SOLANA_PRIVATE_KEY: 'SesameSesame' }, 'Sesame'],
    ['on Solana, no bytes', { PAYER_SOLANA_PRIVATE_KEY: '[77001,77002,77003]' }, '7700'],
    ['on Solana, cut off', { PAYER_SOLANA_PRIVATE_KEY: '[77001,77002' }, '7700'],
    ['on Solana, whose halves do not fit', { PAYER_SOLANA_PRIVATE_KEY: `[${'77,'.repeat(63)}77]` }, '77,77'],
  ])('that is invalid, %s, is refused without quoting it', async (_name, settings, secret) => {
    const { run } = await makePayingCommands(chain, {
      settings: { SOLANA_RPC_URL: 'http://127.0.0.1:9', ...settings },
    });
    for (const args of RUNS) {
      const { code, stdout, stderr } = await run(args);
      if (args[0] === 'verify') expect([code, stderr]).toEqual([1, expect.stringMatching(/is not a private key/)]);
      expect(`${stdout}${stderr}`).not.toContain(secret);
    }
  });

  it('that pays is never shown and never stored', async () => {
    const { run, privateKey, catalogue } = await makePayingCommands(chain);
    const secret = privateKey.slice(2);
    for (const args of RUNS) {
      const { code, stdout, stderr } = await run(args);
      expect(code).toBe(0);
      expect(`${stdout}${stderr}`.toLowerCase()).not.toContain(secret);
    }
    expect(catalogue.engine.sqlite.serialize().includes(secret)).toBe(false);
  });

  it('in a file is only accepted if nobody but its owner can read it', async () => {
    const { run, environment, folder, privateKey } = await makePayingCommands(chain);
    const file = join(folder, 'key');
    writeFileSync(file, `${privateKey}\n`);
    Object.assign(environment, { PAYER_EVM_PRIVATE_KEY: '', PAYER_EVM_KEY_FILE: file });
    for (const mode of [0o644, 0o640, 0o604, 0o620]) {
      chmodSync(file, mode);
      const { code, stdout, stderr } = await run(['verify', SLUG, '--pay']);
      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining('Others than its owner may read or write the key file'),
      ]);
      expect(stderr).toContain(`chmod 600 ${file}`);
      expect(`${stdout}${stderr}`).not.toContain(privateKey.slice(2));
    }
    chmodSync(file, 0o600);
    expect((await run(['verify', SLUG, '--pay'])).code).toBe(0);
    Object.assign(environment, { PAYER_EVM_KEY_FILE: join(folder, 'none') });
    expect((await run(['verify', SLUG])).stderr).toContain('cannot be read (ENOENT)');
    Object.assign(environment, { PAYER_EVM_KEY_FILE: folder });
    chmodSync(folder, 0o700);
    expect((await run(['verify', SLUG])).stderr).toContain('cannot be read (EISDIR)');
  });
});

describe('a node', () => {
  it.each([
    ['EVM_RPC_URL', 'Base', {}],
    ['SOLANA_RPC_URL', 'Solana', { PAYER_EVM_PRIVATE_KEY: '', PAYER_SOLANA_PRIVATE_KEY: 'zzz' }],
  ])('that is missing for a key is reported before anything is paid: %s', async (name, label, settings) => {
    const { run } = await makePayingCommands(chain, { settings: { EVM_RPC_URL: '', ...settings } });
    for (const args of [
      ['verify', SLUG],
      ['receipts', 'reconcile'],
    ]) {
      const { code, stderr } = await run(args);
      expect(code).toBe(1);
      expect(stderr).toContain(`error: The wallet on ${label} has a key, but ${name} is not set.\nhint: ${name} takes`);
    }
    expect((await run(['check'])).stdout).toContain(`${name} is not set`);
  });

  it('that is down is reported in one sentence, without its address, which may contain a key', async () => {
    const settings = { EVM_RPC_URL: 'http://127.0.0.1:9/v2/sesame-of-the-operator?key=sesame' };
    const { run, getLost } = await makePayingCommands(chain, { settings });
    for (const args of [
      ['verify', SLUG],
      ['verify', SLUG, '--pay'],
      ['verify', SLUG, '--pay', '--json'],
    ]) {
      const { code, stdout, stderr } = await run(args);
      expect(code).toBe(1);
      expect(stderr).toMatch(/^error: The chain cannot be asked: .*\nhint: Check EVM_RPC_URL/m);
      expect(`${stdout}${stderr}`).not.toContain('sesame');
    }
    expect(await getLost()).toBe(0n);
  });

  it('that goes down after the payment leaves it unknown, and the next run finds it', async () => {
    const node = await openLyingNode(chain.rpcUrl);
    const { run, runJson, getLost } = await makePayingCommands(chain, {
      settings: { EVM_RPC_URL: node.url },
      sale: async ({ response, settle }) => {
        const transaction = await settle();
        node.lie = beDown;
        deliver(response, transaction);
      },
    });
    const { code, stderr } = await run(['verify', SLUG, '--pay']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('a payment that was sent is found then')]);
    expect((await run(['receipts'])).stdout).toContain('unknown (rpc_failed)');
    node.lie = undefined;
    const found = await runJson('receipts', 'reconcile');
    expect(found.json.payments).toMatchObject([{ state: 'settled', delivered: true }]);
    expect((await run(['show', SLUG])).stdout).toContain('settlement-verified');
    expect(await getLost()).toBe(1000n);
  });

  it('that fails after the settlement hides nothing about the payment', async () => {
    const node = await openLyingNode(chain.rpcUrl);
    const { verify } = await makePayingCommands(chain, { settings: { EVM_RPC_URL: node.url } });
    let balances = 0;
    node.lie = (method, params) => {
      if (method === 'eth_call' && JSON.stringify(params).includes('0x70a08231')) balances += 1;
      if (balances > 1) throw new Error('down');
      return undefined;
    };
    const { code, json } = await verify('--pay');
    expect([code, json.payment.state, json.wallets[0].balance]).toEqual([0, 'settled', null]);
  });
});
