import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { Catalogue } from '../catalogue/database.ts';
import {
  type Delivery,
  listDueDeliveries,
  listDueSubscriptions,
  type Subscription,
} from '../catalogue/read/notices.ts';
import { isOurRound } from '../catalogue/read/rounds.ts';
import { type Writing, writeCatalogue } from '../catalogue/transaction.ts';
import {
  lookAhead,
  recordChallenge,
  recordDelivery,
  recordWebhookKey,
  takeChallenge,
  takeDelivery,
} from '../catalogue/write/subscriptions.ts';
import type { Config } from '../config.ts';
import { getErrorMessage, ServiceError } from '../errors.ts';
import { openGuardedClient } from '../fetching/client.ts';
import { buildUrl, PATHS } from '../views/links.ts';
import { getUserAgent } from '../views/site.ts';
import { openSigner, type Signer } from './signing.ts';
import { postChallenge, postEvent, type Sending } from './webhook.ts';

/** Most webhooks that are written to at once, and most events and challenges that are read at a time. */
const AT_ONCE = 8;
const READ_AT_ONCE = 64;

/** Longest time for sending what is due, in milliseconds. What is left is due the next time. */
const TURN_MS = 20_000;

/** Pause between two looks for what is due, in milliseconds. */
const PAUSE_MS = 5_000;

export interface NotifyOptions {
  readonly config: Pick<Config, 'allowPrivateNetworks' | 'baseUrl' | 'notifyKeyFile'>;
  readonly now: () => Date;
  readonly signal: AbortSignal;
  /** Shows one line to the operator. */
  readonly say: (line: string) => void;
  /** Name of the machine, as probing has it. */
  readonly prober?: string;
}

/**
 * Sends what is due to webhooks until it is stopped, beside the probing of the same process. A failure of our own is shown
 * once, and tried again.
 */
export async function keepNotifying(catalogue: Catalogue, options: NotifyOptions): Promise<void> {
  const { signal } = options;
  let said = '';
  const say = (line: string) => {
    if (line !== said) options.say(line);
    said = line;
  };
  while (!signal.aborted) {
    await notifyDue(catalogue, { ...options, say });
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** Sends what is due to webhooks, for at most 20 seconds. Never throws: a failure of our own is shown. */
export async function notifyDue(catalogue: Catalogue, options: NotifyOptions): Promise<void> {
  const { config, say } = options;
  const { allowPrivateNetworks } = config;
  const client = openGuardedClient({ allowPrivateNetworks, userAgent: getUserAgent(config) });
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(TURN_MS)]);
  try {
    // A webhook that has answered its challenge has a test to get, so all that is due is looked for again.
    while (!signal.aborted && (await sendOnce(catalogue, { ...options, client, signal })) > 0);
  } catch (error) {
    say(`Webhooks could not be written to: ${getErrorMessage(error)}`);
  } finally {
    await client.close();
  }
}

type SendOptions = NotifyOptions & Pick<Sending, 'client'>;

/** Looks once for what is due, and sends it. Returns how much of it was taken. */
async function sendOnce(catalogue: Catalogue, options: SendOptions): Promise<number> {
  const { config, now, signal, client, prober = hostname() } = options;
  const at = now().toISOString();
  const write = <Result>(work: (writing: Writing) => Promise<Result>) =>
    writeCatalogue(catalogue, now().toISOString(), work);
  const due = await listDueSubscriptions(catalogue, at, READ_AT_ONCE);
  for (const { origin } of due.filter(({ state }) => state === 'on')) {
    await write((writing) => lookAhead(writing, origin));
  }
  const asked = due.filter(({ state }) => state === 'asked');
  const deliveries = await listDueDeliveries(catalogue, at, READ_AT_ONCE);
  if (asked.length + deliveries.length === 0) return 0;
  const sending = { client, signal, now, signer: await openPublishedSigner(config.notifyKeyFile, write) };
  // While our own network fails, nobody is blamed.
  const isOurs = await isOurRound(catalogue, prober, at);
  const isCounted = (failure: string | null | undefined): failure is string | null =>
    failure !== undefined && (failure === null || !isOurs || failure.startsWith('status_'));
  const challenge = async (subscription: Subscription) => {
    if (signal.aborted || !(await write((writing) => takeChallenge(writing, subscription)))) return 0;
    const failure = await postChallenge(subscription.webhook, sending);
    if (isCounted(failure)) await write((writing) => recordChallenge(writing, subscription, failure));
    return failure === null ? 1 : 0;
  };
  /** Sends the events of one host in turn, until one is not taken. */
  const deliver = async (events: readonly Delivery[]) => {
    let taken = 0;
    for (const event of events) {
      if (signal.aborted || !(await write((writing) => takeDelivery(writing, event)))) break;
      const failure = await postEvent(event.webhook, buildEvent(event, config), sending);
      if (isCounted(failure)) await write((writing) => recordDelivery(writing, event, failure));
      if (failure !== null) break;
      taken += 1;
    }
    return taken;
  };
  const inTurn = pLimit(AT_ONCE);
  const byOrigin = [...Map.groupBy(deliveries, ({ origin }) => origin).values()];
  const counts = await Promise.all([
    // Events go first, since many hosts can name a webhook that never answers its challenge.
    ...byOrigin.map((events) => inTurn(() => deliver(events))),
    ...asked.map((subscription) => inTurn(() => challenge(subscription))),
  ]);
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Opens the signer whose public key is the published one. Throws `refused` if that is another. */
async function openPublishedSigner(
  file: string,
  write: <Result>(work: (writing: Writing) => Promise<Result>) => Promise<Result>,
): Promise<Signer> {
  const { signer, isNew } = openSigner(file);
  const { publicKey } = signer;
  const published = await write((writing) => recordWebhookKey(writing, publicKey, { isNew }));
  if (published === publicKey) return signer;
  throw new ServiceError('refused', `The key in ${file} is not the published one, ${published}.`, {
    hint: 'Copy the file from the machine that has that key, or move it away: then a new key is made and published.',
    reason: 'other_key',
  });
}

/** Builds an event as it is sent. */
function buildEvent({ id, kind, at, data }: Delivery, { baseUrl }: Pick<Config, 'baseUrl'>) {
  const { listing, slug, ...rest } = JSON.parse(data);
  const places = slug && {
    ...{ listing, slug },
    page: buildUrl(baseUrl, PATHS.listing(slug)),
    json: buildUrl(baseUrl, PATHS.agentListing(slug)),
  };
  return { id, type: kind, timestamp: at, data: { ...places, ...rest } };
}
