import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { type MarketOptions, runMarket } from '../../scripts/bench/liars.ts';
import { type LiarKind, UNDELIVERING } from '../../scripts/bench/sellers.ts';
import { SCRATCH } from '../scratch.ts';

const folder = mkdtempSync(join(SCRATCH, 'liars-'));
const file = join(folder, 'market.sqlite');
afterAll(() => rmSync(folder, { recursive: true }));

const run = (options: Partial<MarketOptions>) => runMarket({ seed: 1, scale: 0.1, days: 20, file, ...options });

it('a market in which three of ten sellers lie pays first for what agents report, and marks more liars, until liars report, too', async () => {
  const market = { seed: 2, days: 12, calls_a_day: { agents: 60, paid: 4 } };
  const [none, agents, liars] = [
    await run(market),
    await run({ ...market, reporting: 'agents' }),
    await run({ ...market, reporting: 'liars_too' }),
  ];
  // What delivers to this service alone is proved because of a report, and not marked.
  const kinds = UNDELIVERING.filter((kind) => kind !== 'prober');
  const sum = (get: (kind: LiarKind) => number) => kinds.reduce((total, kind) => total + get(kind), 0);
  const [lost, lostIfReported, lostAmongLies] = [none, agents, liars].map(({ sales }) => sum((of) => sales[of].lost));
  expect(lostIfReported).toBeLessThan(lost as number);
  expect(lostAmongLies).toBeGreaterThan(lostIfReported as number);
  const [marked, markedIfReported] = [none, agents].map((of) => sum((kind) => of.marked[kind].marked));
  expect(markedIfReported).toBeGreaterThan(marked as number);
  expect(Object.values(none.reports.made)).toEqual([0, 0, 0]);
  expect(agents.reports.paid).toEqual({ undelivered: expect.any(Number), rival: 0, own: 0 });
  expect(agents.reports.paid.undelivered).toBeGreaterThan(0);
  // Of four calls a day reports cause one, whoever reports; a liar paid at least as much for each to an honest seller.
  const { paid, liars_spent, rivals_spent } = liars.reports;
  expect(Math.min(paid.rival, paid.own)).toBeGreaterThan(0);
  expect(paid.undelivered + paid.rival + paid.own).toBeLessThanOrEqual(market.days);
  expect(rivals_spent).toBeLessThanOrEqual(liars_spent);
  expect([agents.verifying.calls, liars.verifying.calls]).toEqual([none.verifying.calls, none.verifying.calls]);
  // No report, true or not, harms an honest seller.
  const [harm, harmIfReported, harmAmongLies] = [none, agents, liars].map(({ fates }) =>
    Object.values(fates).map((of) => of.harm),
  );
  expect([harmIfReported, harmAmongLies]).toEqual([harm, harm]);
});
