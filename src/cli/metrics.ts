import { z } from 'zod';
import type { Catalogue } from '../catalogue/database.ts';
import { countFuture } from '../catalogue/integrity.ts';
import { countListings, countPayments, countRecentProbes, getProbingState } from '../catalogue/read/counts.ts';
import { listFeedStates } from '../catalogue/read/pulls.ts';
import { getCatalogueState } from '../catalogue/transaction.ts';
import { countSpent } from '../catalogue/write/payments.ts';
import { findDayCap, refuseKeys } from '../config.ts';
import { getErrorMessage, ServiceError } from '../errors.ts';
import { type Figure, formatFigures } from '../metrics/figures.ts';
import { openMetricsListener } from '../metrics/listener.ts';
import { getUsdcNumber } from '../model/usdc.ts';
import { type QueueCounts, readQueue } from '../submissions/queue.ts';
import { type Command, type CommandContext, defineCommand } from './command.ts';
import { withReadableCatalogue } from './open-catalogue.ts';

export const metrics: Command = defineCommand({
  summary: 'Write the figures of the catalogue that only its operator sees, for Prometheus',
  details:
    'Probes by outcome, money spent and left, open payments, feeds: what servers do not know, since they read nothing ' +
    'private. With --serve they are served at METRICS_HOST and METRICS_PORT until stopped, and read again for each request; ' +
    'one such process is enough for a catalogue, however many servers follow it.\n\n' +
    'What is left of the day under its cap is only known where MAX_USDC_PER_DAY is set in the environment or in .env: ' +
    'this command does not read .env.payer.',
  options: [['--serve', 'serve them until stopped']],
  examples: [
    ['metrics', 'once, to standard output'],
    ['metrics --serve', 'for Prometheus to fetch'],
  ],
  input: z.object({ serve: z.boolean().default(false) }),
  run: async ({ serve }, context) => {
    refuseKeys();
    if (serve) return serveFigures(context);
    const figures = await readFigures(context);
    if (context.json) return figures;
    context.stdout.write(await formatFigures(figures));
    return undefined;
  },
  // The output without --json is written already.
  render: () => undefined,
});

/** Serves the figures until it is stopped. A catalogue that cannot be read is a figure, too. */
async function serveFigures(context: CommandContext): Promise<undefined> {
  const { metrics: address } = context.getConfig();
  if (!address) {
    throw new ServiceError('bad_input', 'METRICS_PORT is not set, so there is no address to serve metrics at.', {
      hint: 'Set METRICS_PORT, or leave out --serve to write the metrics once.',
      reason: 'bad_setting',
    });
  }
  const say = (line: string) => context.stderr.write(`${line}\n`);
  let failure: string | undefined;
  const read = async () => {
    try {
      const figures = await readFigures(context);
      failure = undefined;
      return figures;
    } catch (error) {
      const message = getErrorMessage(error);
      if (message !== failure) say(`The catalogue cannot be read: ${message}`);
      failure = message;
      return [buildUp(false)];
    }
  };
  let reading: Promise<string> | undefined;
  // Requests that come while it is read get the same answer.
  const readMetrics = () => {
    reading ??= read()
      .then(formatFigures)
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };
  const listener = await openMetricsListener(address, {
    readMetrics,
    onError: (error) => say(`The metrics cannot be written: ${getErrorMessage(error)}`),
  });
  say(`Serving metrics at ${listener.url}. Ctrl-C ends it.`);
  if (!context.signal.aborted) {
    await new Promise<void>((resolve) => context.signal.addEventListener('abort', () => resolve(), { once: true }));
  }
  await listener.close();
  return undefined;
}

function readFigures(context: CommandContext): Promise<Figure[]> {
  const at = context.now().toISOString();
  const dayCap = findDayCap();
  const { submissionsFile } = context.getConfig();
  return withReadableCatalogue(context, async (catalogue) => [
    ...(await buildFigures(catalogue, at, dayCap)),
    ...buildQueueFigures(
      readQueue(submissionsFile, (queue) => queue.count()),
      at,
    ),
  ]);
}

/** Builds the figures at a time, ISO 8601 UTC. `dayCap` is in atomic USDC. */
async function buildFigures(catalogue: Catalogue, at: string, dayCap: number | undefined): Promise<Figure[]> {
  const state = await getCatalogueState(catalogue);
  const listings = await countListings(catalogue);
  const probing = await getProbingState(catalogue, at);
  const probes = await countRecentProbes(catalogue, at);
  const { spent: settledAmount, still_counted: _, ...payments } = await countPayments(catalogue);
  const spent = await countSpent(catalogue, at);
  const feeds = await listFeedStates(catalogue, at);
  return [
    buildUp(true),
    build('catalogue_revision', 'The latest revision of the catalogue', state.revision),
    build('catalogue_revised_timestamp_seconds', 'When it was made', getSeconds(state.revised_at)),
    build(
      'catalogue_revisions_in_future',
      'Revisions that a clock dated in the future; the command check says what to do',
      (await countFuture(catalogue, at)).count,
    ),
    buildEach('catalogue_listings', 'Listings by state; verified: of the live ones', 'state', { ...listings }),
    build(
      'catalogue_listings_due',
      'Listings whose next probe is due, or whose first one has been for a day',
      probing.due,
    ),
    build('catalogue_listings_never_probed', 'Live listings that were never probed', probing.never_probed),
    ...(probing.last_sample_at === null
      ? []
      : [
          build(
            'catalogue_probe_last_timestamp_seconds',
            'When the latest probe was',
            getSeconds(probing.last_sample_at),
          ),
        ]),
    buildEach('catalogue_probes_recent', 'Probes of the last 18 to 24 hours by outcome', 'outcome', probes),
    buildEach('catalogue_payments', 'Payments by what became of them', 'state', { ...payments }),
    build('catalogue_settled_usdc', 'What all settled payments cost', getUsdcNumber(settledAmount)),
    build(
      'catalogue_day_spent_usdc',
      'What the payments of this UTC day cost, those included that may yet settle, and for a day those of which one node alone denies it',
      getUsdcNumber(spent),
    ),
    ...(dayCap === undefined
      ? []
      : [
          build('catalogue_day_cap_usdc', 'What a day may cost', getUsdcNumber(dayCap)),
          build('catalogue_day_left_usdc', 'What is left of it', getUsdcNumber(Math.max(0, dayCap - spent))),
        ]),
    buildEach(
      'catalogue_feed_completed_timestamp_seconds',
      'When a feed was last read to its end',
      'feed',
      Object.fromEntries(
        feeds.flatMap(({ feed, completed_at }) => (completed_at ? [[feed, getSeconds(completed_at)]] : [])),
      ),
    ),
    buildEach(
      'catalogue_feed_failing',
      '1 for a feed whose last reading failed',
      'feed',
      Object.fromEntries(feeds.map(({ feed, failure }) => [feed, Number(failure !== null)])),
    ),
  ];
}

/** Builds the figures of the queue of the intake at a time, ISO 8601 UTC; without an intake it is empty. */
function buildQueueFigures(counts: QueueCounts | undefined, at: string): Figure[] {
  const oldest = counts?.oldest_received_at ?? at;
  return [
    buildEach('catalogue_submissions', 'Submissions of 30 days by state', 'state', counts?.submissions ?? {}),
    build(
      'catalogue_submission_waiting_seconds',
      'For how long the submission waits that has waited longest to be read',
      getSeconds(at) - getSeconds(oldest),
    ),
  ];
}

function buildUp(isUp: boolean): Figure {
  return build('catalogue_up', '1 if the catalogue could be read', Number(isUp));
}

function build(name: string, help: string, value: number): Figure {
  return { name, help, values: [{ labels: {}, value }] };
}

function buildEach(name: string, help: string, label: string, counts: Readonly<Record<string, number>>): Figure {
  return { name, help, values: Object.entries(counts).map(([key, value]) => ({ labels: { [label]: key }, value })) };
}

function getSeconds(at: string): number {
  return Date.parse(at) / 1000;
}
