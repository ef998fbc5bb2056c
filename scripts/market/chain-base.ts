import {
  type Account,
  createTestClient,
  createWalletClient,
  encodeAbiParameters,
  type Hex,
  http,
  keccak256,
  numberToHex,
  type PrivateKeyAccount,
  publicActions,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { base } from 'viem/chains';
import { startAnvil } from './anvil.ts';
import { readTokenCode, TOKEN_ABI, TOKEN_ADDRESS } from './token/token.ts';

/** What the treasury holds at first: more USDC than any market spends, in atomic units. */
const TREASURY_USDC = 10n ** 15n;
const GAS_MONEY = 10n ** 24n;
const SLOT_OF_SUPPLY = 0n;
const SLOT_OF_BALANCES = 1n;

/** A chain of this machine that says it is Base, with USDC at its address. Every transaction is mined at once. */
export interface BaseChain {
  readonly rpcUrl: string;
  /** The guard process; it ends with this process, and the chain with it. */
  readonly pid: number;
  /** Gives atomic USDC to an account, by a transfer from the treasury. Gives the transaction. */
  fund(address: string, atomic: bigint): Promise<Hex>;
  /** Gives an account the money that transactions cost. */
  fundGas(address: string): Promise<void>;
  /** Gives the balance of an account in atomic USDC. */
  getBalance(address: string): Promise<bigint>;
  /** Mines empty blocks, as many seconds apart as told. */
  mine(blocks?: number, secondsApart?: number): Promise<void>;
  /** Gives the time of the latest block, in seconds. */
  getTime(): Promise<number>;
  /** Mines a block at a time that must be after that of the latest one, in seconds; the clock runs on from there. */
  setTime(seconds: number): Promise<void>;
  /** Runs something, and takes back all that it did on the chain, the time included. */
  undoAfter<Result>(run: () => Promise<Result>): Promise<Result>;
  stop(): Promise<void>;
}

export interface BaseChainOptions {
  /** Mine a block every so many seconds besides; without, blocks come with transactions alone. */
  blockSeconds?: number;
}

/** Starts the chain and puts the token in place, in about 0.2 s. Throws `unavailable` where it does not come up. */
export async function startBaseChain({ blockSeconds }: BaseChainOptions = {}): Promise<BaseChain> {
  const blocks = blockSeconds === undefined ? [] : ['--block-time', String(blockSeconds), '--mixed-mining'];
  const anvil = await startAnvil(['--slots-in-an-epoch', '1', ...blocks]);
  try {
    return await prepare(anvil);
  } catch (error) {
    await anvil.stop();
    throw error;
  }
}

async function prepare({ rpcUrl, pid, stop }: Awaited<ReturnType<typeof startAnvil>>): Promise<BaseChain> {
  const treasury = privateKeyToAccount(generatePrivateKey());
  const chain = createTestClient({ mode: 'anvil', chain: base, transport: http(rpcUrl) }).extend(publicActions);
  const wallet = openWallet(rpcUrl, treasury);
  const setSlot = (index: Hex, value: bigint) =>
    chain.setStorageAt({ address: TOKEN_ADDRESS, index, value: numberToHex(value, { size: 32 }) });
  await chain.setCode({ address: TOKEN_ADDRESS, bytecode: readTokenCode() });
  await setSlot(numberToHex(SLOT_OF_SUPPLY, { size: 32 }), TREASURY_USDC);
  await setSlot(getBalanceSlot(treasury.address), TREASURY_USDC);
  await chain.setBalance({ address: treasury.address, value: GAS_MONEY });
  let queue: Promise<unknown> = Promise.resolve();
  return {
    rpcUrl,
    pid,
    stop,
    fund(address, atomic) {
      // One after another: two transfers at once would take the same account nonce.
      const transfer = queue.then(async () => {
        const args = [address as Hex, atomic] as const;
        const call = { address: TOKEN_ADDRESS, abi: TOKEN_ABI, functionName: 'transfer', args } as const;
        const hash = await wallet.writeContract(call);
        await wallet.waitForTransactionReceipt({ hash });
        return hash;
      });
      queue = transfer.catch(() => undefined);
      return transfer;
    },
    fundGas: (address) => chain.setBalance({ address: address as Hex, value: GAS_MONEY }),
    getBalance: (address) =>
      chain.readContract({
        address: TOKEN_ADDRESS,
        abi: TOKEN_ABI,
        functionName: 'balanceOf',
        args: [address as Hex],
      }),
    mine: (count = 1, secondsApart = 0) => chain.mine({ blocks: count, interval: secondsApart }),
    getTime: async () => Number((await chain.getBlock({ blockTag: 'latest' })).timestamp),
    async setTime(seconds) {
      await chain.setNextBlockTimestamp({ timestamp: BigInt(seconds) });
      await chain.mine({ blocks: 1 });
    },
    async undoAfter(run) {
      const id = await chain.snapshot();
      try {
        return await run();
      } finally {
        await chain.revert({ id });
      }
    },
  };
}

/** Opens a wallet that sends transactions on the local chain and reads it. */
export function openWallet<Wallet extends Account = PrivateKeyAccount>(rpcUrl: string, account: Wallet) {
  return createWalletClient({ account, chain: base, transport: http(rpcUrl), pollingInterval: 20 }).extend(
    publicActions,
  );
}

/** A mapping's value stands at the hash of its key and the mapping's slot (Solidity, "Layout in Storage"). */
function getBalanceSlot(address: Hex): Hex {
  return keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [address, SLOT_OF_BALANCES]));
}
