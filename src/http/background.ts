import { type ChildProcess, fork, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { z } from 'zod';
import { type Config, readEnvironment, withoutSecrets } from '../config.ts';
import type { ServiceMetrics } from '../metrics/service.ts';
import { PROJECT_DIR } from '../site/page-code.ts';
import { watchAndRebuild } from '../site/watch.ts';
import { tryReadQueue } from '../submissions/queue.ts';

const INTAKE_PROCESS = join(import.meta.dirname, '../intake/process.ts');

/**
 * Writes the pages in a child process whenever the catalogue is ahead of them. Returns the function that stops it, which resolves
 * when no child is left. `count` gets the outcome of each try and its time in milliseconds.
 */
export function startRebuilding({
  config,
  logger,
  count,
}: {
  config: Config;
  logger: Logger;
  count?: ServiceMetrics['countRebuild'] | undefined;
}): () => Promise<void> {
  const stopping = new AbortController();
  const watching = watchAndRebuild({
    config,
    signal: stopping.signal,
    onEvent: (event) => {
      if (event.type === 'said') logger.warn({ text: event.text.trim() }, 'the rebuild said');
      else if (event.type !== 'rendering') logger.info(event, 'rebuild');
    },
    onResult: (result) => {
      count?.(result.outcome, result.outcome === 'written' ? result.ms : undefined);
      const { outcome, site, ...figures } = result;
      logger.info({ outcome, revision: site.revision, ...figures }, 'rebuilt');
    },
    onFailure: ({ message, reason, hint, details }, retryInMs) => {
      count?.('failed');
      logger.error({ reason, hint, details, retry_in_ms: retryInMs }, `rebuild failed: ${message}`);
    },
    onYield: ({ message, reason, hint }) => logger.warn({ reason, hint }, message),
  }).catch((error: unknown) => logger.error({ err: error }, 'rebuilding ended'));
  return async () => {
    stopping.abort();
    await watching;
  };
}

/** First and longest wait after a prober ended by itself, in milliseconds; it doubles each time. */
const BACKOFF = { first: 1_000, limit: 60_000 };

/** Longest time for a process to stop, in milliseconds. What it has recorded stays, however it ends. */
const STOP_MS = 3000;

/** The flags of `npm start`. Without them a process uses half as much memory again. */
const FLAGS = ['--max-semi-space-size=8'];

/**
 * Probes due routes while the server runs, in a child process, since the serving process never writes to the catalogue. The child
 * runs the operator's own command, and is started again if it ends by itself. Returns the function that stops it, which resolves
 * when no child is left.
 */
export function startProbing(logger: Logger): () => Promise<void> {
  const stopping = new AbortController();
  const watching = keepProbing(logger, stopping.signal);
  return async () => {
    stopping.abort();
    await watching;
  };
}

async function keepProbing(logger: Logger, signal: AbortSignal): Promise<void> {
  const command = [...FLAGS, join(PROJECT_DIR, 'scripts/catalogue.ts'), 'probe', '--watch'];
  for (let backoff = BACKOFF.first; !signal.aborted; backoff = Math.min(backoff * 2, BACKOFF.limit)) {
    const child = spawn(process.execPath, command, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    const ended = follow(child, logger, 'probing');
    const stop = () => end(child);
    signal.addEventListener('abort', stop, { once: true });
    const code = await ended;
    signal.removeEventListener('abort', stop);
    if (signal.aborted) return;
    logger.error({ code, retry_in_ms: backoff }, 'probing ended by itself');
    await sleep(backoff, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * The only message to the intake: its settings, without the address of the catalogue, and the key with which it hashes clients'
 * addresses.
 */
export interface IntakeRequest {
  readonly config: Omit<Config, 'catalogueAddress'>;
  readonly key: string;
}

/**
 * A message of the intake, of one of four kinds: its URL; a check that ended or was refused, with its time in milliseconds; idle;
 * a fault.
 */
const intakeMessage = z
  .object({
    url: z.string().regex(/^http:\/\/127\.0\.0\.1:\d+$/),
    outcome: z.enum(['done', 'bad_address', 'rate_limited', 'domain_limit', 'domain_busy', 'queue_full']),
    ms: z.number(),
    idle: z.literal(true),
    fault: z.string(),
  })
  .partial();
export type IntakeMessage = z.infer<typeof intakeMessage>;

/** Longest time for the intake to start, and pause after it ended by itself, in milliseconds. */
const START_MS = 15_000;
const PAUSE_MS = 5_000;

/** The intake reads documents of strangers, which may take much memory. Its own limit ends it before other processes run out. */
const INTAKE_FLAGS = [...FLAGS, '--max-old-space-size=384'];

/**
 * Calls `work` with the URL of the intake, which keeps running until `work` has ended. The URL is undefined if the intake cannot
 * be reached.
 */
export type UseIntake = <Result>(work: (url: string | undefined) => Promise<Result>) => Promise<Result>;

/**
 * Runs the intake in a child process from its first use until it has been idle for ten minutes. The process gets neither the
 * address of the catalogue nor settings of a wallet. `count` gets each check that it did or refused. `stop` resolves when no
 * child is left.
 */
export function openIntake({
  config: { catalogueAddress: _, ...config },
  logger,
  count,
}: {
  config: Config;
  logger: Logger;
  count?: ServiceMetrics['countCheck'] | undefined;
}): { use: UseIntake; stop: () => Promise<void> } {
  const key = randomBytes(32).toString('base64url');
  const children = new Map<ChildProcess, Promise<unknown>>();
  let current: { child: ChildProcess; url: Promise<string | undefined> } | undefined;
  let uses = 0;
  let pausedUntil = 0;

  const release = () => {
    if (current) end(current.child);
    current = undefined;
  };

  const start = () => {
    const child = fork(INTAKE_PROCESS, {
      execArgv: INTAKE_FLAGS,
      env: withoutSecrets(readEnvironment()),
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const { promise: url, resolve } = Promise.withResolvers<string | undefined>();
    const late = setTimeout(() => end(child), START_MS);
    const ended = follow(child, logger, 'the intake').then((code) => {
      clearTimeout(late);
      resolve(undefined);
      children.delete(child);
      // The child was ended on purpose.
      if (current?.child !== child) return;
      current = undefined;
      pausedUntil = performance.now() + PAUSE_MS;
      logger.error({ code }, 'the intake ended by itself');
      setTimeout(startForReceived, PAUSE_MS).unref();
    });
    children.set(child, ended);
    child.on('message', (sent) => {
      const { url: address, outcome, ms, idle, fault } = intakeMessage.safeParse(sent).data ?? {};
      if (address !== undefined) {
        clearTimeout(late);
        resolve(address);
      }
      if (outcome !== undefined) count?.(outcome, ms);
      if (fault !== undefined) logger.error({ text: fault }, 'the intake failed');
      if (idle && uses === 0 && current?.child === child) release();
    });
    // A process that could not be started has no channel.
    child.send?.({ config, key } satisfies IntakeRequest);
    return { child, url };
  };

  /** Starts the intake if a submission waits for its outcome, which only the intake can find. */
  const startForReceived = () => {
    const received = tryReadQueue(config.submissionsFile, (queue) => queue.listWaiting(1));
    if (received.length > 0 && performance.now() >= pausedUntil) current ??= start();
  };
  startForReceived();

  return {
    async use(work) {
      uses += 1;
      try {
        if (!current && performance.now() >= pausedUntil) current = start();
        return await work(await current?.url);
      } finally {
        uses -= 1;
      }
    },
    async stop() {
      pausedUntil = Number.POSITIVE_INFINITY;
      release();
      await Promise.all(children.values());
    },
  };
}

/** Ends a process: asks it to stop, and kills it after `STOP_MS`. */
function end(child: ChildProcess): void {
  child.kill('SIGTERM');
  setTimeout(() => child.kill('SIGKILL'), STOP_MS).unref();
}

/** Logs the error output of a process. Returns its exit code once it has ended; null if a signal ended it. */
async function follow(child: ChildProcess, logger: Logger, name: string): Promise<number | null> {
  child.on('error', (error) => logger.error({ err: error }, `the process of ${name} cannot be started or reached`));
  if (child.stderr) createInterface({ input: child.stderr }).on('line', (line) => logger.info({ text: line }, name));
  // A process that could not be started never exits, but it closes.
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.once('close', resolve);
  // A process that the system has no room for does not even close.
  child.once('error', () => child.pid === undefined && resolve(null));
  return promise;
}
