import { sql } from 'kysely';
import { type FailingRun, hasAnsweredSince, isLongEnoughToDelist } from '../../evidence/delisting.ts';
import { getSampleSummary, type KeptSample, type SampleSummary } from '../../evidence/sample-summary.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Listing } from '../../model/listing.ts';
import { formatRoute, listCounted } from '../../model/route.ts';
import type { Catalogue } from '../database.ts';
import { listChanges } from '../read/changes.ts';
import { readSamples } from '../read/evidence.ts';
import { parseListing } from '../read/listings.ts';
import type { Writing } from '../transaction.ts';
import { decideToDelist, liftDelisting } from './decisions.ts';
import { type Publication, publishListings } from './publication.ts';
import { pruneSamples } from './samples.ts';

/** The outcome for one listing whose samples were published. */
export interface PublicationResult {
  slug: string;
  result: 'changed' | 'unchanged' | 'delisted' | 'relisted';
}

/**
 * Publishes the results of unpublished samples, for at most `limit` listings: terms, networks, prices, score, and removals or
 * returns by rule. A listing in which only times and counts changed waits unless `fresh`. Returns the outcome for each listing;
 * an empty list means that nothing is left.
 */
export async function publishSampled(
  writing: Writing,
  limit: number,
  { fresh }: { fresh: boolean },
): Promise<PublicationResult[]> {
  const { catalogue } = writing;
  const { query } = catalogue;
  const targets = await query
    .selectFrom('probe_targets')
    .innerJoin('listings', 'listings.id', 'probe_targets.listing_id')
    .select(['listings.id', 'listings.document'])
    .where('unpublished', '=', sql.lit(1))
    .orderBy('listings.id')
    .limit(limit)
    .execute();
  if (targets.length === 0) return [];
  const ids = targets.map(({ id }) => id);
  await query.updateTable('probe_targets').set({ unpublished: 0 }).where('listing_id', 'in', ids).execute();
  await pruneSamples(writing, ids);
  const samples = await readSamples(catalogue, ids);
  const publications: Publication[] = [];
  const decided = new Map<string, 'delisted' | 'relisted'>();
  for (const { id, document } of targets) {
    const listing = parseListing(document);
    if (!listing) continue;
    const taken = samples.get(id) ?? [];
    const { publication, decision } = await decide(writing, listing, taken, fresh);
    publications.push({ ...publication, samples: taken });
    if (decision) decided.set(id, decision);
  }
  const published = await publishListings(writing, publications);
  return publications.map(({ identity: { id, slug } }) => {
    const decision = decided.get(id);
    const change = decision ?? 'changed';
    return { slug, result: published.has(id) || decision === 'delisted' ? change : 'unchanged' };
  });
}

/** Decides by rule whether a listing is removed or put back, and returns the publication. */
async function decide(
  writing: Writing,
  listing: Listing,
  samples: readonly KeptSample[],
  fresh: boolean,
): Promise<{ publication: Publication; decision?: 'delisted' | 'relisted' }> {
  const { catalogue } = writing;
  const { id, slug, base_url, state, state_by, routes } = listing;
  const identity = { id, slug, base_url };
  const setAside = routes.filter(({ set_aside }) => set_aside === true);
  const sampled = getSampleSummary(samples, new Set(setAside.map((route) => route.id)));
  const { failing, latest } = sampled;
  const evidence = buildEvidence(listing, failing, latest);
  if (state === 'delisted') {
    const isBack = state_by === 'rule' && hasAnsweredSince(listing.state_at ?? '', sampled);
    if (isBack && (await liftDelisting(catalogue, id, 'rule'))) {
      return { publication: { identity, cause: 'relisted_by_rule', evidence }, decision: 'relisted' };
    }
  } else if (
    failing &&
    latest &&
    isLongEnoughToDelist(
      await sinceRelisted(catalogue, slug, failing),
      latest.at,
      sampled.proven || listCounted(routes).length,
    )
  ) {
    await decideToDelist(writing, listing, { by: 'rule', reason: 'no_valid_402' });
    return { publication: { identity, cause: 'delisted_by_rule', evidence }, decision: 'delisted' };
  }
  // If several samples are published together, each change names one sample that shows it.
  const getEvidence = (reason: string): JsonObject => {
    if (reason === 'probed') return buildEvidence(listing, undefined, sampled.latest_valid ?? latest);
    if (reason === 'probe_failed' || reason === 'probes_failing') {
      return buildEvidence(listing, failing, sampled.latest_failed ?? latest);
    }
    return evidence;
  };
  return { publication: { identity, cause: 'probed', evidence: getEvidence, may_wait: !fresh } };
}

/** Returns the failing days of a listing since a person last put it back, who knew of the earlier failures. */
async function sinceRelisted(catalogue: Catalogue, slug: string, failing: FailingRun): Promise<FailingRun> {
  const [latest] = await listChanges(catalogue, slug, { kinds: ['relisted'], limit: 1 });
  const isDecided = latest !== undefined && latest.reason !== 'relisted_by_rule';
  return isDecided && latest.at > failing.since ? { ...failing, since: latest.at } : failing;
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
  return {
    sample: { at, route: route ? formatRoute(route) : null, outcome, cause, status },
    ...(failing && { failing: { ...failing } }),
  };
}
