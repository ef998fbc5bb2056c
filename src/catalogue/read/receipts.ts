import type { Receipt } from '../../model/payment.ts';
import type { Catalogue } from '../database.ts';

/** Lists the receipts of all routes of listings, by listing id, the latest first. */
export async function listReceipts(
  { query }: Catalogue,
  listingIds: readonly string[],
): Promise<Map<string, Receipt[]>> {
  const rows = await query
    .selectFrom('receipts')
    .innerJoin('routes', 'routes.id', 'receipts.route_id')
    .leftJoin('corrections', 'corrections.receipt_id', 'receipts.id')
    .where('routes.listing_id', 'in', listingIds)
    .selectAll('receipts')
    .select(['routes.listing_id', 'corrections.because', 'corrections.at as corrected_at'])
    .orderBy('receipts.settled_at', 'desc')
    .orderBy('receipts.id')
    .execute();
  const byListing = Map.groupBy(rows, ({ listing_id }) => listing_id);
  return new Map(
    [...byListing].map(([id, receipts]) => [
      id,
      receipts.map(({ because, corrected_at, listing_id: _listing, ceiling, ...row }) => ({
        ...row,
        ...(ceiling !== null && { ceiling }),
        network: row.network as Receipt['network'],
        unrecognised: row.unrecognised as Receipt['unrecognised'],
        correction: because === null || corrected_at === null ? null : { because, at: corrected_at },
        request: JSON.parse(row.request),
        settled: row.settled === 1,
        delivered: row.delivered === 1,
      })),
    ]),
  );
}
