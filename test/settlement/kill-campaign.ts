import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPublicClient, getAddress, type Hex, http } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { BaseChain } from '../../scripts/market/chain-base.ts';
import { TOKEN_ADDRESS } from '../../scripts/market/token/token.ts';
import { openCatalogue } from '../../src/catalogue/database.ts';
import { recordDeclaration } from '../../src/catalogue/declarations.ts';
import { listPayments } from '../../src/catalogue/payment-records.ts';
import { writeCatalogue } from '../../src/catalogue/write.ts';
import type { Payment } from '../../src/model/payment.ts';
import { USDC_ABI } from '../../src/settlement/base/usdc-events.ts';
import { IDENTITY, makeDeclaration, makeRoute, makeTerms } from '../records.ts';
import { deliver, PAY_TO, serveSeller } from './paying.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** Most runs of the command take longer by themselves, in milliseconds. */
const LONGEST_LIFE_MS = 900;

export interface KillCampaign {
  killed: number;
  /** Runs that came to their end before they were killed. */
  finished: number;
  payments: Payment[];
  /** What the chain says was paid: nonce and amount of every authorisation that was used. */
  used: { nonce: Hex; amount: bigint }[];
}

/**
 * Verifies one route over and over in a process of its own that is killed at a random moment, and lets the next process
 * find out from the chain what became of it. The seller settles late, or twice, or answers late, as chance has it.
 */
export async function runKillCampaign(
  chain: BaseChain,
  { folder, kills, capUsdc, random }: { folder: string; kills: number; capUsdc: string; random: () => number },
): Promise<KillCampaign> {
  const privateKey = generatePrivateKey();
  const payer = privateKeyToAccount(privateKey).address;
  await chain.fund(payer, 10_000_000n);
  const seller = await serveSeller(chain, async ({ response, settle }) => {
    await sleep(random() * 200);
    const transaction = await settle();
    // A payment cannot be taken twice, and a seller that tries loses nothing of ours.
    if (random() < 0.3) await settle().catch(() => undefined);
    await sleep(random() * 200);
    deliver(response, transaction);
  });
  const file = join(folder, 'catalogue.sqlite');
  const catalogue = openCatalogue(file, { identity: IDENTITY, at: new Date().toISOString() });
  writeCatalogue(catalogue, new Date().toISOString(), (writing) => {
    const routes = [makeRoute({ path: '/v1/quote', terms: [makeTerms({ pay_to: PAY_TO })] })];
    recordDeclaration(writing, makeDeclaration({ base_url: seller, routes }));
  });
  catalogue.close();
  const run = (...args: string[]) =>
    spawn(process.execPath, ['scripts/catalogue.ts', ...args], {
      cwd: ROOT,
      stdio: 'ignore',
      env: {
        ...process.env,
        // The test runner sets one of its own.
        BASE_URL: '',
        CATALOGUE: file,
        PAYER_FOLDER: join(folder, 'payer'),
        ALLOW_PRIVATE_NETWORKS: 'on',
        EVM_RPC_URL: chain.rpcUrl,
        PAYER_EVM_PRIVATE_KEY: privateKey,
        MAX_USDC_PER_DAY: capUsdc,
      },
    });
  let killed = 0;
  let finished = 0;
  while (killed < kills) {
    const child = run('verify', 'example-prices', '--pay');
    const ended = once(child, 'exit');
    const timer = setTimeout(() => child.kill('SIGKILL'), 300 + random() * (LONGEST_LIFE_MS - 300));
    const [, signal] = await ended;
    clearTimeout(timer);
    if (signal === 'SIGKILL') killed += 1;
    else finished += 1;
    // What was sent and not settled is over once the chain's clock is past its expiry.
    if (random() < 0.5) await chain.setTime((await chain.getTime()) + 200);
    await once(run('receipts', 'reconcile'), 'exit');
  }
  await sleep(500);
  await chain.setTime((await chain.getTime()) + 200);
  await once(run('receipts', 'reconcile'), 'exit');
  const reading = openCatalogue(file, { identity: IDENTITY, at: new Date().toISOString() });
  const payments = listPayments(reading, 100_000);
  reading.close();
  return { killed, finished, payments, used: await listUsed(chain, payer) };
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
