import { type Selectable, sql } from 'kysely';
import type { MergedRoute } from '../evidence/declarations.ts';
import { getTermsKey, type RecordedTerms, type Terms } from '../model/terms.ts';
import { type Catalogue, findRow, listRows, runStatement } from './database.ts';
import type { TermsTable } from './tables.ts';

/** Returns the terms on record of all routes of a listing, by route id: earlier ones first, current ones last. */
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
  const byRoute = Map.groupBy(rows, ({ route_id }) => route_id);
  return new Map([...byRoute].map(([routeId, history]) => [routeId, history.map(parseTerms)]));
}

function parseTerms({ id: _id, route_id: _route, terms_key: _key, ...row }: Selectable<TermsTable>): RecordedTerms {
  const { current, ...offer } = row;
  return { ...offer, current: current === 1 } as RecordedTerms;
}

/** Records the declared terms of a route as its current ones. Those declared before become history. */
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
    const seen = { evidence: 'declared', source: source.name, seen_at: source.observed_at } as const;
    const known = findTerms(catalogue, routeId, offer, seen);
    if (known === undefined) insertTerms(catalogue, routeId, offer, seen);
    else widenTerms(catalogue, known, offer, seen.seen_at);
  }
}

/** Constants and not bound values, so that SQLite can use the partial indexes of such rows. */
const STANDING = sql<boolean>`evidence = 'observed' and current = 1`;
const DECLARED = sql<boolean>`evidence = 'declared'`;

/** Name of the source of terms that the service itself saw in a 402. */
const PROBE_SOURCE = 'probe';

/**
 * Records the offers of a 402 that was seen at a time (ISO 8601 UTC). An offer that is current stays so; one that is no
 * longer made becomes history; a new one, or one that came back, begins a new period.
 */
export function recordObservedTerms(
  catalogue: Catalogue,
  routeId: string,
  offers: readonly Terms[],
  seenAt: string,
): void {
  const seen = { evidence: 'observed', source: PROBE_SOURCE, seen_at: seenAt } as const;
  const kept = new Set<number>();
  for (const offer of offers) {
    const known = findTerms(catalogue, routeId, offer, seen);
    if (known === undefined) kept.add(insertTerms(catalogue, routeId, offer, seen));
    else {
      widenTerms(catalogue, known, offer, seenAt);
      kept.add(known);
    }
  }
  runStatement(
    catalogue,
    catalogue.query
      .updateTable('terms')
      .set({ current: 0 })
      .where('route_id', '=', routeId)
      .where(STANDING)
      .where('id', 'not in', [...kept]),
  );
}

/** Where an offer was read, and when it was seen (null: a claim without a date). */
interface Seen {
  evidence: 'declared' | 'observed';
  source: string;
  seen_at: string | null;
}

/** Finds the id of the row that an offer continues; of an observed offer only a current row. */
function findTerms(
  catalogue: Catalogue,
  routeId: string,
  offer: Terms,
  { evidence, source }: Seen,
): number | undefined {
  const query = catalogue.query
    .selectFrom('terms')
    .select('id')
    .where('route_id', '=', routeId)
    .where('source', '=', source)
    .where('terms_key', '=', getTermsKey(offer));
  return findRow(catalogue, query.where(evidence === 'observed' ? STANDING : DECLARED))?.id;
}

function insertTerms(catalogue: Catalogue, routeId: string, offer: Terms, { seen_at, ...seen }: Seen): number {
  const { network, scheme, asset, amount, pay_to, max_timeout_seconds, x402_version } = offer;
  const { lastInsertRowid } = runStatement(
    catalogue,
    catalogue.query.insertInto('terms').values({
      route_id: routeId,
      terms_key: getTermsKey(offer),
      ...{ network, scheme, asset, amount, pay_to, max_timeout_seconds, x402_version },
      ...seen,
      first_seen_at: seen_at,
      last_seen_at: seen_at,
      current: 1,
    }),
  );
  return Number(lastInsertRowid);
}

/** Marks an offer as current, and widens the time in which it was seen; it never narrows it. */
function widenTerms(catalogue: Catalogue, id: number, offer: Terms, seenAt: string | null): void {
  const { max_timeout_seconds, x402_version } = offer;
  runStatement(
    catalogue,
    catalogue.query
      .updateTable('terms')
      .set(({ fn, ref, val }) => ({
        current: 1,
        max_timeout_seconds,
        x402_version,
        first_seen_at: fn.coalesce(
          fn<string | null>('min', [ref('first_seen_at'), val(seenAt)]),
          ref('first_seen_at'),
          val(seenAt),
        ),
        last_seen_at: fn.coalesce(
          fn<string | null>('max', [ref('last_seen_at'), val(seenAt)]),
          ref('last_seen_at'),
          val(seenAt),
        ),
      }))
      .where('id', '=', id),
  );
}
