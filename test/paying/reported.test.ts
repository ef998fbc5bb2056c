import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BaseChain, startBaseChain } from '../../scripts/market/chain-base.ts';
import { listListings } from '../../src/catalogue/read/listings.ts';
import { readConfig, readPayerConfig } from '../../src/config.ts';
import { isLive } from '../../src/model/listing.ts';
import { listReportedRoutes } from '../../src/paying/reported.ts';
import type { Payer } from '../../src/paying/verify-route.ts';
import { openQueue } from '../../src/submissions/queue.ts';
import { makeTerms, recordReceiptFor } from '../records.ts';
import { openLyingNode } from './lying-node.ts';
import { PAY_TO } from './paying.ts';
import { makePayingCommands, SLUG } from './verifying.ts';

let chain: BaseChain;
beforeAll(async () => {
  chain = await startBaseChain();
});
afterAll(() => chain.stop());

const DAY_MS = 86_400_000;
const ROUTE = { example: { query: { of: 'gold' } }, terms: [makeTerms({ pay_to: PAY_TO })] };
const OTHER = `0x${'7'.repeat(40)}`;

/** Commands on a route that was proved ten days ago, and a way to report a transaction for it. */
async function makeReported() {
  const commands = await makePayingCommands(chain, { route: ROUTE });
  const settled_at = new Date(Date.now() - 10 * DAY_MS).toISOString();
  await recordReceiptFor(commands.catalogue, SLUG, { settled_at, pay_to: PAY_TO });
  const file = join(commands.folder, 'submissions.sqlite');
  const report = (transaction: string, at = new Date().toISOString()) => {
    const queue = openQueue(file);
    queue.report({ transaction, slug: SLUG, method: 'GET', path: '/v1/quote' }, { client: 'one', at });
    queue.close();
  };
  return { ...commands, file, report };
}

describe('verify --due', () => {
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
