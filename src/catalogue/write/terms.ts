import type { MergedDeclaration } from '../../evidence/declarations.ts';
import { getRouteId } from '../../model/ids.ts';
import { getTermsKey, type RecordedTerms, type Terms } from '../../model/terms.ts';
import { type Catalogue, cutRows, insertRows } from '../database.ts';
import { type RecordedEvidence, readStoredTerms, type StoredTerms, sortTerms } from '../read/evidence.ts';

/** The terms on record of the routes of a listing, by route id: earlier ones first, current ones last. */
export type RouteTerms = ReadonlyMap<string, readonly RecordedTerms[]>;

/** The source of an offer, and the time at which it was seen (null: a claim without a date). */
interface Seen {
  evidence: 'declared' | 'observed';
  source: string;
  seen_at: string | null;
  /** Time at which this catalogue heard the source declare it; null for offers that it observed itself. */
  heard_at: string | null;
}

/**
 * Records the declarations of listings: rows for their routes, to which evidence refers, and the terms of these as current ones.
 * Terms declared before become history. Returns all recorded terms after that, by listing.
 */
export async function declareTerms(
  catalogue: Catalogue,
  declared: readonly { record: RecordedEvidence; merged: MergedDeclaration }[],
): Promise<Map<string, RouteTerms>> {
  const routes: { id: string; listing_id: string; method: string; path: string }[] = [];
  const changed: { routeId: string; terms: StoredTerms }[] = [];
  const all = new Map<string, RouteTerms>();
  for (const { record, merged } of declared) {
    const listing_id = record.identity.id;
    const terms = new Map<string, readonly StoredTerms[]>(record.terms);
    for (const { route, source, heard_at } of merged.routes) {
      const { method, path } = route;
      const id = getRouteId(listing_id, method, path);
      if (!record.routes.has(id)) routes.push({ id, listing_id, method, path });
      const seen: Seen = { evidence: 'declared', source: source.name, seen_at: source.observed_at, heard_at };
      const before = terms.get(id) ?? [];
      const after = declareOffers(before, route.terms, seen);
      terms.set(id, sortTerms(after));
      changed.push(...after.filter((one) => !before.includes(one)).map((one) => ({ routeId: id, terms: one })));
    }
    all.set(listing_id, new Map([...terms].map(([id, history]) => [id, history.map(omitRow)])));
  }
  await insertRows(catalogue, 'routes', routes);
  await storeTerms(catalogue, changed);
  return all;
}

/** Returns the terms of a listing's routes without their rows. */
export function listRecordedTerms(terms: RecordedEvidence['terms']): RouteTerms {
  return new Map([...terms].map(([id, history]) => [id, history.map(omitRow)]));
}

function omitRow({ id: _id, terms_key: _key, ...terms }: StoredTerms): RecordedTerms {
  return terms;
}

/** Returns the terms of a route after these offers are declared. An unchanged entry is the same object as before. */
function declareOffers(before: readonly StoredTerms[], offers: readonly Terms[], seen: Seen): StoredTerms[] {
  const kept = new Map<StoredTerms, StoredTerms>(
    before.map((one) => [one, one.evidence === 'declared' && one.current ? { ...one, current: false } : one]),
  );
  const added: StoredTerms[] = [];
  for (const offer of offers) {
    const key = getTermsKey(offer);
    const isSame = (one: StoredTerms) =>
      one.evidence === 'declared' && one.source === seen.source && one.terms_key === key;
    const known = before.find(isSame);
    const again = added.findIndex(isSame);
    if (known) kept.set(known, widen(kept.get(known) ?? known, offer, seen.seen_at));
    else if (again >= 0) added[again] = widen(added[again] as StoredTerms, offer, seen.seen_at);
    else added.push(buildTerms(offer, seen));
  }
  const after = [...kept].map(([was, is]) => (isEqual(was, is) ? was : is));
  return [...after, ...added];
}

function isEqual(a: StoredTerms, b: StoredTerms): boolean {
  return (
    a.current === b.current &&
    a.first_seen_at === b.first_seen_at &&
    a.last_seen_at === b.last_seen_at &&
    a.max_timeout_seconds === b.max_timeout_seconds &&
    a.x402_version === b.x402_version &&
    formatNeeds(a) === formatNeeds(b)
  );
}

/** Name of the source of terms that the service itself saw in a 402. */
const PROBE_SOURCE = 'probe';

/**
 * Records the offers of a 402 that was seen at a time (ISO 8601 UTC). A current offer stays current; an offer that is no longer
 * made becomes history; a new or returning one begins a new period.
 */
export async function recordObservedTerms(
  catalogue: Catalogue,
  routeId: string,
  offers: readonly Terms[],
  seenAt: string,
): Promise<void> {
  const seen: Seen = { evidence: 'observed', source: PROBE_SOURCE, seen_at: seenAt, heard_at: null };
  const rows = await catalogue.query
    .selectFrom('terms')
    .selectAll()
    .where('route_id', '=', routeId)
    .where('evidence', '=', 'observed')
    .where('current', '=', 1)
    .orderBy('id')
    .execute();
  const standing = rows.map(({ route_id: _route, ...row }) => readStoredTerms(row));
  const now = new Map<string, StoredTerms>();
  for (const offer of offers) {
    const key = getTermsKey(offer);
    const known = now.get(key) ?? standing.find(({ terms_key }) => terms_key === key);
    now.set(key, known ? widen(known, offer, seenAt) : buildTerms(offer, seen));
  }
  const ended = standing.filter(({ terms_key }) => !now.has(terms_key)).map((one) => ({ ...one, current: false }));
  await storeTerms(
    catalogue,
    [...now.values(), ...ended].map((terms) => ({ routeId, terms })),
  );
}

function buildTerms(offer: Terms, { seen_at, ...seen }: Seen): StoredTerms {
  const { network, scheme, asset, amount, pay_to, max_timeout_seconds, x402_version, extra_needs } = offer;
  return {
    id: undefined,
    evidence: seen.evidence,
    terms_key: getTermsKey(offer),
    network,
    scheme,
    asset,
    amount,
    pay_to,
    max_timeout_seconds,
    x402_version,
    source: seen.source,
    first_seen_at: seen_at,
    last_seen_at: seen_at,
    current: true,
    ...(seen.heard_at !== null && { heard_at: seen.heard_at }),
    ...(extra_needs && { extra_needs }),
  };
}

/** Marks an offer as current, and extends the time in which it was seen, never shortens it. */
function widen(before: StoredTerms, offer: Terms, seenAt: string | null): StoredTerms {
  const { extra_needs: _needs, ...known } = before;
  const { max_timeout_seconds, x402_version, extra_needs } = offer;
  const times = [known.first_seen_at, known.last_seen_at, seenAt].filter((time) => time !== null).sort();
  return {
    ...known,
    current: true,
    max_timeout_seconds,
    x402_version,
    first_seen_at: times[0] ?? null,
    last_seen_at: times.at(-1) ?? null,
    ...(extra_needs && { extra_needs }),
  };
}

/** Returns the further needs of an offer in the form of its row. */
function formatNeeds({ extra_needs }: Terms): string | null {
  return extra_needs === undefined ? null : JSON.stringify(extra_needs);
}

/** Writes terms: adds rows for those without one, and updates the rows of the others. */
async function storeTerms(
  catalogue: Catalogue,
  changed: readonly { routeId: string; terms: StoredTerms }[],
): Promise<void> {
  const rows = changed.map(({ routeId, terms: { id, current, extra_needs, heard_at = null, ...terms } }) => ({
    id,
    row: {
      ...terms,
      heard_at,
      route_id: routeId,
      current: current ? (1 as const) : (0 as const),
      needs: formatNeeds({ ...terms, extra_needs }),
    },
  }));
  await insertRows(
    catalogue,
    'terms',
    rows.filter(({ id }) => id === undefined).map(({ row }) => row),
  );
  const known = rows.flatMap(({ id, row }) => (id === undefined ? [] : { id, ...row }));
  for (const some of cutRows(known)) {
    await catalogue.query
      .insertInto('terms')
      .values(some)
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet(({ ref }) => ({
          current: ref('excluded.current'),
          max_timeout_seconds: ref('excluded.max_timeout_seconds'),
          x402_version: ref('excluded.x402_version'),
          first_seen_at: ref('excluded.first_seen_at'),
          last_seen_at: ref('excluded.last_seen_at'),
          needs: ref('excluded.needs'),
        })),
      )
      .execute();
  }
}
