import type { Receipt } from '../model/receipt.ts';
import { findRow, runStatement } from './database.ts';
import { publishListing } from './publish.ts';
import type { Writing } from './write.ts';

/** Records a receipt and publishes what it proves. Recording the same receipt again changes nothing. */
export function recordReceipt(writing: Writing, receipt: Receipt): boolean {
  const { catalogue } = writing;
  const row = {
    ...receipt,
    request: JSON.stringify(receipt.request),
    settled: receipt.settled ? (1 as const) : (0 as const),
    delivered: receipt.delivered ? (1 as const) : (0 as const),
  };
  runStatement(
    catalogue,
    catalogue.query
      .insertInto('receipts')
      .values(row)
      .onConflict((conflict) => conflict.doNothing()),
  );
  const identity = findRow(
    catalogue,
    catalogue.query
      .selectFrom('listings')
      .innerJoin('routes', 'routes.listing_id', 'listings.id')
      .where('routes.id', '=', receipt.route_id)
      .select(['listings.id', 'listings.slug', 'listings.base_url']),
  );
  return identity !== undefined && publishListing(writing, identity, 'receipt');
}
