import type { Catalogue } from '../../../src/catalogue/database.ts';
import { listChanges } from '../../../src/catalogue/read/changes.ts';
import { findListing } from '../../../src/catalogue/read/listings.ts';
import type { Change } from '../../../src/model/change.ts';
import type { Listing, Reliability } from '../../../src/model/listing.ts';
import { describeDecision } from '../../../src/views/words/decision.ts';
import { inTurn } from '../../in-turn.ts';
import type { Market } from './market.ts';
import type { Simulated } from './simulate.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** More changes than any listing has. */
const ALL = 1_000_000;

/**
 * Lists errors in the log: an unexplained revision, a listing in another state than the log says, a decision without
 * words or evidence, or a wrong decision.
 */
export async function listWrongDecisions(
  catalogue: Catalogue,
  market: Market,
  simulated: Simulated,
): Promise<string[]> {
  return [
    ...(
      await inTurn(market.sellers, async ({ slug }) => {
        const listing = await findListing(catalogue, { slug });
        const changes = await listChanges(catalogue, slug, { limit: ALL });
        if (!listing) return [`${slug} is not there`];
        return [
          ...listUnlikeLog(listing, changes),
          ...changes.flatMap((change) => findUnexplained(change) ?? []),
          ...changes.flatMap((change) => findUnjust(change, market, simulated) ?? []),
        ].map((fault) => `${slug}: ${fault}`);
      })
    ).flat(),
  ];
}

/** Replays the log, and compares the result with what readers see. */
function listUnlikeLog(listing: Listing, changes: readonly Change[]): string[] {
  const told: Record<string, unknown> = {};
  for (const { kind, detail } of changes) {
    if (kind === 'listed' || kind === 'relisted') told.state = 'live';
    else if (kind === 'held' || kind === 'delisted') told.state = kind;
    else if (kind === 'priced') told.price = detail.to;
    else if (kind === 'categorised') told.category = detail.to;
    else if (kind === 'scored') told.band = (detail.to as Partial<Reliability>).band;
    else if (kind === 'networked') told.networks = detail.to;
  }
  const shown: Record<string, unknown> = {
    ...{ state: listing.state, price: { min: listing.price_min, max: listing.price_max } },
    ...{ category: listing.category, band: listing.reliability.band, networks: listing.networks },
  };
  const last = changes.at(-1);
  return [
    ...Object.entries(told)
      .filter(([name, value]) => stripFresh(value) !== stripFresh(shown[name]))
      .map(([name, value]) => `the log ends with ${name} ${JSON.stringify(value)}, not ${JSON.stringify(shown[name])}`),
    ...((last?.revision ?? 0) <= listing.revision ? [] : [`its revision is before that of its latest change`]),
  ];
}

/** Times of sightings may have changed since. */
function stripFresh(value: unknown): string {
  return JSON.stringify(value, (key, member) =>
    ['last_seen_at', 'last_sample_at', 'samples'].includes(key) ? undefined : member,
  );
}

function findUnexplained(change: Change): string | undefined {
  const { what, why, evidence } = describeDecision(change);
  const text = `${change.at} ${what}: ${why} (${evidence.join('; ')})`;
  if (/^[a-z]+_[a-z_]+$/.test(why) || evidence.some((line) => line.startsWith('{'))) return `no words: ${text}`;
  const isProbed = /^(probed|no_valid_402|relisted_by_rule)$/.test(change.reason);
  return isProbed && !evidence.some((line) => line.startsWith('probe of ')) ? `no evidence: ${text}` : undefined;
}

function findUnjust(change: Change, { outage, start }: Market, { log }: Simulated): string | undefined {
  const hours = (Date.parse(change.at) - start) / HOUR;
  // In the first hour nothing shows yet that the fault is ours.
  const isOurs = /^(probed|no_valid_402)$/.test(change.reason) && hours > outage.from + 1 && hours < outage.to;
  if (isOurs && /^(delisted|priced|networked|unverified)$/.test(change.kind)) {
    return `${change.kind} at ${change.at}, while our own network was down`;
  }
  // Earlier failures may be published a day later, with the fresher times.
  if (
    isOurs &&
    hours > outage.from + 25 &&
    change.kind === 'scored' &&
    getScore(change, 'to') < getScore(change, 'from')
  ) {
    return `less reliable at ${change.at}, while our own network was down`;
  }
  if (change.reason !== 'no_valid_402') return undefined;
  const answered = (log.get(change.listing_id) ?? []).findLast(
    ({ at, outcome }) => at <= change.at && /^payable/.test(outcome),
  );
  const isLong = !answered || Date.parse(change.at) - Date.parse(answered.at) >= 14 * DAY;
  return isLong ? undefined : `removed at ${change.at}, although it answered at ${answered.at}`;
}

function getScore({ detail }: Change, side: 'from' | 'to'): number {
  const figures = detail[side];
  return typeof figures === 'object' && figures !== null && 'score' in figures ? Number(figures.score) : 0;
}
