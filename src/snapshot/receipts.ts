import { findPayment } from '../catalogue/payment-records.ts';
import type { Listing } from '../model/listing.ts';
import { formatRoute } from '../model/route.ts';
import { buildReceiptView, type ReceiptView } from '../views/pages/receipt-view.ts';
import type { Reading } from './reading.ts';

/** Lists the receipts that prove the routes of a listing, by id, as far as the payments are on record here. */
export function listReceiptViews({ catalogue, site }: Reading, { slug, routes }: Listing): Map<string, ReceiptView> {
  const views = new Map<string, ReceiptView>();
  for (const route of routes) {
    const payment = route.proof && findPayment(catalogue, route.proof.receipt_id);
    if (!payment?.settlement) continue;
    const paid = { ...payment, settlement: payment.settlement };
    views.set(payment.id, buildReceiptView(paid, { slug, route: formatRoute(route), site }));
  }
  return views;
}
