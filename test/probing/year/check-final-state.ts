import type { Catalogue } from '../../../src/catalogue/database.ts';
import { isRevisionConsistent, listStaleListings } from '../../../src/catalogue/integrity.ts';
import { type RecordedEvidence, readEvidence } from '../../../src/catalogue/read/evidence.ts';
import { findListing } from '../../../src/catalogue/read/listings.ts';
import { getSampleSummary } from '../../../src/evidence/sample-summary.ts';
import type { Listing } from '../../../src/model/listing.ts';
import { workOut } from '../../evidence/oracle.ts';
import { inTurn } from '../../in-turn.ts';
import type { Market, Seller } from './market.ts';
import type { Logged, Simulated } from './simulate.ts';

const ROUND_HOURS = 6;

/** Lists listings in a wrong final state, judged by what each seller did and by its samples. */
export async function listWrongStandings(catalogue: Catalogue, market: Market, { log }: Simulated): Promise<string[]> {
  const rounds = catalogue.engine.sqlite.prepare('SELECT round FROM rounds WHERE ours = 1').pluck().all();
  const ours = new Set(rounds.map(Number));
  return [
    ...listWrongRounds(market, ours),
    ...(
      await inTurn(market.sellers, async (seller) => {
        const listing = await findListing(catalogue, { slug: seller.slug });
        if (!listing) return [`${seller.slug} is not there`];
        const { samples } = (await readEvidence(catalogue, [listing])).get(listing.id) as RecordedEvidence;
        const sampled = getSampleSummary(samples);
        const worked = workOut(listKept(log.get(listing.id) ?? []), ours);
        const { band, score } = listing.reliability;
        return listDifferent(`${seller.slug}:`, [
          ...listFacts(seller, listing),
          ['band', band, worked.band],
          ['samples on record', sampled.reliability.samples, worked.samples],
          ['score on record', sampled.reliability.score, worked.score],
          ['last sample', sampled.reliability.last_sample_at, worked.last_sample_at],
          ['failing', sampled.failing, worked.failing],
          ['score in step', Math.abs((score ?? 0) - (worked.score ?? 0)) < 5, true],
        ]);
      })
    ).flat(),
    ...catalogue.engine.listFaults(),
    ...(await listStaleListings(catalogue)).map(({ slug, fields }) => `${slug} is stale: ${fields.join()}`),
    ...((await isRevisionConsistent(catalogue)) ? [] : ['the revision is not that of the latest change']),
  ];
}

/** Number of samples of a listing that are kept at any age. */
const NEWEST_KEPT = 50;

/**
 * Of samples that are more than 90 days older than the latest, only the newest of the listing, and the last and the last
 * valid one of each route are kept.
 */
function listKept(log: readonly Logged[]): Logged[] {
  const since = (log.at(-1)?.round ?? 0) - (90 * 24) / ROUND_HOURS;
  const lasts = new Map<string, Logged>();
  for (const sample of log) {
    lasts.set(sample.route_id, sample);
    if (/^payable/.test(sample.outcome)) lasts.set(`${sample.route_id} valid`, sample);
  }
  const kept = new Set([...lasts.values(), ...log.slice(-NEWEST_KEPT)]);
  return log.filter((sample) => sample.round >= since || kept.has(sample));
}

type Fact = readonly [name: string, is: unknown, shouldBe: unknown];

function listFacts({ expected, paths }: Seller, listing: Listing): Fact[] {
  const { state, by = null, price, advertised, payee, verified, unscored } = expected;
  const [first] = listing.routes;
  return [
    ['state', listing.state, state],
    ['by', listing.state_by, by],
    ['prices', [listing.price_min, listing.price_max], [price, price * paths.length]],
    ['networks', listing.networks.filter((entry) => entry.advertised).map(({ key }) => key), advertised],
    ...(payee === undefined ? [] : ([['payee', first?.payee, payee]] as const)),
    ...(verified === undefined
      ? []
      : ([['verified', first?.verification === 'settlement-verified', verified]] as const)),
    ...(unscored ? ([['scored', listing.reliability.score, null]] as const) : []),
  ];
}

function listDifferent(prefix: string, facts: readonly Fact[]): string[] {
  return facts
    .filter(([, is, shouldBe]) => JSON.stringify(is) !== JSON.stringify(shouldBe))
    .map(([name, is, shouldBe]) => `${prefix} ${name} ${JSON.stringify(is)} and not ${JSON.stringify(shouldBe)}`);
}

/** Rounds that are completely within the outage are our fault, and none outside it are. */
function listWrongRounds({ outage, start }: Market, ours: ReadonlySet<number>): string[] {
  const first = start / (ROUND_HOURS * 3_600_000);
  const whole = Array.from(
    { length: Math.floor(outage.to / ROUND_HOURS) - Math.ceil(outage.from / ROUND_HOURS) },
    (_, index) => first + Math.ceil(outage.from / ROUND_HOURS) + index,
  );
  const touched = [first + Math.floor(outage.from / ROUND_HOURS), first + Math.floor(outage.to / ROUND_HOURS)];
  return [
    ...whole.filter((round) => !ours.has(round)).map((round) => `round ${round} is not ours`),
    ...[...ours].filter((round) => ![...whole, ...touched].includes(round)).map((round) => `round ${round} is ours`),
  ];
}
