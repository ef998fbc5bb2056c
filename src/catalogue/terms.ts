import type { MergedRoute } from '../evidence/declarations.ts';
import { getTermsKey, type RecordedTerms, type Terms } from '../model/terms.ts';
import { type Catalogue, listRows, runStatement } from './database.ts';

/** How many past offers of a route its published history keeps; the rows themselves are all kept. */
const PUBLISHED_HISTORY = 20;

/** Lists the terms on record of every route of a listing, by route id: first seen first, current ones last. */
export function listTermsByRoute(catalogue: Catalogue, listingId: string): Map<string, RecordedTerms[]> {
  const rows = listRows(
    catalogue,
    catalogue.query
      .selectFrom('terms')
      .innerJoin('routes', 'routes.id', 'terms.route_id')
      .where('routes.listing_id', '=', listingId)
      .selectAll('terms')
      .orderBy('terms.current')
      .orderBy('terms.first_seen_at')
      .orderBy('terms.id'),
  );
  const byRoute = new Map<string, RecordedTerms[]>();
  for (const row of rows) {
    const { id: _id, route_id, terms_key: _key, current, ...offer } = row;
    const terms = { ...offer, current: current === 1 } as RecordedTerms;
    byRoute.set(route_id, [...(byRoute.get(route_id) ?? []), terms]);
  }
  for (const [routeId, history] of byRoute) {
    const past = history.filter((terms) => !terms.current).slice(-PUBLISHED_HISTORY);
    byRoute.set(routeId, [...past, ...history.filter((terms) => terms.current)]);
  }
  return byRoute;
}

/** Records what a source declares of a route as its current declared terms; what it declared before becomes history. */
export function recordDeclaredTerms(catalogue: Catalogue, routeId: string, { route, source }: MergedRoute): void {
  runStatement(
    catalogue,
    catalogue.query
      .updateTable('terms')
      .set({ current: 0 })
      .where('route_id', '=', routeId)
      .where('evidence', '=', 'declared')
      .where('current', '=', 1),
  );
  for (const offer of route.terms) {
    recordTerms(catalogue, routeId, offer, { evidence: 'declared', source: source.name, seen_at: source.observed_at });
  }
}

/**
 * Records one offer as current. The same source seeing it again widens the time in which it was seen and never narrows it;
 * what one source dates says nothing for another.
 */
export function recordTerms(
  catalogue: Catalogue,
  routeId: string,
  offer: Terms,
  { evidence, source, seen_at }: { evidence: 'declared' | 'observed'; source: string; seen_at: string | null },
): void {
  const { network, scheme, asset, amount, pay_to, max_timeout_seconds, x402_version } = offer;
  runStatement(
    catalogue,
    catalogue.query
      .insertInto('terms')
      .values({
        route_id: routeId,
        evidence,
        terms_key: getTermsKey(offer),
        network,
        scheme,
        asset,
        amount,
        pay_to,
        max_timeout_seconds,
        x402_version,
        source,
        first_seen_at: seen_at,
        last_seen_at: seen_at,
        current: 1,
      })
      .onConflict((conflict) =>
        conflict.columns(['route_id', 'evidence', 'source', 'terms_key']).doUpdateSet(({ fn, ref, val }) => ({
          current: 1,
          max_timeout_seconds,
          x402_version,
          first_seen_at: fn.coalesce(
            fn<string | null>('min', [ref('terms.first_seen_at'), val(seen_at)]),
            ref('terms.first_seen_at'),
            val(seen_at),
          ),
          last_seen_at: fn.coalesce(
            fn<string | null>('max', [ref('terms.last_seen_at'), val(seen_at)]),
            ref('terms.last_seen_at'),
            val(seen_at),
          ),
        })),
      ),
  );
}
