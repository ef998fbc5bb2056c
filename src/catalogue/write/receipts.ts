import type { Receipt } from '../../model/payment.ts';
import type { Writing } from '../transaction.ts';
import { publishListing } from './publication.ts';

/** Returns the reason code of the changes caused by a receipt. */
function getReceiptReason({ delivered, unrecognised }: Receipt): string {
  if (delivered) return 'paid_and_delivered';
  return unrecognised === null ? 'paid_not_delivered' : 'paid_not_recognised';
}

/** Records a receipt and publishes its listing. Returns whether readers see a change; the same receipt again changes nothing. */
export async function recordReceipt(writing: Writing, receipt: Receipt): Promise<boolean> {
  const { query } = writing.catalogue;
  const { correction: _correction, ...facts } = receipt;
  const row = {
    ...facts,
    ceiling: receipt.ceiling ?? null,
    request: JSON.stringify(receipt.request),
    settled: receipt.settled ? (1 as const) : (0 as const),
    delivered: receipt.delivered ? (1 as const) : (0 as const),
  };
  await query
    .insertInto('receipts')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
  const identity = await query
    .selectFrom('listings')
    .innerJoin('routes', 'routes.listing_id', 'listings.id')
    .where('routes.id', '=', receipt.route_id)
    .select(['listings.id', 'listings.slug', 'listings.base_url'])
    .executeTakeFirst();
  return identity !== undefined && (await publishListing(writing, identity, getReceiptReason(receipt)));
}
