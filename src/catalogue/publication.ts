import { type FailingRun, isLongEnoughToDelist } from '../evidence/delisting.ts';
import { getRound, getRoundStart, isRoundOurs } from '../evidence/rounds.ts';
import type { Sampled } from '../evidence/sampled.ts';
import type { Listing } from '../model/listing.ts';
import { isConclusive, isPayable, PROBE_OUTCOMES } from '../model/outcome.ts';
import { formatRoute, type JsonObject } from '../model/route.ts';
import { type Catalogue, listRows, runStatement } from './database.ts';
import { delistListing, relistListing } from './delisting.ts';
import { findListing } from './listings.ts';
import { publishListing } from './publish.ts';
import { getSampledListing } from './samples.ts';
import type { Writing } from './write.ts';

const CONCLUSIVE = PROBE_OUTCOMES.filter(isConclusive);
const PAYABLE = PROBE_OUTCOMES.filter(isPayable);

/** A host counts as one that used to answer while it did within so many days. */
const KNOWN_GOOD_MS = 30 * 24 * 60 * 60 * 1000;

/** What became of one listing when its samples were published. */
export interface Published {
  slug: string;
  result: 'changed' | 'unchanged' | 'delisted' | 'relisted';
}

/**
 * Publishes what the samples since the last time mean for readers, of at most `limit` listings: terms, networks, prices,
 * score, and whether a listing is taken out or put back by rule. Gives what became of each; none when nothing is left.
 */
export function publishSampled(writing: Writing, limit: number): Published[] {
  const { catalogue } = writing;
  const rows = listRows(
    catalogue,
    catalogue.query.selectFrom('probe_targets').select('listing_id').where('unpublished', '=', 1).limit(limit),
  );
  return rows.flatMap(({ listing_id }) => {
    runStatement(
      catalogue,
      catalogue.query.updateTable('probe_targets').set({ unpublished: 0 }).where('listing_id', '=', listing_id),
    );
    const listing = findListing(catalogue, { id: listing_id });
    return listing ? publishOne(writing, listing) : [];
  });
}

function publishOne(writing: Writing, listing: Listing): Published {
  const { catalogue } = writing;
  const { slug, state, state_by } = listing;
  const sampled = getSampledListing(catalogue, listing.id);
  const { failing, latest } = sampled;
  const evidence = buildEvidence(listing, sampled);
  if (state === 'delisted') {
    const isBack = state_by === 'rule' && hasAnsweredSince(sampled, listing.state_at ?? '');
    if (isBack)
      return { slug, result: relistListing(writing, slug, { by: 'rule', evidence }) ? 'relisted' : 'unchanged' };
  } else if (failing && latest && isLongEnoughToDelist(failing, latest.at)) {
    delistListing(writing, slug, { by: 'rule', reason: 'no_valid_402', evidence });
    return { slug, result: 'delisted' };
  }
  return {
    slug,
    result: publishListing(writing, listing, 'probed', { evidence, mayWait: true }) ? 'changed' : 'unchanged',
  };
}

/** Says whether a valid 402 came after a time, and no failure after that. */
function hasAnsweredSince({ failing, routes }: Sampled, since: string): boolean {
  return failing === undefined && [...routes.values()].some(({ valid_at }) => valid_at !== null && valid_at > since);
}

/** What a change rests on: the latest sample that counts, and the failing run it stands in. */
function buildEvidence({ routes }: Listing, { latest, failing }: Sampled): JsonObject {
  if (!latest) return {};
  const { route_id, at, outcome, cause, status } = latest;
  const route = routes.find(({ id }) => id === route_id);
  return { sample: { at, route: route ? formatRoute(route) : null, outcome, cause, status }, ...describeRun(failing) };
}

function describeRun(failing: FailingRun | undefined): JsonObject {
  return failing ? { failing: { ...failing } } : {};
}

/**
 * Judges the rounds in which the samples were taken that are not published yet. Where the failures of one turn out to be
 * ours, or no longer, all that was sampled in it is to be published again. Comes before `publishSampled`.
 */
export function judgeRounds({ catalogue }: Writing): void {
  const touched = catalogue.query
    .selectFrom('probe_targets')
    .select('sampled_round')
    .distinct()
    .where('unpublished', '=', 1);
  for (const { sampled_round } of listRows(catalogue, touched)) judgeRound(catalogue, sampled_round);
}

function judgeRound(catalogue: Catalogue, round: number): void {
  const { query } = catalogue;
  const goodSince = new Date(Date.parse(getRoundStart(round)) - KNOWN_GOOD_MS).toISOString();
  const hosts = listRows(
    catalogue,
    query
      .selectFrom('samples')
      .leftJoin('hosts', 'hosts.host', 'samples.host')
      .where('samples.round', '=', round)
      .where('samples.outcome', 'in', CONCLUSIVE)
      .select(({ eb, fn }) => [
        fn.max<number>(eb('samples.outcome', 'in', PAYABLE)).as('valid'),
        fn.max('hosts.valid_at').as('valid_at'),
      ])
      .groupBy('samples.host'),
  ).map(({ valid, valid_at }) => ({ valid: valid === 1, known_good: valid_at !== null && valid_at >= goodSince }));
  const ours = isRoundOurs(hosts) ? (1 as const) : (0 as const);
  const before =
    listRows(catalogue, query.selectFrom('rounds').select('ours').where('round', '=', round))[0]?.ours ?? 0;
  const row = { round, hosts: hosts.length, failing: hosts.filter(({ valid }) => !valid).length, ours };
  runStatement(
    catalogue,
    query
      .insertInto('rounds')
      .values(row)
      .onConflict((conflict) => conflict.column('round').doUpdateSet(row)),
  );
  if (ours === before) return;
  const sampled = query.selectFrom('samples').select('listing_id').where('round', '=', round);
  runStatement(
    catalogue,
    query.updateTable('probe_targets').set({ unpublished: 1 }).where('listing_id', 'in', sampled),
  );
}

/** Says whether the round that a time falls in is put down to ourselves, as far as was judged. */
export function isOurRound(catalogue: Catalogue, at: string): boolean {
  const query = catalogue.query.selectFrom('rounds').select('ours').where('round', '=', getRound(at));
  return listRows(catalogue, query)[0]?.ours === 1;
}
