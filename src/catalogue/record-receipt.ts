import type { Receipt } from '../model/payment.ts';
import { findRow, runStatement } from './database.ts';
import { publishListing } from './publish.ts';
import type { Writing } from './write.ts';

/** Returns the reason code of the changes that follow from a receipt. */
function getReceiptReason({ delivered, unrecognised }: Receipt): string {
  if (delivered) return 'paid_and_delivered';
  return unrecognised === null ? 'paid_not_delivered' : 'paid_not_recognised';
}

/** Records a receipt and publishes its listing. Returns whether readers see a change; the same receipt again changes nothing. */
export function recordReceipt(writing: Writing, receipt: Receipt): boolean {
  const { catalogue } = writing;
  const { correction: _correction, ...facts } = receipt;
  const row = {
    ...facts,
    request: JSON.stringify(receipt.request),
    settled: receipt.settled ? (1 as const) : (0 as const),
    delivered: receipt.delivered ? (1 as const) : (0 as const),
  };
  runStatement(
    catalogue,
    catalogue.query
      .insertInto('receipts')
      .values(row)
      .onConflict((conflict) => conflict.column('id').doNothing()),
  );
  const identity = findRow(
    catalogue,
    catalogue.query
      .selectFrom('listings')
      .innerJoin('routes', 'routes.listing_id', 'listings.id')
      .where('routes.id', '=', receipt.route_id)
      .select(['listings.id', 'listings.slug', 'listings.base_url']),
  );
  return identity !== undefined && publishListing(writing, identity, getReceiptReason(receipt));
}
