import type { Receipt } from '../model/payment.ts';
import { type Catalogue, listRows } from './database.ts';

/** Lists the receipts of all routes of a listing, the latest first. */
export function listReceipts(catalogue: Catalogue, listingId: string): Receipt[] {
  const rows = listRows(
    catalogue,
    catalogue.query
      .selectFrom('receipts')
      .innerJoin('routes', 'routes.id', 'receipts.route_id')
      .leftJoin('corrections', 'corrections.receipt_id', 'receipts.id')
      .where('routes.listing_id', '=', listingId)
      .selectAll('receipts')
      .select(['corrections.because', 'corrections.at as corrected_at'])
      .orderBy('receipts.settled_at', 'desc'),
  );
  return rows.map(({ because, corrected_at, ...row }) => ({
    ...row,
    network: row.network as Receipt['network'],
    unrecognised: row.unrecognised as Receipt['unrecognised'],
    correction: because === null || corrected_at === null ? null : { because, at: corrected_at },
    request: JSON.parse(row.request),
    settled: row.settled === 1,
    delivered: row.delivered === 1,
  }));
}
