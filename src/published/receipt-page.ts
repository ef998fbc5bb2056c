import { buildReceiptPage, type ReceiptPage } from '../views/pages/receipt-page.ts';
import { findKnownName, findListing, findRemoved } from './listings.ts';
import type { Reading } from './reading.ts';
import { findReceipt } from './receipts.ts';

/**
 * Finds the page of a receipt: a payment that settled, current or not, whatever became of its listing since. Undefined for
 * any other id, which is written as the service writes it: in lower case.
 */
export function findReceiptPage({ readAtOnce, published, site }: Reading, id: string): ReceiptPage | undefined {
  return readAtOnce(() => {
    const receipt = findReceipt(published, id);
    if (!receipt) return undefined;
    const { payment, slug, method, path, correction } = receipt;
    const listing = findListing(published, slug);
    const removed = findRemoved(published, slug);
    const { title, base_url } = findKnownName(published, slug) ?? { title: slug, base_url: '' };
    const paid = {
      slug,
      title,
      base_url: base_url || payment.request.url,
      state: listing ? ('live' as const) : removed ? ('delisted' as const) : ('held' as const),
      routes: (listing ?? removed)?.routes ?? [],
    };
    return buildReceiptPage(payment, { listing: paid, route: { method, path }, site, correction });
  });
}
