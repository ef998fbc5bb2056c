import { listEndingProofs } from '../../evidence/notices.ts';
import type { StatedNotify } from '../../model/notice.ts';
import type { Catalogue } from '../database.ts';
import { parseListing } from '../read/listings.ts';
import { type Delivery, listSubscriptions, type Subscription } from '../read/notices.ts';
import type { SubscriptionsTable } from '../tables.ts';
import type { Writing } from '../transaction.ts';
import { recordEvents } from './notices.ts';
import { publishListings } from './publication.ts';

/**
 * Pauses before an event that was not taken is sent again, in milliseconds. After the last of these attempts the webhook
 * is off.
 */
const RETRY_MS = [1, 5, 30, 120, 480].map((minutes) => minutes * 60_000);

/** Time for which an event, or a challenge, is the sender's that took it, in milliseconds: longer than sending takes. */
const LEASE_MS = 60_000;

/** Time between two looks at the proofs of a host, in milliseconds. */
const LOOK_MS = 60 * 60_000;

/** Time for which the outcome of an event is kept, in milliseconds. */
const KEPT_MS = 30 * 24 * 60 * 60_000;

function add(at: string, ms: number): string {
  return new Date(Date.parse(at) + ms).toISOString();
}

/** Returns whether a stated subscription is on record already. One that failed its challenge is not, since it gets another. */
export async function isNotifyOnRecord(
  catalogue: Catalogue,
  origin: string,
  stated: StatedNotify | null,
): Promise<boolean> {
  const [recorded] = await listSubscriptions(catalogue, [origin]);
  return recorded ? stated !== null && isSame(recorded, stated) && recorded.state !== 'refused' : stated === null;
}

function isSame({ webhook, kinds, test }: Subscription, stated: StatedNotify): boolean {
  return webhook === stated.webhook && test === stated.test && kinds.join() === stated.on.join();
}

/**
 * Records what a provider's file asks to be told; null ends it. A new webhook is asked by a challenge first, and so is one
 * that was off or failed the challenge before.
 */
export async function recordNotify(writing: Writing, origin: string, stated: StatedNotify | null): Promise<void> {
  const { catalogue, at } = writing;
  const { query } = catalogue;
  const [recorded] = await listSubscriptions(catalogue, [origin]);
  // Events for another address are dropped.
  if (recorded?.webhook !== stated?.webhook)
    await query.deleteFrom('deliveries').where('origin', '=', origin).execute();
  if (!stated) {
    await query.deleteFrom('subscriptions').where('origin', '=', origin).execute();
  } else {
    const isOn = recorded?.state === 'on' && recorded.webhook === stated.webhook;
    const wish = { webhook: stated.webhook, kinds: JSON.stringify(stated.on), test: stated.test, next_at: at };
    const asked = { ...wish, ...(!isOn && { state: 'asked' as const, since: at, reason: null }) };
    const counts = { day: '', told: 0, left_out: 0 };
    const row = { origin, tested: null, state: 'asked' as const, since: at, reason: null, proofs_at: at, ...counts };
    await query
      .insertInto('subscriptions')
      .values({ ...row, ...asked })
      .onConflict((conflict) => conflict.column('origin').doUpdateSet(asked))
      .execute();
  }
  if (recorded?.state === 'off') await publishOrigin(writing, origin);
}

/** Sets how a subscription stands after a challenge or an event, and why. Readers see where a webhook is off. */
async function setState(
  writing: Writing,
  origin: string,
  state: SubscriptionsTable['state'],
  reason: string | null,
): Promise<void> {
  const { catalogue, at } = writing;
  const { query } = catalogue;
  const set = { state, reason, since: at, next_at: at, ...(state === 'on' && { proofs_at: at }) };
  await query.updateTable('subscriptions').set(set).where('origin', '=', origin).execute();
  if (state !== 'off') return;
  const waiting = query.updateTable('deliveries').set({ state: 'failed' }).where('origin', '=', origin);
  await waiting.where('state', '=', 'waiting').execute();
  await publishOrigin(writing, origin);
}

async function publishOrigin(writing: Writing, origin: string): Promise<void> {
  const { query } = writing.catalogue;
  const listings = query.selectFrom('listings').select(['id', 'slug', 'base_url']).where('origin', '=', origin);
  const published = await listings.orderBy('slug').execute();
  await publishListings(
    writing,
    published.map((identity) => ({ identity, cause: 'webhook_state' })),
  );
}

/** Takes the challenge of a subscription for this sender, for a minute. Returns whether nobody else has taken it meanwhile. */
export async function takeChallenge(
  { catalogue: { query }, at }: Writing,
  { origin, next_at }: Subscription,
): Promise<boolean> {
  const taken = await query
    .updateTable('subscriptions')
    .set({ next_at: add(at, LEASE_MS) })
    .where('origin', '=', origin)
    .where('state', '=', 'asked')
    .where('next_at', '=', next_at)
    .returning('origin')
    .executeTakeFirst();
  return taken !== undefined;
}

/** Records the result of a challenge, unless the provider's file has changed since it was taken. */
export async function recordChallenge(
  writing: Writing,
  { origin, webhook }: Subscription,
  failure: string | null,
): Promise<void> {
  const [recorded] = await listSubscriptions(writing.catalogue, [origin]);
  if (recorded?.state !== 'asked' || recorded.webhook !== webhook) return;
  await setState(writing, origin, failure === null ? 'on' : 'refused', failure);
}

/** Records the events that follow from time alone: a test that the provider's file asks for, and proofs near their end. */
export async function lookAhead(writing: Writing, origin: string): Promise<void> {
  const { catalogue, at } = writing;
  const { query } = catalogue;
  const [subscription] = await listSubscriptions(catalogue, [origin]);
  // Another sender may have done it meanwhile.
  if (subscription?.state !== 'on' || subscription.next_at > at) return;
  const { test, tested, proofs_at } = subscription;
  // Nothing that readers see changes here.
  const of = { origin, revision: writing.revision - 1 };
  if (test !== null && test !== tested) {
    await recordEvents(writing, of, [{ key: ['test', test, at], kind: 'test', what: { test } }]);
  }
  const rows = await query
    .selectFrom('listings')
    .select('document')
    .where('origin', '=', origin)
    .where('state', '=', 'live')
    .orderBy('slug')
    .execute();
  for (const listing of rows.flatMap(({ document }) => parseListing(document) ?? [])) {
    const ending = listEndingProofs(listing, proofs_at, at);
    await recordEvents(
      writing,
      of,
      ending.map(({ kind, what, receipt_id }) => ({ key: [listing.id, kind, receipt_id], kind, listing, what })),
    );
  }
  const looked = { tested: test, proofs_at: at, next_at: add(at, LOOK_MS) };
  await query.updateTable('subscriptions').set(looked).where('origin', '=', origin).execute();
  const old = query.deleteFrom('deliveries').where('origin', '=', origin).where('state', '!=', 'waiting');
  await old.where('at', '<', add(at, -KEPT_MS)).execute();
}

/** Takes an event for this sender, for a minute. Returns whether nobody else has taken it meanwhile. */
export async function takeDelivery({ catalogue: { query }, at }: Writing, { id, next_at }: Delivery): Promise<boolean> {
  const taken = await query
    .updateTable('deliveries')
    .set({ next_at: add(at, LEASE_MS) })
    .where('id', '=', id)
    .where('state', '=', 'waiting')
    .where('next_at', '=', next_at)
    .returning('id')
    .executeTakeFirst();
  return taken !== undefined;
}

/** Records that an event was taken by its webhook, or why not. A webhook that says it is gone, or failed too often, is off. */
export async function recordDelivery(
  writing: Writing,
  { id, origin, attempts }: Delivery,
  failure: string | null,
): Promise<void> {
  const { catalogue, at } = writing;
  const sent = catalogue.query.updateTable('deliveries').where('id', '=', id).where('state', '=', 'waiting');
  const pauseMs = RETRY_MS[attempts];
  if (failure === null) {
    await sent.set({ state: 'delivered', attempts: attempts + 1 }).execute();
  } else if (pauseMs !== undefined && failure !== GONE) {
    await sent.set({ attempts: attempts + 1, next_at: add(at, pauseMs) }).execute();
  } else {
    await sent.set({ state: 'failed', attempts: attempts + 1 }).execute();
    const [subscription] = await listSubscriptions(catalogue, [origin]);
    if (subscription?.state === 'on') await setState(writing, origin, 'off', failure);
  }
}

/** The failure of a webhook that wants no more events (Standard Webhooks, "Webhook consumer"). */
const GONE = 'status_410';

/**
 * Makes a public key the one that events are signed with from now on. Returns the one on record: another one, unless `isNew`
 * or there was none.
 */
export async function recordWebhookKey(writing: Writing, key: string, { isNew }: { isNew: boolean }): Promise<string> {
  const { query } = writing.catalogue;
  const { webhook_key } = await query.selectFrom('catalogue').select('webhook_key').executeTakeFirstOrThrow();
  if (webhook_key === key || (webhook_key !== null && !isNew)) return webhook_key;
  await query.updateTable('catalogue').set({ webhook_key: key }).execute();
  writing.raiseRevision();
  return key;
}
