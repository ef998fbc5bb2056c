import { sql } from 'kysely';
import { DELISTING_METHOD, type FailingRun, isLongEnoughToDelist } from '../evidence/delisting.ts';
import type { SampleSummary } from '../evidence/sample-summary.ts';
import type { JsonObject } from '../model/json.ts';
import type { Listing } from '../model/listing.ts';
import { formatRoute } from '../model/route.ts';
import { listChanges } from './changes.ts';
import { type Catalogue, listRows, runStatement } from './database.ts';
import { delistListing, relistListing } from './delisting.ts';
import { findListing } from './listings.ts';
import { publishProbed } from './publish.ts';
import { pruneSamples } from './record-sample.ts';
import { getSampledListing } from './samples.ts';
import type { Writing } from './write.ts';

/** The outcome for one listing whose samples were published. */
export interface PublicationResult {
  slug: string;
  result: 'changed' | 'unchanged' | 'delisted' | 'relisted';
}

/**
 * Publishes what follows from the samples that are not published yet, for at most `limit` listings: terms, networks, prices,
 * score, and whether a rule removes a listing or puts it back. A listing of which only times and counts changed waits unless
 * `fresh`. Returns the outcome for each listing; an empty list means that nothing is left.
 */
export function publishSampled(writing: Writing, limit: number, { fresh }: { fresh: boolean }): PublicationResult[] {
  const { catalogue } = writing;
  const rows = listRows(
    catalogue,
    catalogue.query
      .selectFrom('probe_targets')
      .select(['listing_id', 'sampled_round'])
      .where('unpublished', '=', sql.lit(1))
      .limit(limit),
  );
  return rows.flatMap(({ listing_id, sampled_round }) => {
    runStatement(
      catalogue,
      catalogue.query.updateTable('probe_targets').set({ unpublished: 0 }).where('listing_id', '=', listing_id),
    );
    pruneSamples(writing, listing_id, sampled_round);
    const listing = findListing(catalogue, { id: listing_id });
    return listing ? publishOne(writing, listing, fresh) : [];
  });
}

function publishOne(writing: Writing, listing: Listing, fresh: boolean): PublicationResult {
  const { catalogue } = writing;
  const { slug, state, state_by } = listing;
  const sampled = getSampledListing(catalogue, listing.id);
  const { failing, latest } = sampled;
  const evidence = buildEvidence(listing, failing, latest);
  if (state === 'delisted') {
    const isBack = state_by === 'rule' && hasAnsweredSince(sampled, listing.state_at ?? '');
    if (isBack)
      return { slug, result: relistListing(writing, slug, { by: 'rule', evidence }) ? 'relisted' : 'unchanged' };
  } else if (failing && latest && isLongEnoughToDelist(sinceRelisted(catalogue, slug, failing), latest.at)) {
    delistListing(writing, slug, { by: 'rule', reason: 'no_valid_402', evidence });
    return { slug, result: 'delisted' };
  }
  // When several samples are published together, each change names one that shows it.
  const getEvidence = (reason: string): JsonObject => {
    if (reason === 'probed') return buildEvidence(listing, undefined, sampled.latest_valid ?? latest);
    if (reason === 'probe_failed' || reason === 'probes_failing') {
      return buildEvidence(listing, failing, sampled.latest_failed ?? latest);
    }
    return evidence;
  };
  const isPublished = publishProbed(writing, listing, { sampled, evidence: getEvidence, fresh });
  return { slug, result: isPublished ? 'changed' : 'unchanged' };
}

/** Counts the failing days of a listing from when somebody last put it back: that person knew of the failures before. */
function sinceRelisted(catalogue: Catalogue, slug: string, failing: FailingRun): FailingRun {
  const [latest] = listChanges(catalogue, { slug, kinds: ['relisted'], limit: 1 });
  const isDecided = latest !== undefined && latest.reason !== 'relisted_by_rule';
  return isDecided && latest.at > failing.since ? { ...failing, since: latest.at } : failing;
}

const DELISTED_AFTER_MS = DELISTING_METHOD.days_without_valid_402 * 24 * 60 * 60 * 1000;

/**
 * Returns whether a valid 402 came after a rule removed the listing, or in the days that the rule counted (it may have been
 * recorded while the rule decided), and no failure after it.
 */
function hasAnsweredSince({ failing, routes }: SampleSummary, delistedAt: string): boolean {
  const since = new Date(Date.parse(delistedAt) - DELISTED_AFTER_MS).toISOString();
  return failing === undefined && [...routes.values()].some(({ valid_at }) => valid_at !== null && valid_at > since);
}

/** Builds the evidence of a change: a sample, and the run of failures that it belongs to. */
function buildEvidence(
  { routes }: Listing,
  failing: FailingRun | undefined,
  shown: SampleSummary['latest'],
): JsonObject {
  if (!shown) return {};
  const { route_id, at, outcome, cause, status } = shown;
  const route = routes.find(({ id }) => id === route_id);
  return { sample: { at, route: route ? formatRoute(route) : null, outcome, cause, status }, ...describeRun(failing) };
}

function describeRun(failing: FailingRun | undefined): JsonObject {
  return failing ? { failing: { ...failing } } : {};
}
