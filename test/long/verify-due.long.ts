import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openBuyer } from '../../scripts/market/buyer.ts';
import { startMarket } from '../../scripts/market/market.ts';
import { openCatalogueForReading } from '../../src/catalogue/database.ts';
import { listListings } from '../../src/catalogue/read/listings.ts';
import { listPayments } from '../../src/catalogue/read/payments.ts';
import { PROOF_METHOD } from '../../src/evidence/verification.ts';
import { isDangerous } from '../../src/model/caution.ts';
import type { Listing } from '../../src/model/listing.ts';
import { makeCommands } from '../cli/running.ts';
import type { Cheating } from '../market/cheats/cheating.ts';
import { openSeller } from '../market/cheats/seller.ts';

const DAY_MS = 86_400_000;
const DAYS = 90;
/** The seller that turns bad does so on this day. */
const TURNS_BAD = 20;
const BUDGET = 20_000;

it('keeps every proof current through 90 days, within its budget, and finds the seller that turns bad', async () => {
  const started = Date.now();
  let day = 0;
  const now = () => new Date(started + day * DAY_MS + (Date.now() - started));
  const market = await startMarket({ chains: { now: () => now().getTime() } });
  onTestFinished(() => market.stop());
  const turning: Cheating = {
    lie: 'Sells for a while, then keeps the money',
    answerPaid: async (sale) => {
      const settlement = await sale.settle();
      return day < TURNS_BAD ? sale.deliver(settlement) : Response.json({ error: 'no' }, { status: 500 });
    },
  };
  const bad = await openSeller(market, turning, { honestFor: 0 });
  onTestFinished(bad.close);
  const buyer = await openBuyer(market);
  const settings = {
    ALLOW_PRIVATE_NETWORKS: 'on',
    EVM_RPC_URL: market.base.rpcUrl,
    PAYER_EVM_PRIVATE_KEY: buyer.evmPrivateKey,
    SOLANA_RPC_URL: market.solana?.rpcUrl ?? '',
    PAYER_SOLANA_PRIVATE_KEY: buyer.solanaPrivateKey,
    MAX_USDC_PER_CALL: '0.05',
    MAX_USDC_PER_DAY: '0.05',
  };
  const { run, runJson, file, folder } = makeCommands(settings, now);
  expect(join(folder, 'catalogue.sqlite')).toBe(file);
  await run(['import', '--bazaar', market.feedUrl]);
  await run(['import', '--openapi', bad.documentUrl]);
  await run(['probe', '--all', '--pause', '20']);
  const read = async (): Promise<Listing[]> => {
    const catalogue = await openCatalogueForReading(file);
    try {
      return await listListings(catalogue);
    } finally {
      await catalogue.close();
    }
  };
  const isBad = ({ base_url }: Listing) => base_url === bad.url;
  const tides = ({ slug }: Listing) => slug.startsWith('tomorrow-s-tides');
  for (; day <= DAYS; day += 1) {
    await market.base.setTime(Math.floor(now().getTime() / 1000));
    if (day % 10 === 9) await run(['probe', '--all', '--pause', '20']);
    const { json } = await runJson('verify', '--due', '--budget', String(BUDGET / 1_000_000));
    expect(json.ended, `day ${day}: ${JSON.stringify(json)}`).toBe('done');
    expect(json.spent).toBeLessThanOrEqual(BUDGET);
    for (const listing of day < 7 ? [] : (await read()).filter((one) => !isBad(one) && !tides(one))) {
      for (const { proof, example, method, path } of listing.routes) {
        if (example === null) continue;
        const age = proof ? now().getTime() - Date.parse(proof.verified_at) : Number.POSITIVE_INFINITY;
        expect(age, `day ${day}: ${listing.slug} ${method} ${path}`).toBeLessThan(PROOF_METHOD.current_days * DAY_MS);
      }
    }
  }
  const found = (await read()).find(isBad);
  expect(found && isDangerous(found.routes.flatMap(({ cautions }) => cautions))).toBe(true);
  const catalogue = await openCatalogueForReading(file);
  const payments = await listPayments(catalogue, 10_000);
  await catalogue.close();
  const days = Map.groupBy(payments, ({ head_at }) => head_at.slice(0, 10));
  for (const [, ofDay] of days) expect(ofDay.reduce((sum, { amount }) => sum + amount, 0)).toBeLessThanOrEqual(BUDGET);
  // A seller under a caution of danger is paid once a week at most; while it delivers it may be drawn at any time.
  const toBad = payments.filter(({ request }) => request.url.startsWith(bad.url)).map(({ prepared_at }) => prepared_at);
  const turned = started + TURNS_BAD * DAY_MS;
  const failing = toBad
    .toSorted()
    .map((at) => Date.parse(at))
    .filter((at) => at >= turned);
  const gaps = failing.slice(1).map((at, index) => (at - (failing[index] ?? 0)) / DAY_MS);
  expect(gaps.every((gap) => gap >= PROOF_METHOD.retried_after_days)).toBe(true);
  console.info(
    `${payments.length} payments in ${DAYS} days for ${payments.reduce((sum, { amount }) => sum + amount, 0)} atomic USDC; ` +
      `${toBad.length} to the seller that turned bad`,
  );
}, 1_800_000);
