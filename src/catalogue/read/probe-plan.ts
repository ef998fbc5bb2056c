import { getCurrentTerms } from '../../evidence/terms.ts';
import { DAY_MS } from '../../model/duration.ts';
import type { Listing } from '../../model/listing.ts';
import type { Route } from '../../model/route.ts';
import { listCounted } from '../../model/route.ts';
import { terms } from '../../model/terms.ts';
import type { Catalogue } from '../database.ts';
import { findListing } from './listings.ts';

/**
 * The routes that a run probes. `due`: one route of each listing that is due at `at`, and one that is set aside. `all`: all
 * routes. `chosen`: the routes of some listings, or only those in `routeIds`. `all` and `chosen` leave out routes probed at
 * `since` or later (null: none). Times are ISO 8601 UTC.
 */
export type ProbeScope =
  | { kind: 'due'; at: string }
  | { kind: 'all'; since: string | null }
  | { kind: 'chosen'; slugs: readonly string[]; routeIds?: readonly string[] | undefined; since: string | null };

/** The listings at one origin that a run probes, and the number of their routes. */
export interface HostPlan {
  host: string;
  listing_ids: string[];
  routes: number;
}

/** One route to be probed. */
export interface ProbeTask {
  listing_id: string;
  slug: string;
  base_url: string;
  /** Time at which a rule removed the listing, ISO 8601 UTC; null if it is not delisted. */
  delisted_at: string | null;
  route: Pick<Route, 'id' | 'method' | 'path' | 'example' | 'input_schema' | 'payee' | 'terms'>;
}

/**
 * Lists the hosts that a run visits, those with the most routes first. Listings that the operator or the provider removed are
 * left out unless chosen. A listing without itemised routes has nothing to probe; if it is chosen, its host is visited (`routes`
 * 0) to read the provider's file. A run over due or all routes also visits each known host whose provider's file was last read
 * before `filesReadSince`, since a provider may ask in it to put a removed listing back.
 */
export async function listProbeHosts(
  catalogue: Catalogue,
  scope: ProbeScope,
  filesReadSince: string | null = null,
): Promise<HostPlan[]> {
  const hosts = new Map<string, HostPlan>();
  if (filesReadSince !== null && scope.kind !== 'chosen') {
    for (const host of await listHostsWithUnreadFile(catalogue, filesReadSince))
      hosts.set(host, { host, listing_ids: [], routes: 0 });
  }
  for (const { id, base_url, routes } of await listCandidates(catalogue, scope)) {
    const host = new URL(base_url).origin;
    const plan = hosts.get(host) ?? { host, listing_ids: [], routes: 0 };
    plan.listing_ids.push(id);
    plan.routes += scope.kind === 'due' ? 1 : routes;
    hosts.set(host, plan);
  }
  return [...hosts.values()].sort((a, b) => b.routes - a.routes);
}

async function listHostsWithUnreadFile({ query }: Catalogue, since: string): Promise<string[]> {
  const fresh = query.selectFrom('hosts').select('host').where('provider_file_at', '>=', since);
  const rows = await query
    .selectFrom('listings')
    .select('origin')
    .distinct()
    .where('origin', 'not in', fresh)
    .execute();
  return rows.map(({ origin }) => origin);
}

async function listCandidates(
  { query }: Catalogue,
  scope: ProbeScope,
): Promise<{ id: string; base_url: string; routes: number }[]> {
  let candidates = query
    .selectFrom('listings')
    .leftJoin('probe_targets', 'probe_targets.listing_id', 'listings.id')
    // Listings that were published at least once.
    .where('listings.revision', '>', 0)
    .select(['listings.id', 'listings.base_url', 'listings.routes'])
    .orderBy('listings.id');
  if (scope.kind === 'chosen') candidates = candidates.where('listings.slug', 'in', scope.slugs);
  else {
    const decided = query.selectFrom('delistings').select('listing_id').where('by', '!=', 'rule');
    candidates = candidates.where('listings.id', 'not in', decided);
  }
  if (scope.kind === 'due') {
    const { at } = scope;
    candidates = candidates.where(({ or, eb }) =>
      or([eb('probe_targets.due_at', 'is', null), eb('probe_targets.due_at', '<=', at)]),
    );
  }
  const rows = await candidates.execute();
  return rows.filter(({ routes }) => routes > 0 || scope.kind === 'chosen');
}

/** Lists the routes of one listing that a run probes. For `due` it is the next route, after one that is set aside. */
export async function listProbeTasks(catalogue: Catalogue, listingId: string, scope: ProbeScope): Promise<ProbeTask[]> {
  const listing = await findListing(catalogue, { id: listingId });
  if (!listing) return [];
  // The provider's file, which was just read, may have removed it.
  if (scope.kind !== 'chosen' && listing.state === 'delisted' && listing.state_by !== 'rule') return [];
  const rows = await catalogue.query
    .selectFrom('routes')
    .select(['id', 'probed_at'])
    .where('listing_id', '=', listingId)
    .execute();
  const probedAt = new Map(rows.map(({ id, probed_at }) => [id, probed_at ?? '']));
  const getProbedAt = ({ id }: Route) => probedAt.get(id) ?? '';
  const byAge = listing.routes.toSorted((a, b) => (getProbedAt(a) < getProbedAt(b) ? -1 : 1));
  const wanted =
    scope.kind === 'due'
      ? chooseDue(byAge, getProbedAt, scope.at)
      : byAge.filter((route) => getProbedAt(route) < (scope.since ?? '~'));
  const named = scope.kind === 'chosen' ? scope.routeIds : undefined;
  return wanted.filter(({ id }) => named?.includes(id) ?? true).map((route) => buildTask(listing, route));
}

/**
 * Number of conclusive failures after which a route that is set aside is probed rarely, and the time between these probes, in
 * milliseconds: a week.
 */
const RARE = { after: 3, every_ms: 7 * DAY_MS };

/**
 * Chooses the next routes from routes sorted by the time of their last probe. One is of those that count; if the latest answer
 * was a failure, it is one that last answered, if there is any. One is of those set aside, so that invented routes, however many,
 * never take the place of a real one. The one that counts comes last, because it decides when the listing is due again.
 */
function chooseDue(byAge: readonly Route[], getProbedAt: (route: Route) => string, at: string): Route[] {
  const counted = listCounted(byAge);
  const latest = counted.findLast(({ probe }) => probe !== null);
  const answering = counted.filter(({ probe }) => probe?.valid_at != null && probe.failures === 0);
  const isFailing = latest?.probe != null && latest.probe.failures > 0;
  const [first] = isFailing && answering.length > 0 ? answering : counted;
  const rareBefore = new Date(Date.parse(at) - RARE.every_ms).toISOString();
  const other = byAge.find(
    (route) =>
      route.set_aside === true && ((route.probe?.failures ?? 0) < RARE.after || getProbedAt(route) < rareBefore),
  );
  return [other, first].flatMap((route) => route ?? []);
}

function buildTask({ id, slug, base_url, state, state_at }: Listing, route: Route): ProbeTask {
  return {
    listing_id: id,
    slug,
    base_url,
    delisted_at: state === 'delisted' ? state_at : null,
    route: { ...route, terms: getCurrentTerms(route.terms).map((offer) => ({ ...offer, ...terms.parse(offer) })) },
  };
}

/**
 * Finds the first time after `at` at which a listing is due, ISO 8601 UTC; undefined if there is none. Listings that are already
 * due and were not probed are left out: their host asked for a pause, or they must not be probed.
 */
export async function findNextDue({ query }: Catalogue, at: string): Promise<string | undefined> {
  const row = await query
    .selectFrom('probe_targets')
    .select('due_at')
    .where('due_at', '>', at)
    .orderBy('due_at')
    .limit(1)
    .executeTakeFirst();
  return row?.due_at;
}
