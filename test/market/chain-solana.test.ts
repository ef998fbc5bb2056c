import {
  createSolanaRpc,
  generateKeyPairSigner,
  getBase64Encoder,
  getTransactionDecoder,
  type KeyPairSigner,
  type Rpc,
  type SolanaRpcApi,
} from '@solana/kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SolanaChain, startSolanaChain } from '../../scripts/market/chain-solana.ts';
import { MINT } from '../../scripts/market/solana/machine.ts';
import { findTokenAccount, signTransfer } from './transfers.ts';

let chain: SolanaChain;
let rpc: Rpc<SolanaRpcApi>;
let payer: KeyPairSigner;
let payee: KeyPairSigner;
let feePayer: KeyPairSigner;

beforeAll(async () => {
  chain = await startSolanaChain();
  rpc = createSolanaRpc(chain.rpcUrl);
  [payer, payee, feePayer] = await Promise.all([
    generateKeyPairSigner(),
    generateKeyPairSigner(),
    generateKeyPairSigner(),
  ]);
  chain.fundFees(feePayer.address);
  await chain.fund(payer.address, 1_000_000n);
  await chain.fund(payee.address, 0n);
});
afterAll(() => chain.stop());

const send = (wire: Awaited<ReturnType<typeof signTransfer>>, skipPreflight = false) =>
  rpc.sendTransaction(wire, { encoding: 'base64', skipPreflight }).send();

const pay = async (amount: bigint, memo: string) =>
  send(await signTransfer(rpc, { payer, payee: payee.address, feePayer, amount, memo }));

const getTransaction = (signature: Awaited<ReturnType<typeof send>>) =>
  rpc.getTransaction(signature, { encoding: 'jsonParsed', maxSupportedTransactionVersion: 0 }).send();

describe('the local Solana', () => {
  it('has USDC at its address, with six decimals', async () => {
    const { value } = await rpc.getAccountInfo(MINT, { encoding: 'base64' }).send();
    expect(value?.owner).toBe('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
    const balance = await rpc.getTokenAccountBalance(await findTokenAccount(payer.address)).send();
    expect(balance.value).toMatchObject({ decimals: 6, uiAmountString: '1' });
  });

  it('moves money, and tells of it as a node does', async () => {
    const before = await chain.getBalance(payee.address);
    const signature = await pay(1500n, 'told');
    expect(await chain.getBalance(payee.address)).toBe(before + 1500n);
    const statuses = await rpc.getSignatureStatuses([signature]).send();
    expect(statuses.value).toMatchObject([{ err: null, confirmationStatus: 'finalized', confirmations: null }]);
    const told = await getTransaction(signature);
    expect(told?.meta).toMatchObject({ err: null, fee: 10_000n });
    const [source, destination] = await Promise.all([payer, payee].map(({ address }) => findTokenAccount(address)));
    expect(told?.transaction.message.instructions).toMatchObject([
      {
        program: 'spl-token',
        parsed: {
          type: 'transferChecked',
          info: { source, destination, mint: MINT, authority: payer.address, tokenAmount: { amount: '1500' } },
        },
      },
      { program: 'spl-memo', parsed: 'told' },
    ]);
    const getChange = (owner: string) => {
      const [pre, post] = [told?.meta?.preTokenBalances, told?.meta?.postTokenBalances].map((balances) =>
        BigInt(balances?.find((balance) => balance.owner === owner)?.uiTokenAmount.amount ?? -1),
      );
      return (post ?? 0n) - (pre ?? 0n);
    };
    expect([getChange(payer.address), getChange(payee.address)]).toEqual([-1500n, 1500n]);
    const keys = told?.transaction.message.accountKeys;
    expect(keys?.[0]).toMatchObject({ pubkey: feePayer.address, signer: true, writable: true });
    expect(keys?.find(({ pubkey }) => pubkey === payer.address)).toMatchObject({ signer: true, writable: false });
    expect(keys?.find(({ pubkey }) => pubkey === destination)).toMatchObject({ signer: false, writable: true });
  });

  it('gives a transaction back byte for byte, the payer’s own signature in it', async () => {
    const wire = await signTransfer(rpc, { payer, payee: payee.address, feePayer, amount: 1n, memo: 'bytes' });
    const signature = await send(wire);
    const told = await rpc.getTransaction(signature, { encoding: 'base64', maxSupportedTransactionVersion: 0 }).send();
    expect(told?.transaction).toEqual([wire, 'base64']);
    const { signatures } = getTransactionDecoder().decode(getBase64Encoder().encode(wire));
    expect(Object.keys(signatures)).toEqual([feePayer.address, payer.address]);
    const block = await rpc.getBlock(told?.slot ?? 0n, { transactionDetails: 'none', rewards: false }).send();
    expect(block?.blockTime).toBe(told?.blockTime);
    await expect(rpc.getTransaction(signature, { encoding: 'base64' }).send()).rejects.toThrow('version');
  });

  it('lists the transactions of an account, the latest first, with their memos', async () => {
    const account = await findTokenAccount(payer.address);
    const [first, second, third] = [await pay(1n, 'first'), await pay(1n, 'second'), await pay(1n, 'third')];
    const list = await rpc.getSignaturesForAddress(account, { limit: 2 }).send();
    expect(list.map(({ signature, memo }) => [signature, memo])).toEqual([
      [third, '[5] third'],
      [second, '[6] second'],
    ]);
    const rest = await rpc.getSignaturesForAddress(account, { before: second, limit: 1 }).send();
    expect(rest.map(({ signature }) => signature)).toEqual([first]);
  });

  it('takes a transaction once', async () => {
    const wire = await signTransfer(rpc, { payer, payee: payee.address, feePayer, amount: 7n, memo: 'once' });
    const signature = await send(wire);
    const after = await chain.getBalance(payee.address);
    await expect(send(wire)).rejects.toHaveProperty('cause.message', expect.stringContaining('already been processed'));
    expect(await send(wire, true)).toBe(signature);
    expect(await chain.getBalance(payee.address)).toBe(after);
  });

  it('refuses more than there is, with what the program said', async () => {
    const wire = await signTransfer(rpc, { payer, payee: payee.address, feePayer, amount: 10n ** 12n });
    await expect(send(wire)).rejects.toThrow('simulation failed');
    const simulated = await rpc.simulateTransaction(wire, { encoding: 'base64' }).send();
    expect(simulated.value.err).toEqual({ InstructionError: [0n, { Custom: 1n }] });
    // Without preflight it stands in a block, failed, its fee taken.
    const told = await getTransaction(await send(wire, true));
    expect(told?.meta).toMatchObject({ err: { InstructionError: [0n, { Custom: 1n }] }, fee: 10_000n });
  });

  it('refuses a signature that is not one', async () => {
    const wire = await signTransfer(rpc, { payer, payee: payee.address, feePayer, amount: 1n, memo: 'forged' });
    const bytes = Buffer.from(wire, 'base64');
    bytes[70] = (bytes[70] ?? 0) ^ 1;
    await expect(send(bytes.toString('base64') as typeof wire)).rejects.toThrow('signature verification');
  });

  it('drops a transaction whose block is too long ago', async () => {
    const late = await startSolanaChain();
    try {
      const node = createSolanaRpc(late.rpcUrl);
      late.fundFees(feePayer.address);
      await late.fund(payer.address, 10n);
      await late.fund(payee.address, 0n);
      const wire = await signTransfer(node, { payer, payee: payee.address, feePayer, amount: 1n });
      late.skipSlots(152);
      await expect(node.sendTransaction(wire, { encoding: 'base64' }).send()).rejects.toThrow('simulation failed');
      const signature = await node.sendTransaction(wire, { encoding: 'base64', skipPreflight: true }).send();
      expect((await node.getSignatureStatuses([signature]).send()).value).toEqual([null]);
      expect(await late.getBalance(payee.address)).toBe(0n);
    } finally {
      await late.stop();
    }
  });

  it('tells of what is not final yet only to those who ask for less', async () => {
    const slow = await startSolanaChain({ finalitySlots: 32 });
    try {
      const node = createSolanaRpc(slow.rpcUrl);
      slow.fundFees(feePayer.address);
      await slow.fund(payer.address, 10n);
      await slow.fund(payee.address, 0n);
      slow.skipSlots(40);
      const { value } = await node.getLatestBlockhash({ commitment: 'confirmed' }).send();
      const wire = await signTransfer(node, { payer, payee: payee.address, feePayer, amount: 1n, lifetime: value });
      const signature = await node.sendTransaction(wire, { encoding: 'base64' }).send();
      const read = (commitment: 'confirmed' | 'finalized') =>
        node.getTransaction(signature, { commitment, encoding: 'json', maxSupportedTransactionVersion: 0 }).send();
      expect(await read('finalized')).toBeNull();
      expect((await read('confirmed'))?.meta?.err).toBeNull();
      slow.skipSlots(32);
      expect((await read('finalized'))?.meta?.err).toBeNull();
    } finally {
      await slow.stop();
    }
  });
});
