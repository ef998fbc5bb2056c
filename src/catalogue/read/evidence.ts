import type { Selectable } from 'kysely';
import type { RecordedDeclaration } from '../../evidence/authority.ts';
import type { RecordedReply } from '../../evidence/cautions.ts';
import type { KeptSample } from '../../evidence/sample-summary.ts';
import type { Listing } from '../../model/listing.ts';
import type { Receipt } from '../../model/payment.ts';
import type { RecordedTerms } from '../../model/terms.ts';
import { compareTexts } from '../../model/text.ts';
import type { Catalogue } from '../database.ts';
import type { RoutesTable, TermsTable } from '../tables.ts';
import { chooseDelisting, type RecordedDelisting } from './delistings.ts';
import { type ListingIdentity, parseListing } from './listings.ts';
import { listReceipts } from './receipts.ts';
import { listReplies } from './replies.ts';

/** Terms on record, with the id of their row; undefined until they have one. */
export type StoredTerms = RecordedTerms & { id: number | undefined; terms_key: string };

/**
 * Facts from valid 402s of a route: a fixed payee or a new one each time, and support for an id of the payment. Null if not
 * known.
 */
export type SeenRoute = Pick<Selectable<RoutesTable>, 'payee' | 'payment_identifier'>;

/** All evidence on record about one listing. */
export interface RecordedEvidence {
  readonly identity: ListingIdentity;
  /** The document that readers see now; undefined if the listing was never published. */
  readonly before: Listing | undefined;
  /** True if it was ever live. A listing held without a price counts as listed from its first live day on. */
  readonly was_live: boolean;
  readonly declarations: readonly RecordedDeclaration[];
  /** Observed facts about its routes, by id. */
  readonly routes: ReadonlyMap<string, SeenRoute>;
  /** Terms by route id: earlier ones first, current ones last. */
  readonly terms: ReadonlyMap<string, readonly StoredTerms[]>;
  /** Receipts, the latest first. */
  readonly receipts: readonly Receipt[];
  readonly delisting: RecordedDelisting | undefined;
  readonly replies: readonly RecordedReply[];
  /** Its samples, in any order. */
  readonly samples: readonly KeptSample[];
}

/** Largest number of listings whose evidence is read at a time. */
export const EVIDENCE_AT_ONCE = 100;

/**
 * Reads all evidence about listings, at most `EVIDENCE_AT_ONCE` of them, by id. Each kind of evidence takes one query. `known`
 * has samples that were already read, since these are the most rows.
 */
export async function readEvidence(
  catalogue: Catalogue,
  identities: readonly ListingIdentity[],
  known: ReadonlyMap<string, readonly KeptSample[]> = new Map(),
): Promise<Map<string, RecordedEvidence>> {
  if (identities.length === 0) return new Map();
  const ids = identities.map(({ id }) => id);
  const { query } = catalogue;
  const listings = new Map(
    (await query.selectFrom('listings').select(['id', 'document', 'was_live']).where('id', 'in', ids).execute()).map(
      (row) => [row.id, row],
    ),
  );
  const declarations = Map.groupBy(
    await query
      .selectFrom('declarations')
      .select(['listing_id', 'document', 'withdrawn_at', 'heard_at'])
      .where('listing_id', 'in', ids)
      .orderBy('kind')
      .orderBy('source')
      .execute(),
    ({ listing_id }) => listing_id,
  );
  const routes = Map.groupBy(
    await query
      .selectFrom('routes')
      .select(['id', 'listing_id', 'payee', 'payment_identifier'])
      .where('listing_id', 'in', ids)
      .execute(),
    ({ listing_id }) => listing_id,
  );
  const terms = await readTerms(catalogue, ids);
  const receipts = await listReceipts(catalogue, ids);
  const delistings = Map.groupBy(
    await query.selectFrom('delistings').selectAll().where('listing_id', 'in', ids).execute(),
    ({ listing_id }) => listing_id,
  );
  const replies = await listReplies(catalogue, ids);
  const samples = await readSamples(
    catalogue,
    ids.filter((id) => !known.has(id)),
  );
  return new Map(
    identities.map((identity) => {
      const { id } = identity;
      const listing = listings.get(id);
      return [
        id,
        {
          identity,
          before: listing && parseListing(listing.document),
          was_live: listing?.was_live === 1,
          declarations: (declarations.get(id) ?? []).map(({ document, withdrawn_at, heard_at }) => ({
            declaration: JSON.parse(document),
            withdrawn_at,
            heard_at,
          })),
          routes: new Map((routes.get(id) ?? []).map((route) => [route.id, route])),
          terms: terms.get(id) ?? new Map(),
          receipts: receipts.get(id) ?? [],
          delisting: chooseDelisting(delistings.get(id) ?? []),
          replies: replies.get(id) ?? [],
          samples: known.get(id) ?? samples.get(id) ?? [],
        },
      ];
    }),
  );
}

/** Reads the terms on record of all routes of listings, by listing and route. */
async function readTerms(
  { query }: Catalogue,
  ids: readonly string[],
): Promise<Map<string, Map<string, StoredTerms[]>>> {
  const rows = await query
    .selectFrom('terms')
    .innerJoin('routes', 'routes.id', 'terms.route_id')
    .where('routes.listing_id', 'in', ids)
    .selectAll('terms')
    .select('routes.listing_id')
    .orderBy('terms.id')
    .execute();
  return new Map(
    [...Map.groupBy(rows, ({ listing_id }) => listing_id)].map(([listingId, ofListing]) => [
      listingId,
      new Map(
        [...Map.groupBy(ofListing, ({ route_id }) => route_id)].map(([routeId, history]) => [
          routeId,
          sortTerms(history.map(({ route_id: _route, listing_id: _listing, ...row }) => readStoredTerms(row))),
        ]),
      ),
    ]),
  );
}

/** Converts the row of an offer. */
export function readStoredTerms({
  current,
  needs,
  heard_at,
  ...offer
}: Omit<Selectable<TermsTable>, 'route_id'>): StoredTerms {
  const extra = { ...(needs !== null && { extra_needs: JSON.parse(needs) }), ...(heard_at !== null && { heard_at }) };
  return { ...offer, current: current === 1, ...extra } as StoredTerms;
}

/** Sorts the terms of a route: earlier ones first, current ones last, those without a date before all others. */
export function sortTerms(terms: readonly StoredTerms[]): StoredTerms[] {
  return terms.toSorted(
    (a, b) =>
      Number(a.current) - Number(b.current) ||
      compareTexts(a.first_seen_at ?? '', b.first_seen_at ?? '') ||
      (a.id ?? Number.MAX_SAFE_INTEGER) - (b.id ?? Number.MAX_SAFE_INTEGER),
  );
}

/** Reads the samples on record of listings, by listing id; those without samples are left out. */
export async function readSamples(
  catalogue: Catalogue,
  listingIds: readonly string[],
): Promise<Map<string, KeptSample[]>> {
  if (listingIds.length === 0) return new Map();
  const rows = await catalogue.query
    .selectFrom('samples')
    .leftJoin('rounds', (join) =>
      join.onRef('rounds.round', '=', 'samples.round').onRef('rounds.prober', '=', 'samples.prober'),
    )
    .select(['listing_id', 'route_id', 'at', 'outcome', 'cause', 'status', 'latency_ms', 'ours'])
    .where('listing_id', 'in', listingIds)
    .orderBy('listing_id')
    .orderBy('at')
    .orderBy('id')
    .execute();
  const samples = rows.map(({ ours, ...sample }) => ({ ...sample, is_ours: ours === 1 }));
  return Map.groupBy(samples, ({ listing_id }) => listing_id);
}
