import type { Payment } from '../model/payment.ts';
import { type Catalogue, findRow, listRows } from './database.ts';

/** Finds a payment attempt by its id, which is also that of its receipt. */
export function findPayment(catalogue: Catalogue, id: string): Payment | undefined {
  const row = findRow(catalogue, catalogue.query.selectFrom('payments').select('document').where('id', '=', id));
  return row && parsePayment(row.document);
}

/** Parses a stored attempt. Fields that earlier versions did not have get their defaults. */
export function parsePayment(document: string): Payment {
  const payment: Payment = JSON.parse(document);
  const { unrecognised = null, by_operator = null, head_at = payment.prepared_at, answer } = payment;
  const fields = answer?.fields ?? null;
  return { ...payment, unrecognised, by_operator, head_at, answer: answer && { ...answer, fields } };
}

/** Lists the latest attempts, newest first. */
export function listPayments(catalogue: Catalogue, limit: number): Payment[] {
  const query = catalogue.query.selectFrom('payments').select('document').orderBy('prepared_at', 'desc').limit(limit);
  return listRows(catalogue, query).map(({ document }) => parsePayment(document));
}

/** Returns the time of the last attempt for any of these routes, with any outcome, ISO 8601 UTC; null without one. */
export function findLastAttempt(catalogue: Catalogue, routeIds: readonly string[]): string | null {
  const query = catalogue.query
    .selectFrom('payments')
    .select(({ fn }) => fn.max<string | null>('prepared_at').as('at'))
    .where('route_id', 'in', routeIds);
  return findRow(catalogue, query)?.at ?? null;
}

/** Finds the route that a payment was made for: the slug of the listing, method and path. */
export function findPaidRoute(
  catalogue: Catalogue,
  routeId: string,
): { slug: string; method: string; path: string } | undefined {
  return findRow(
    catalogue,
    catalogue.query
      .selectFrom('routes')
      .innerJoin('listings', 'listings.id', 'routes.listing_id')
      .select(['listings.slug', 'routes.method', 'routes.path'])
      .where('routes.id', '=', routeId),
  );
}
