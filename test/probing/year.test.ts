import { expect, it } from 'vitest';
import { createRandom } from '../../scripts/bench/synthetic.ts';
import { makeCatalogue } from '../builders.ts';
import { listWrongDecisions } from './year/check-log.ts';
import { listWrongStandings } from './year/check-standing.ts';
import { makeMarket } from './year/market.ts';
import { STORIES } from './year/sellers.ts';
import { simulate } from './year/simulate.ts';

const DAYS = 35;

/** The year of a whole catalogue is lived through in the long tests; this is one listing of each kind, for five weeks. */
it('five weeks leave each listing as it has to be, with every step explained', async () => {
  const random = createRandom(3);
  const outage = { from: 19 * 24, to: 21 * 24 };
  const market = makeMarket(Object.keys(STORIES).length, DAYS, outage, random);
  const catalogue = makeCatalogue();
  const simulated = await simulate(catalogue, market, DAYS, random, { apart: 3 });
  expect(simulated.wrong).toEqual([]);
  expect(simulated.probed).toBeGreaterThan(2_500);
  expect(listWrongStandings(catalogue, market, simulated)).toEqual([]);
  expect(listWrongDecisions(catalogue, market, simulated)).toEqual([]);
});
