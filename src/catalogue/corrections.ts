import { ServiceError } from '../errors.ts';
import { findRow, runStatement } from './database.ts';
import { publishListing } from './publish.ts';
import type { Writing } from './write.ts';

/**
 * Records that the operator declares a receipt wrong, and why. From then on it counts neither for nor against its route;
 * receipt and reason stay public. The same reason again changes nothing, and another one replaces it. Returns the slug of the
 * listing, and whether readers see a change of it. Throws `not_found` without such a receipt.
 */
export function correctReceipt(
  writing: Writing,
  receiptId: string,
  because: string,
): { slug: string; changed: boolean } {
  const { catalogue, at, revision, raiseRevision } = writing;
  const paid = findRow(
    catalogue,
    catalogue.query
      .selectFrom('receipts')
      .innerJoin('routes', 'routes.id', 'receipts.route_id')
      .innerJoin('listings', 'listings.id', 'routes.listing_id')
      .leftJoin('corrections', 'corrections.receipt_id', 'receipts.id')
      .where('receipts.id', '=', receiptId)
      .select(['listings.id', 'listings.slug', 'listings.base_url'])
      .select('corrections.because'),
  );
  if (!paid) {
    throw new ServiceError('not_found', `There is no receipt ${receiptId}.`, {
      hint: 'The command receipts lists every payment; only one that settled has a receipt.',
      reason: 'no_receipt',
    });
  }
  const { slug } = paid;
  if (paid.because === because) return { slug, changed: false };
  runStatement(
    catalogue,
    catalogue.query
      .insertInto('corrections')
      .values({ receipt_id: receiptId, because, at })
      .onConflict((conflict) => conflict.column('receipt_id').doUpdateSet({ because, at })),
  );
  runStatement(catalogue, catalogue.query.updateTable('payments').set({ revision }).where('id', '=', receiptId));
  raiseRevision();
  return { slug, changed: publishListing(writing, paid, 'corrected_by_operator') };
}
