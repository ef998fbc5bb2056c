import { statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createRandom } from '../../scripts/bench/synthetic.ts';
import { getRevision } from '../../src/catalogue/transaction.ts';
import { makeCatalogue } from '../builders.ts';
import { listWrongStandings } from '../probing/year/check-final-state.ts';
import { listWrongDecisions } from '../probing/year/check-log.ts';
import { makeMarket } from '../probing/year/market.ts';
import { simulate } from '../probing/year/simulate.ts';

const [LISTINGS, DAYS, SEED] = [300, 365, 7];

/** A week in which our own network is down, in hours. */
const OUTAGE = { from: 200 * 24, to: 207 * 24 };

it('a year of 300 listings leaves each as it has to be, with every step explained', async () => {
  const random = createRandom(SEED);
  const market = makeMarket(LISTINGS, DAYS, OUTAGE, random);
  const catalogue = await makeCatalogue();
  const began = performance.now();
  const { runs, probed, wrong, log } = await simulate(catalogue, market, DAYS, random);
  const seconds = (performance.now() - began) / 1000;
  catalogue.engine.sqlite.pragma('wal_checkpoint(TRUNCATE)');
  const count = (table: string) => catalogue.engine.sqlite.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  console.log(
    `seed ${SEED}: ${probed} probes in ${runs} runs, ${seconds.toFixed(0)} s (${(probed / seconds).toFixed(0)}/s); ` +
      `${await getRevision(catalogue)} revisions, ${count('changes')} changes, ${count('samples')} samples and ` +
      `${count('terms')} terms kept, ${(statSync(catalogue.address).size / 1e6).toFixed(0)} MB`,
  );
  const simulated = { runs, probed, wrong, log };
  expect(wrong).toEqual([]);
  expect(await listWrongStandings(catalogue, market, simulated)).toEqual([]);
  expect(await listWrongDecisions(catalogue, market, simulated)).toEqual([]);
}, 3_600_000);
