import { OPEN_STATES, type Payment } from '../../model/payment.ts';
import type { Catalogue } from '../database.ts';

/** Finds a payment attempt by its id, which is also that of its receipt. */
export async function findPayment({ query }: Catalogue, id: string): Promise<Payment | undefined> {
  const row = await query.selectFrom('payments').select('document').where('id', '=', id).executeTakeFirst();
  return row && parsePayment(row.document);
}

/** Parses a stored attempt. Missing fields get their defaults. */
export function parsePayment(document: string): Payment {
  const payment: Payment = JSON.parse(document);
  const { unrecognised = null, by_operator = null, head_at = payment.prepared_at, answer } = payment;
  const fields = answer?.fields ?? null;
  return { ...payment, unrecognised, by_operator, head_at, answer: answer && { ...answer, fields } };
}

/** Lists the latest attempts, newest first. */
export async function listPayments({ query }: Catalogue, limit: number): Promise<Payment[]> {
  const rows = await query
    .selectFrom('payments')
    .select('document')
    .orderBy('prepared_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ document }) => parsePayment(document));
}

/** Lists the payments that may still move money, of one payer or of all, oldest first. */
export async function listOpenPayments({ query }: Catalogue, payer?: string): Promise<Payment[]> {
  const rows = await query
    .selectFrom('payments')
    .select('document')
    .where('state', 'in', [...OPEN_STATES])
    .$if(payer !== undefined, (open) => open.where('payer', '=', payer ?? ''))
    .orderBy('prepared_at')
    .execute();
  return rows.map(({ document }) => parsePayment(document));
}

/** Returns the time of the last attempt for any of these routes, whatever its outcome, ISO 8601 UTC; null if there is none. */
export async function findLastAttempt({ query }: Catalogue, routeIds: readonly string[]): Promise<string | null> {
  if (routeIds.length === 0) return null;
  const row = await query
    .selectFrom('payments')
    .select(({ fn }) => fn.max<string | null>('prepared_at').as('at'))
    .where('route_id', 'in', routeIds)
    .executeTakeFirst();
  return row?.at ?? null;
}

/** Finds the route that a payment was made for: the slug of the listing, method and path. */
export async function findPaidRoute(
  { query }: Catalogue,
  routeId: string,
): Promise<{ slug: string; method: string; path: string } | undefined> {
  return await query
    .selectFrom('routes')
    .innerJoin('listings', 'listings.id', 'routes.listing_id')
    .select(['listings.slug', 'routes.method', 'routes.path'])
    .where('routes.id', '=', routeId)
    .executeTakeFirst();
}
