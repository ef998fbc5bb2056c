import { expect, it } from 'vitest';
import { createRandom } from '../../scripts/bench/synthetic.ts';
import { makeCatalogue } from '../builders.ts';
import { listWrongStandings } from './year/check-final-state.ts';
import { listWrongDecisions } from './year/check-log.ts';
import { makeMarket } from './year/market.ts';
import { STORIES } from './year/sellers.ts';
import { simulate } from './year/simulate.ts';

const DAYS = 27;

/** A long test simulates a year of a whole catalogue; this is one listing of each kind for four weeks. */
it('after four weeks each listing is in the right state, with every step explained', async () => {
  const random = createRandom(3);
  const outage = { from: 16 * 24, to: 17 * 24 };
  const market = makeMarket(Object.keys(STORIES).length, DAYS, outage, random, { mostRoutes: 2 });
  const catalogue = await makeCatalogue();
  const simulated = await simulate(catalogue, market, DAYS, random, { apart: 6 });
  expect(simulated.wrong).toEqual([]);
  expect(simulated.probed).toBeGreaterThan(1_000);
  expect(await listWrongStandings(catalogue, market, simulated)).toEqual([]);
  expect(await listWrongDecisions(catalogue, market, simulated)).toEqual([]);
});
