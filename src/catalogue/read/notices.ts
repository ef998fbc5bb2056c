import type { NoticeKind } from '../../model/notice.ts';
import type { Catalogue } from '../database.ts';
import type { DeliveriesTable, SubscriptionsTable } from '../tables.ts';

/** Subscription of a provider to events of its listings. */
export type Subscription = Omit<SubscriptionsTable, 'kinds'> & { readonly kinds: readonly NoticeKind[] };

function parse(row: SubscriptionsTable): Subscription {
  return { ...row, kinds: JSON.parse(row.kinds) };
}

/** Lists the subscriptions of origins. */
export async function listSubscriptions({ query }: Catalogue, origins: readonly string[]): Promise<Subscription[]> {
  const rows = await query.selectFrom('subscriptions').selectAll().where('origin', 'in', origins).execute();
  return rows.map(parse);
}

/**
 * Lists the subscriptions that are to be looked at by a time, ISO 8601 UTC: their challenge is to be sent, or their proofs
 * and tests may be due.
 */
export async function listDueSubscriptions({ query }: Catalogue, at: string, limit: number): Promise<Subscription[]> {
  const rows = await query
    .selectFrom('subscriptions')
    .selectAll()
    .where('state', 'in', ['asked', 'on'])
    .where('next_at', '<=', at)
    .orderBy('next_at')
    .orderBy('origin')
    .limit(limit)
    .execute();
  return rows.map(parse);
}

/** An event that waits to be sent. */
export type Delivery = DeliveriesTable & Pick<SubscriptionsTable, 'webhook'>;

/** Lists the events that are to be sent by a time, ISO 8601 UTC, the longest due first. */
export async function listDueDeliveries({ query }: Catalogue, at: string, limit: number): Promise<Delivery[]> {
  return await query
    .selectFrom('deliveries')
    .innerJoin('subscriptions', 'subscriptions.origin', 'deliveries.origin')
    .selectAll('deliveries')
    .select('subscriptions.webhook')
    .where('deliveries.state', '=', 'waiting')
    .where('subscriptions.state', '=', 'on')
    .where('deliveries.next_at', '<=', at)
    .orderBy('deliveries.next_at')
    .orderBy('deliveries.at')
    .orderBy('deliveries.id')
    .limit(limit)
    .execute();
}

/** Number of events by what became of them in the last 30 days, and of subscriptions by their state. */
export interface NoticeCounts {
  deliveries: Record<DeliveriesTable['state'], number>;
  subscriptions: Record<SubscriptionsTable['state'], number>;
}

/** Counts events and subscriptions. */
export async function countNotices({ query }: Catalogue): Promise<NoticeCounts> {
  const counts: NoticeCounts = {
    deliveries: { waiting: 0, delivered: 0, failed: 0 },
    subscriptions: { asked: 0, refused: 0, on: 0, off: 0 },
  };
  for (const table of ['deliveries', 'subscriptions'] as const) {
    const rows = await query
      .selectFrom(table)
      .select(({ fn }) => ['state', fn.countAll<number>().as('count')])
      .groupBy('state')
      .execute();
    for (const { state, count } of rows) Object.assign(counts[table], { [state]: count });
  }
  return counts;
}
