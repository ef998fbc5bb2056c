import { join } from 'node:path';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { openWallet } from '../../scripts/market/chain-base.ts';
import { TOKEN_ABI, TOKEN_ADDRESS } from '../../scripts/market/token/token.ts';
import { listListings } from '../../src/catalogue/read/listings.ts';
import { writeCatalogue } from '../../src/catalogue/transaction.ts';
import { recordDeclarations } from '../../src/catalogue/write/declarations.ts';
import { readConfig, readPayerConfig } from '../../src/config.ts';
import { isLive } from '../../src/model/listing.ts';
import { listReportedRoutes } from '../../src/paying/reported.ts';
import type { Payer } from '../../src/paying/verify-route.ts';
import { openQueue } from '../../src/submissions/queue.ts';
import { makeDeclaration, makeRoute } from '../builders.ts';
import { makeTerms, recordReceiptFor } from '../records.ts';
import { getMarket } from '../worker-market.ts';
import { openLyingNode } from './lying-node.ts';
import { PAY_TO, serveSeller } from './paying.ts';
import { makePayingCommands, SLUG, sellHonestly } from './verifying.ts';

const { base: chain } = await getMarket();

const DAY_MS = 86_400_000;
const EXAMPLE = { query: { of: 'gold' } };
const OTHER = `0x${'7'.repeat(40)}`;

/** Commands on a route that was proved ten days ago, and a way to report a transaction for it. */
async function makeReported(pay_to: string = PAY_TO) {
  const route = { example: EXAMPLE, terms: [makeTerms({ pay_to })] };
  const commands = await makePayingCommands(chain, { route, offer: { payTo: pay_to } });
  const settled_at = new Date(Date.now() - 10 * DAY_MS).toISOString();
  await recordReceiptFor(commands.catalogue, SLUG, { settled_at, pay_to });
  const file = join(commands.folder, 'submissions.sqlite');
  const report = (transaction: string, at = new Date().toISOString(), { slug = SLUG, path = '/v1/quote' } = {}) => {
    const queue = openQueue(file);
    queue.report({ transaction, slug, method: 'GET', path }, { client: 'one', at });
    queue.close();
  };
  return { ...commands, file, report };
}

/** Commands on four more sellers with two routes each, and a way to report a payment for one of these. */
async function makeSellers() {
  const { catalogue, runJson, report } = await makeReported();
  const payees = ['1', '2', '3', '4'].map((digit) => `0x${digit.repeat(40)}`);
  const sellers = await Promise.all(
    payees.map(async (payTo) => {
      const terms = [makeTerms({ pay_to: payTo })];
      const routes = ['/v1/quote', '/v1/price'].map((path) => makeRoute({ path, example: EXAMPLE, terms }));
      const base_url = await serveSeller(chain, sellHonestly, 2, { payTo });
      return makeDeclaration({ slug: `seller-${payTo[2]}`, base_url, routes });
    }),
  );
  const at = new Date().toISOString();
  await writeCatalogue(catalogue, at, (writing) => recordDeclarations(writing, sellers));
  const buy = async (payee: string, path?: string) => {
    report(await chain.fund(payee, 1000n), undefined, { slug: `seller-${payee[2]}`, path });
  };
  /** Lists what was paid for because of reports, with a budget of eight calls. */
  const listPaid = async () => {
    const { json } = await runJson('verify', '--due', '--budget', '0.008');
    const first = json.routes.filter(({ reported }: { reported: boolean }) => reported);
    expect(json.reported).toBe(first.length);
    return first.map(({ slug, outcome }: { slug: string; outcome: string }) => `${slug} ${outcome}`);
  };
  return { payees, buy, listPaid };
}

describe('verify --due', () => {
  it('pays for the reports of as many payees as a quarter of the budget is enough for', async () => {
    const { payees, buy, listPaid } = await makeSellers();
    for (const payee of payees) await buy(payee);
    expect(await listPaid()).toEqual(['seller-4 verified', 'seller-3 verified']);
  });

  it('pays for one of two reported routes of a payee', async () => {
    const { payees, buy, listPaid } = await makeSellers();
    for (const path of ['/v1/quote', '/v1/price']) await buy(payees[0] as string, path);
    expect(await listPaid()).toEqual(['seller-1 verified']);
  });

  it('pays first for the route of a true report, which then counts as any other payment, once in a week', async () => {
    const { runJson, report, getLost } = await makeReported();
    report(await chain.fund(PAY_TO, 1000n));
    const paid = await runJson('verify', '--due', '--budget', '0.004');
    expect([paid.code, paid.json]).toMatchObject([
      0,
      { reported: 1, spent: 1000, routes: [{ reported: true, drawn: false, outcome: 'verified', amount: 1000 }] },
    ]);
    report(await chain.fund(PAY_TO, 1000n));
    expect((await runJson('verify', '--due', '--budget', '0.004')).json).toMatchObject({ reported: 0, spent: 0 });
    expect(await getLost()).toBe(1000n);
  });

  it('pays nothing for a transaction that is not there, pays another payee, or pays less than the price', async () => {
    const { runJson, report, getLost, payer } = await makeReported();
    report(`0x${'9'.repeat(64)}`);
    report(await chain.fund(OTHER, 1000n));
    report(await chain.fund(PAY_TO, 999n));
    report('5'.repeat(87));
    const run = await runJson('verify', '--due', '--budget', '0.004');
    expect(run.json).toMatchObject({ reported: 0 });
    expect(run.json.routes.filter(({ reported }: { reported: boolean }) => reported)).toEqual([]);
    expect([await getLost(), payer.length]).toEqual([BigInt(run.json.spent), 42]);
  });

  it('pays nothing for what a payee transferred to itself', async () => {
    const payee = privateKeyToAccount(generatePrivateKey());
    const own = await makeReported(payee.address.toLowerCase());
    await Promise.all([chain.fund(payee.address, 1000n), chain.fundGas(payee.address)]);
    const wallet = openWallet(chain.rpcUrl, payee);
    const transfer = { abi: TOKEN_ABI, functionName: 'transfer', args: [payee.address, 1000n] } as const;
    const hash = await wallet.writeContract({ address: TOKEN_ADDRESS, ...transfer });
    expect((await wallet.waitForTransactionReceipt({ hash })).status).toBe('success');
    own.report(hash);
    expect((await own.runJson('verify', '--due', '--budget', '0.004')).json).toMatchObject({ reported: 0 });
    const bought = await makeReported(payee.address.toLowerCase());
    bought.report(await chain.fund(payee.address, 1000n));
    expect((await bought.runJson('verify', '--due', '--budget', '0.004')).json).toMatchObject({ reported: 1 });
  });

  it('takes a quarter of the budget for reports, and none that is older than a week', async () => {
    const { runJson, report, catalogue, environment, file } = await makeReported();
    report(await chain.fund(PAY_TO, 1000n));
    const live = (await listListings(catalogue)).filter(isLive);
    const list = (now: Date) => {
      const config = { ...readConfig(environment), submissionsFile: file };
      const payer = { catalogue, config, payer: readPayerConfig(environment), now: () => now, say: () => undefined };
      return listReportedRoutes(payer as unknown as Payer, live, { budget: 4000, getPrice: () => 1000 });
    };
    const inEight = new Date(Date.now() + 8 * DAY_MS);
    report(await chain.fund(PAY_TO, 1000n), inEight.toISOString());
    expect([(await list(new Date())).length, (await list(inEight)).length]).toEqual([1, 0]);
    // Drawn at random it may be paid for, but not because of the report.
    expect((await runJson('verify', '--due', '--budget', '0.003999')).json).toMatchObject({ reported: 0 });
  });

  it('looks up the other reports where a node fails at one of them', async () => {
    const { report, catalogue, environment, file } = await makeReported();
    const rank = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();
    const bad = `0x${'9'.repeat(64)}`;
    report(await chain.fund(PAY_TO, 1000n), rank(60));
    report(bad, rank(30));
    const node = await openLyingNode(chain.rpcUrl, (_method, params) => {
      if (params?.[0] === bad) throw new Error('down');
      return undefined;
    });
    const live = (await listListings(catalogue)).filter(isLive);
    const said: string[] = [];
    const payer = {
      ...{ catalogue, config: { ...readConfig(environment), submissionsFile: file }, now: () => new Date() },
      payer: { ...readPayerConfig(environment), rpcUrls: { base: [node.url] } },
      say: (line: string) => void said.push(line),
    };
    const listed = await listReportedRoutes(payer as unknown as Payer, live, { budget: 4000, getPrice: () => 1000 });
    expect(listed).toHaveLength(1);
    expect(said[0]).toContain('The chain cannot be asked');
  });
});
