import { z } from 'zod';
import type { Catalogue } from '../catalogue/database.ts';
import { acquireLock, type Lock } from '../catalogue/lock.ts';
import { refuseKeys } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { isConclusive, isPayable, type ProbeOutcome, probeOutcome } from '../model/probe.ts';
import { listSubmitted, type ProbeReport, type ProbeSelection, runProbing } from '../probing/run.ts';
import { watchProbes } from '../probing/watch.ts';
import { type Command, type CommandContext, defineCommand } from './command.ts';
import { getListing, withWritableCatalogue } from './open-catalogue.ts';
import type { Page } from './terminal/page.ts';
import { openProgress } from './terminal/progress.ts';

const integer = (least: number, most: number) =>
  z.coerce
    .number(`a number from ${least} to ${most}`)
    .int()
    .min(least, `at least ${least}`)
    .max(most, `at most ${most}`);

const input = z
  .object({
    slug: z.array(z.string().min(1)).default([]),
    all: z.boolean().default(false),
    due: z.boolean().default(false),
    again: z.boolean().default(false),
    watch: z.boolean().default(false),
    atOnce: integer(1, 256).default(16),
    pause: integer(0, 60_000).default(1000),
    timeout: integer(100, 60_000).default(15_000),
  })
  .refine(
    ({ slug, all, due }) => [slug.length > 0, all, due].filter(Boolean).length <= 1,
    'Give slugs, or --all, or --due: one of them.',
  )
  .refine(
    ({ watch, slug, all }) => !watch || (slug.length === 0 && !all),
    '--watch probes what is due, and nothing else.',
  )
  .refine(({ again, all }) => !again || all, '--again starts a new pass, so it goes with --all.');
type Input = z.infer<typeof input>;

export const probe: Command = defineCommand({
  summary: 'Ask listed routes what they cost, without paying, and publish what their 402 answers mean',
  details:
    'Without slugs, one route of every listing that is due: each listing is probed once in six hours, its routes ' +
    'in turn. --all probes every route of every listing; after a stop or a crash the same command continues where ' +
    'it was, within a day. --watch keeps probing what becomes due.\n\n' +
    'Each host gets one request at a time, with a pause; robots.txt and Retry-After are obeyed. Samples are ' +
    'recorded at once, and what they mean for readers (terms, networks, prices, scores, delistings) is published ' +
    'in batches.\n\n' +
    'Hosts that were submitted to the intake (SUBMISSIONS) and have their file are read, too, and their new listings are ' +
    'due at once.\n\n' +
    "Before its routes, a host is asked for its provider's file, /.well-known/agent-payable.json: always if you " +
    'name a listing, otherwise if the last reading is older than an hour.',
  arguments: [['[slug...]', 'the listings to probe; without any, what is due']],
  options: [
    ['--all', 'every route of every listing'],
    ['--due', 'one route of every listing that is due (the default)'],
    ['--again', 'with --all: from the beginning, even if a pass is unfinished'],
    ['--watch', 'keep probing what becomes due until stopped'],
    ['--at-once <n>', 'concurrent requests over all hosts (16)'],
    ['--pause <ms>', 'pause between two requests to one host (1000)'],
    ['--timeout <ms>', 'time for one request (15000)'],
  ],
  examples: [
    ['probe', 'what is due'],
    ['probe example-prices', 'every route of one listing, now'],
    ['probe --all --at-once 32', 'everything'],
  ],
  input,
  run: (given, context) => {
    refuseKeys();
    return withWritableCatalogue(context, { create: false }, (catalogue) => probeCatalogue(catalogue, given, context));
  },
  render: renderProbes,
  isDone: ({ complete, scope, routes }) => complete && (scope === 'due' || routes.put_off === 0),
});

async function probeCatalogue(catalogue: Catalogue, given: Input, context: CommandContext): Promise<ProbeReport> {
  const { now, signal, stderr } = context;
  for (const slug of given.slug) await getListing(catalogue, slug);
  const progress = openProgress(stderr, 'Probing', 'routes');
  const { atOnce, pause: pauseMs, timeout: timeoutMs } = given;
  const shared = { config: context.getConfig(), now, signal, random: Math.random, atOnce, pauseMs, timeoutMs };
  const options = { ...shared, onProgress: progress.update };
  const runAlone = async (wanted: ProbeSelection) => {
    // Probers of a catalogue in PostgreSQL share the work by their leases of hosts.
    const lock =
      catalogue.engine.name === 'sqlite'
        ? await waitForLock(`${catalogue.address}.probing`, progress.note, signal)
        : undefined;
    try {
      return await runProbing(catalogue, wanted, options);
    } finally {
      progress.stop();
      lock?.release();
    }
  };
  if (given.watch) {
    const watched = {
      now,
      signal,
      run: () => runAlone({ kind: 'due' }),
      say: progress.note,
      hasArrived: async () => (await listSubmitted(catalogue, shared.config, now())).length > 0,
    };
    return watchProbes(catalogue, watched);
  }
  const run = () => {
    if (given.all) return runAlone({ kind: 'all', again: given.again });
    // A probe of chosen listings does not wait for a run over all listings.
    if (given.slug.length === 0) return runAlone({ kind: 'due' });
    return runProbing(catalogue, { kind: 'chosen', slugs: given.slug }, options).finally(progress.stop);
  };
  return run();
}

/** Waits for the end of another run, because two runs could send concurrent requests to one host. */
async function waitForLock(file: string, note: (text: string) => void, signal: AbortSignal): Promise<Lock> {
  const say = () => note('Another probe run is using this catalogue; waiting for its end.');
  try {
    return await acquireLock(file, say, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new ServiceError('conflict', 'Another probe run is active, and this one was stopped before its turn.', {
      hint: 'Nothing was probed. The same command starts when the other run is done.',
      reason: 'stopped',
    });
  }
}

function renderProbes(report: ProbeReport, page: Page): void {
  const { routes, outcomes, listings, statements, revision } = report;
  page.facts([
    ['probed', `${routes.probed} routes on ${report.hosts} hosts`],
    ...(routes.done_before > 0 ? [['before', `${routes.done_before} routes, by an earlier run`] as const] : []),
    ...(routes.put_off > 0
      ? [
          [
            'put off',
            `${routes.put_off} routes, because their hosts asked for a wait, or another prober is at them`,
          ] as const,
        ]
      : []),
    ['listings', `${listings.changed} changed, ${listings.delisted} delisted, ${listings.relisted} put back`],
    ...(statements.stated > 0
      ? [['statements', `of ${statements.stated} providers, by which ${statements.changed} listings changed`] as const]
      : []),
    [
      'revision',
      revision.before === revision.after ? `${revision.after}, as before` : `${revision.before} → ${revision.after}`,
    ],
    ['took', `${(report.took_ms / 1000).toFixed(1)} s`],
  ]);
  const rows = Object.entries(outcomes).sort(([, a], [, b]) => b - a);
  if (rows.length > 0) {
    page.blank();
    page.table(
      [{ heading: 'routes', align: 'right' }, { heading: 'outcome' }, { heading: 'counts as' }],
      rows.map(([outcome, count]) => [count, outcome, describeWeight(probeOutcome.parse(outcome))]),
      2,
    );
  }
  if (report.fault_is_ours && routes.probed > 0) {
    page.blank();
    page.say('So many hosts failed together that the fault is probably ours: no failure of this round counts.');
  }
  if (!report.complete) {
    page.blank();
    page.say('Stopped before the end. The same command continues where it was.');
  }
}

function describeWeight(outcome: ProbeOutcome): string {
  if (isPayable(outcome)) return 'a valid 402';
  return isConclusive(outcome) ? 'a failure' : 'neither: it says nothing about the route';
}
