import { findListing } from '../catalogue/listings.ts';
import { findPaidRoute, findPayment } from '../catalogue/payment-records.ts';
import { findCorrection } from '../catalogue/receipts.ts';
import { buildReceiptPage, type ReceiptPage } from '../views/pages/receipt-view.ts';
import type { Reading } from './reading.ts';

/**
 * Finds the page of a receipt: a payment that settled, current or not, whatever became of its listing since. Undefined for
 * any other id, which is written as the service writes it: in lower case.
 */
export function findReceiptPage({ catalogue, site }: Reading, id: string): ReceiptPage | undefined {
  const payment = findPayment(catalogue, id);
  const route = payment?.settlement && findPaidRoute(catalogue, payment.route_id);
  const listing = route && findListing(catalogue, { slug: route.slug });
  if (!payment?.settlement || !listing) return undefined;
  const correction = findCorrection(catalogue, id);
  return buildReceiptPage({ ...payment, settlement: payment.settlement }, { listing, route, site, correction });
}
