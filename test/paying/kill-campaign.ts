import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPublicClient, getAddress, type Hex, http } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { BaseChain } from '../../scripts/market/chain-base.ts';
import { TOKEN_ADDRESS } from '../../scripts/market/token/token.ts';
import { backUpCatalogue } from '../../src/catalogue/backup.ts';
import { openCatalogue } from '../../src/catalogue/database.ts';
import { listPayments } from '../../src/catalogue/read/payments.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import type { Payment } from '../../src/model/payment.ts';
import { USDC_ABI } from '../../src/paying/evm/node.ts';
import { makeCommands } from '../cli/running.ts';
import { IDENTITY, makeDeclaration, makeRoute, makeTerms } from '../records.ts';
import { recordDeclaration } from '../written.ts';
import { openLyingNode } from './lying-node.ts';
import { deliver, PAY_TO, serveSeller } from './paying.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const HOOK = './test/paying/kill-hook.ts';

/** Most runs of the command take longer than this, in milliseconds. */
const LONGEST_LIFE_MS = 900;

/** Shares of rounds: with a catalogue restored from a backup; that make a backup. */
const SHARES = { setBack: 0.15, backedUp: 0.15 };

interface KillPlan {
  readonly folder: string;
  readonly kills: number;
  readonly capUsdc: string;
  readonly random: () => number;
  /** Share of rounds that are killed at a step of the journal, and not at any moment. */
  readonly atStep?: number;
}

export interface KillCampaign {
  killed: number;
  /** Those of them between journal and catalogue, or between catalogue and chain. */
  killedAtStep: number;
  /** How often the catalogue was restored from a backup. */
  setBack: number;
  /** Runs that ended before they were killed. */
  finished: number;
  payments: Payment[];
  /** The payments on the chain: nonce and amount of every used authorisation. */
  used: { nonce: Hex; amount: bigint }[];
}

/**
 * Verifies one route over and over in a process of its own that is killed, at a random moment or at a step of its
 * journal, and lets the next process find out from the chain what became of it. Now and then the catalogue is set back
 * to an earlier backup. The seller settles late, or twice, or answers late, as chance has it.
 */
export async function runKillCampaign(
  chain: BaseChain,
  { folder, kills, capUsdc, random, atStep = 0.5 }: KillPlan,
): Promise<KillCampaign> {
  const privateKey = generatePrivateKey();
  const payer = privateKeyToAccount(privateKey).address;
  await chain.fund(payer, 10_000_000n);
  let selling = 0;
  const seller = await serveSeller(chain, async ({ response, settle }) => {
    selling += 1;
    try {
      await sleep(random() * 200);
      const transaction = await settle();
      // A payment cannot be used twice; a seller that tries costs us nothing.
      if (random() < 0.3) await settle().catch(() => undefined);
      await sleep(random() * 200);
      deliver(response, transaction);
    } finally {
      selling -= 1;
    }
  });
  const second = await openLyingNode(chain.rpcUrl);
  const file = join(folder, 'catalogue.sqlite');
  const catalogue = await openCatalogue(file, { identity: IDENTITY, at: new Date().toISOString() });
  await writeCatalogue(catalogue, new Date().toISOString(), async (writing) => {
    const routes = [makeRoute({ path: '/v1/quote', terms: [makeTerms({ pay_to: PAY_TO })] })];
    await recordDeclaration(writing, makeDeclaration({ base_url: seller, routes }));
  });
  await catalogue.close();
  const backup = join(folder, 'backup.sqlite');
  await backUp(file, backup);
  const { environment, run } = makeCommands(
    {
      CATALOGUE: file,
      PAYER_FOLDER: join(folder, 'payer'),
      ALLOW_PRIVATE_NETWORKS: 'on',
      EVM_RPC_URL: chain.rpcUrl,
      EVM_RPC_URL_SECOND: second.url,
      PAYER_EVM_PRIVATE_KEY: privateKey,
      MAX_USDC_PER_DAY: capUsdc,
    },
    () => new Date(),
  );
  const startVerifying = (hook: { KILL_AT_SYNC: string; KILL_LATER: string } | undefined) =>
    spawn(
      process.execPath,
      [...(hook ? ['--import', HOOK] : []), 'scripts/catalogue.ts', 'verify', 'example-prices', '--pay'],
      { cwd: ROOT, stdio: 'ignore', env: { ...process.env, ...environment, ...hook } },
    );
  let killed = 0;
  let finished = 0;
  let killedAtStep = 0;
  let setBack = 0;
  // A command in this process knows no more of the one that was killed than another process does.
  const reconcile = () => run(['receipts', 'reconcile']);
  // What was sent and not settled is over once the chain's clock is past its expiry. Nothing is sold meanwhile, so that
  // taking the time back takes nothing else back.
  const reconcileLater = async () => {
    while (selling > 0) await sleep(20);
    const getNow = () => Math.floor(Date.now() / 1000);
    await chain.undoAfter(async () => {
      await chain.setTime(Math.max(getNow(), await chain.getTime()) + 200);
      await reconcile();
    });
    // Undoing takes back the time that passed meanwhile as well, and the chain would fall behind.
    if ((await chain.getTime()) < getNow()) await chain.setTime(getNow());
  };
  while (killed < kills) {
    const isAtStep = random() < atStep;
    // The first file synced is the folder; then come prepared, sent, answered, judged, resolved.
    const hook = { KILL_AT_SYNC: String(2 + Math.floor(random() * 5)), KILL_LATER: random() < 0.5 ? 'yes' : 'no' };
    const child = startVerifying(isAtStep ? hook : undefined);
    const ended = once(child, 'exit');
    const lifeMs = isAtStep ? 20_000 : 300 + random() * (LONGEST_LIFE_MS - 300);
    const timer = setTimeout(() => child.kill('SIGKILL'), lifeMs);
    const [, signal] = await ended;
    clearTimeout(timer);
    if (signal === 'SIGKILL') killed += 1;
    else finished += 1;
    if (signal === 'SIGKILL' && isAtStep) killedAtStep += 1;
    if (random() < SHARES.setBack) {
      for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
      copyFileSync(backup, file);
      setBack += 1;
    }
    if (random() < 0.5) await reconcileLater();
    else await reconcile();
    if (random() < SHARES.backedUp) await backUp(file, backup);
  }
  await reconcileLater();
  const reading = await openCatalogue(file, { identity: IDENTITY, at: new Date().toISOString() });
  const payments = await listPayments(reading, 100_000);
  await reading.close();
  return { killed, killedAtStep, setBack, finished, payments, used: await listUsed(chain, payer) };
}

async function backUp(file: string, target: string): Promise<void> {
  const source = await openCatalogue(file, { identity: IDENTITY, at: new Date().toISOString() });
  await backUpCatalogue(source, target, { replace: true });
  await source.close();
}

async function listUsed({ rpcUrl }: BaseChain, payer: Hex): Promise<KillCampaign['used']> {
  const client = createPublicClient({ transport: http(rpcUrl) });
  const range = { address: getAddress(TOKEN_ADDRESS), abi: USDC_ABI, fromBlock: 0n, strict: true } as const;
  const used = await client.getContractEvents({
    ...range,
    eventName: 'AuthorizationUsed',
    args: { authorizer: payer },
  });
  const paid = await client.getContractEvents({ ...range, eventName: 'Transfer', args: { from: payer } });
  const amounts = new Map(paid.map(({ transactionHash, args }) => [transactionHash, args.value]));
  return used.map(({ transactionHash, args }) => ({ nonce: args.nonce, amount: amounts.get(transactionHash) ?? 0n }));
}
