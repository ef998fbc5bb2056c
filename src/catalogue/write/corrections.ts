import { ServiceError } from '../../errors.ts';
import type { Writing } from '../transaction.ts';
import { publishListing } from './publication.ts';

/**
 * Records that the operator declares a receipt wrong, with the reason. The receipt then counts neither for nor against its route;
 * receipt and reason stay public. The same reason again changes nothing, and another one replaces it. Returns the slug of the
 * listing, and whether readers see a change of it. Throws `not_found` if there is no such receipt.
 */
export async function correctReceipt(
  writing: Writing,
  receiptId: string,
  because: string,
): Promise<{ slug: string; changed: boolean }> {
  const { catalogue, at, revision, raiseRevision } = writing;
  const { query } = catalogue;
  const paid = await query
    .selectFrom('receipts')
    .innerJoin('routes', 'routes.id', 'receipts.route_id')
    .innerJoin('listings', 'listings.id', 'routes.listing_id')
    .leftJoin('corrections', 'corrections.receipt_id', 'receipts.id')
    .where('receipts.id', '=', receiptId)
    .select(['listings.id', 'listings.slug', 'listings.base_url'])
    .select('corrections.because')
    .executeTakeFirst();
  if (!paid) {
    throw new ServiceError('not_found', `There is no receipt ${receiptId}.`, {
      hint: 'The command receipts lists every payment; only one that settled has a receipt.',
      reason: 'no_receipt',
    });
  }
  const { slug } = paid;
  if (paid.because === because) return { slug, changed: false };
  await query
    .insertInto('corrections')
    .values({ receipt_id: receiptId, because, at })
    .onConflict((conflict) => conflict.column('receipt_id').doUpdateSet({ because, at }))
    .execute();
  await query.updateTable('payments').set({ revision }).where('id', '=', receiptId).execute();
  raiseRevision();
  return { slug, changed: await publishListing(writing, paid, 'corrected_by_operator') };
}
