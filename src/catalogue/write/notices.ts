import type { Notice } from '../../evidence/notices.ts';
import type { Listing } from '../../model/listing.ts';
import { listSubscriptions } from '../read/notices.ts';
import { getRowKey } from '../row-keys.ts';
import type { Writing } from '../transaction.ts';

/** Most events a host is told in a day (UTC). */
export const EVENTS_A_DAY = 10;

/** An event before it is on record. */
export interface NewEvent {
  /** The same for the same event, so that one which is sent twice can be told from two. */
  readonly key: readonly string[];
  readonly kind: Notice['kind'] | 'test';
  readonly listing?: Pick<Listing, 'id' | 'slug'>;
  readonly what: Notice['what'];
}

/** Records what a change of a listing tells its provider; part of the transaction in which readers see the change. */
export async function recordNotices(
  writing: Writing,
  { id, slug, base_url, revision }: Pick<Listing, 'id' | 'slug' | 'base_url' | 'revision'>,
  notices: readonly Notice[],
): Promise<void> {
  const events = notices.map(({ kind, what }) => {
    return { key: [id, kind, String(revision)], kind, listing: { id, slug }, what };
  });
  if (events.length > 0) await recordEvents(writing, { origin: new URL(base_url).origin, revision }, events);
}

/**
 * Records events to be sent to the webhook of an origin, those that it wants, with the revision that shows them. Events beyond ten a day are only counted:
 * the tenth says that it is the last of its day, and the next one how many were left out.
 */
export async function recordEvents(
  { catalogue, at }: Writing,
  { origin, revision }: { origin: string; revision: number },
  events: readonly NewEvent[],
): Promise<void> {
  const { query } = catalogue;
  const [subscription] = await listSubscriptions(catalogue, [origin]);
  if (subscription?.state !== 'on') return;
  const day = at.slice(0, 10);
  let told = subscription.day === day ? subscription.told : 0;
  let { left_out } = subscription;
  for (const { key, kind, listing, what } of events) {
    if (kind !== 'test' && !subscription.kinds.includes(kind)) continue;
    const id = `event_${getRowKey(origin, ...key)}`;
    if (await query.selectFrom('deliveries').select('id').where('id', '=', id).executeTakeFirst()) continue;
    if (told >= EVENTS_A_DAY) {
      left_out += 1;
      continue;
    }
    told += 1;
    const limit = { ...(left_out > 0 && { left_out }), ...(told === EVENTS_A_DAY && { last_of_day: true }) };
    const data = JSON.stringify({ listing: listing?.id, slug: listing?.slug, revision, what, ...limit });
    left_out = 0;
    const row = { id, origin, kind, at, data, state: 'waiting' as const, attempts: 0, next_at: at };
    await query.insertInto('deliveries').values(row).execute();
  }
  await query.updateTable('subscriptions').set({ day, told, left_out }).where('origin', '=', origin).execute();
}
