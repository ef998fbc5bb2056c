import { PERMIT2_ADDRESS } from '@x402/evm';
import {
  type Abi,
  type Account,
  createTestClient,
  createWalletClient,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  http,
  keccak256,
  maxUint256,
  numberToHex,
  type PrivateKeyAccount,
  publicActions,
} from 'viem';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { base } from 'viem/chains';
import { type EvmNetwork, NETWORKS } from '../../src/model/network.ts';
import { getChainId } from '../../src/paying/evm/authorisation.ts';
import { startAnvil } from './anvil.ts';
import { CONTRACTS, readCode, TOKEN_ABI } from './token/token.ts';

/** Balance of the treasury at first, in atomic USDC: more than any market spends. */
const TREASURY_USDC = 10n ** 15n;
const GAS_MONEY = 10n ** 24n;

/** Most gas of a transaction: more than any here needs. */
const GAS_LIMIT = 1_000_000n;
const SLOT_OF_SUPPLY = 0n;
const SLOT_OF_BALANCES = 1n;

/** A chain on this machine with the chain id of Base, or of another, and with USDC at its address there. Transactions are mined at once. */
export interface BaseChain {
  /** The chain that it stands for. */
  readonly network: EvmNetwork;
  readonly rpcUrl: string;
  /** Process id of the guard, which ends with this process, and the chain with it. */
  readonly pid: number;
  /**
   * Sends a call of a contract from any account, for which the chain needs no signature. Returns the transaction, which the next
   * block has. Throws the contract's words if it takes no such call.
   */
  send(from: string, call: ContractCall): Promise<Hex>;
  /** Sends a call as `send` does, and returns the transaction once it is in a block. */
  sendInBlock(from: string, call: ContractCall): Promise<Hex>;
  /** Transfers atomic USDC from the treasury to an account. Returns the transaction. */
  fund(address: string, atomic: bigint): Promise<Hex>;
  /** Gives an account the money that transactions cost. */
  fundGas(address: string): Promise<void>;
  /** Returns the balance of an account in atomic USDC. */
  getBalance(address: string): Promise<bigint>;
  /** Mines empty blocks; `secondsApart` is the time between two of them on the chain. */
  mine(blocks?: number, secondsApart?: number): Promise<void>;
  /** Returns the time of the latest block, in seconds since 1970. */
  getTime(): Promise<number>;
  /** Mines a block with a later time than the latest one, in seconds since 1970. The clock goes on from there. */
  setTime(seconds: number): Promise<void>;
  /** Runs a function, and then undoes all that it did on the chain, including the time. */
  undoAfter<Result>(run: () => Promise<Result>): Promise<Result>;
  stop(): Promise<void>;
}

/** A call of a contract's function. */
interface ContractCall {
  readonly address: Hex;
  readonly abi: Abi | readonly unknown[];
  readonly functionName: string;
  readonly args: readonly unknown[];
}

export interface BaseChainOptions {
  /** Seconds between blocks without transactions. Without it, there are only blocks with transactions. */
  blockSeconds?: number;
  /** The chain that it stands for; default: Base. */
  network?: EvmNetwork;
  /** The code of its token, as hex; default: that of Base. */
  tokenCode?: Hex;
}

/** Starts the chain with the token, in about 0.2 s. Throws `unavailable` if it does not start. */
export async function startBaseChain({
  blockSeconds,
  network = NETWORKS.base,
  tokenCode = readCode('local-usdc.hex'),
}: BaseChainOptions = {}): Promise<BaseChain> {
  const id = ['--chain-id', String(getChainId(network))];
  const blocks = blockSeconds === undefined ? [] : ['--block-time', String(blockSeconds), '--mixed-mining'];
  const anvil = await startAnvil(['--slots-in-an-epoch', '1', '--auto-impersonate', ...id, ...blocks]);
  try {
    return await prepare(anvil, network, tokenCode);
  } catch (error) {
    await anvil.stop();
    throw error;
  }
}

async function prepare(
  { rpcUrl, pid, stop }: Awaited<ReturnType<typeof startAnvil>>,
  network: EvmNetwork,
  tokenCode: Hex,
): Promise<BaseChain> {
  const token = network.usdc as Hex;
  const treasury = privateKeyToAddress(generatePrivateKey());
  const chain = createTestClient({ mode: 'anvil', chain: buildChain(network), transport: http(rpcUrl) }).extend(
    publicActions,
  );
  const setSlot = (index: Hex, value: bigint) =>
    chain.setStorageAt({ address: token, index, value: numberToHex(value, { size: 32 }) });
  await chain.setCode({ address: token, bytecode: tokenCode });
  for (const [file, address] of Object.entries(CONTRACTS) as [keyof typeof CONTRACTS, Hex][]) {
    await chain.setCode({ address, bytecode: readCode(file) });
  }
  await setSlot(numberToHex(SLOT_OF_SUPPLY, { size: 32 }), TREASURY_USDC);
  await setSlot(getBalanceSlot(treasury), TREASURY_USDC);
  await chain.setBalance({ address: treasury, value: GAS_MONEY });
  const prepareCall = async (from: string, call: ContractCall) => {
    await chain.simulateContract({ ...call, account: from as Hex });
    return [
      { from, to: call.address, data: encodeFunctionData(call), gas: numberToHex(GAS_LIMIT) },
    ] as Sent['Parameters'];
  };
  let queue: Promise<unknown> = Promise.resolve();
  // One after another, because two transactions of an account at once would get the same nonce.
  const inTurn = <Result>(work: () => Promise<Result>) => {
    const done = queue.then(work);
    queue = done.catch(() => undefined);
    return done;
  };
  const sendInBlock = (from: string, call: ContractCall) =>
    inTurn(async () => {
      const params = await prepareCall(from, call);
      const { transactionHash } = await chain.request<SentInBlock>({ method: 'eth_sendTransactionSync', params });
      return transactionHash;
    });
  return {
    network,
    rpcUrl,
    pid,
    stop,
    send: (from, call) =>
      inTurn(async () => chain.request<Sent>({ method: 'eth_sendTransaction', params: await prepareCall(from, call) })),
    sendInBlock,
    fund: (address, atomic) =>
      sendInBlock(treasury, { address: token, abi: TOKEN_ABI, functionName: 'transfer', args: [address, atomic] }),
    fundGas: (address) => chain.setBalance({ address: address as Hex, value: GAS_MONEY }),
    getBalance: (address) =>
      chain.readContract({
        address: token,
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

/** A question that sends a transaction, and is answered with its hash. */
interface Sent {
  Method: 'eth_sendTransaction';
  Parameters: [{ from: string; to: Hex; data: Hex; gas: Hex }];
  ReturnType: Hex;
}

/** The same, answered once it is in a block. */
interface SentInBlock {
  Method: 'eth_sendTransactionSync';
  Parameters: Sent['Parameters'];
  ReturnType: { transactionHash: Hex };
}

/** Opens a wallet that sends transactions on the local chain and reads it. */
export function openWallet<Wallet extends Account = PrivateKeyAccount>(
  rpcUrl: string,
  account: Wallet,
  network: EvmNetwork = NETWORKS.base,
) {
  const chain = buildChain(network);
  return createWalletClient({ account, chain, transport: http(rpcUrl), pollingInterval: 20 }).extend(publicActions);
}

function buildChain(network: EvmNetwork) {
  return { ...base, id: getChainId(network) };
}

/** Lets Permit2 move the USDC of an account, once and for any amount, and gives it the money for that transaction. */
export async function allowPermit2(chain: BaseChain, account: Pick<PrivateKeyAccount, 'address'>): Promise<void> {
  await chain.fundGas(account.address);
  const args = [PERMIT2_ADDRESS, maxUint256];
  await chain.sendInBlock(account.address, {
    address: chain.network.usdc as Hex,
    abi: TOKEN_ABI,
    functionName: 'approve',
    args,
  });
}

/** Returns the slot of a balance: a mapping's value is at the hash of its key and slot (Solidity, "Layout in Storage"). */
function getBalanceSlot(address: Hex): Hex {
  return keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [address, SLOT_OF_BALANCES]));
}
