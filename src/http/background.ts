import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { z } from 'zod';
import { type Config, readEnvironment, withoutPayer } from '../config.ts';
import type { ServiceMetrics } from '../metrics/service.ts';
import { PROJECT_DIR } from '../site/page-code.ts';
import { watchAndRebuild } from '../site/watch.ts';

/**
 * Writes the pages in a child process whenever the catalogue is ahead of them. Gives the function that stops it,
 * which resolves when no child is left. `count` gets the outcome of each try, and how long it took; milliseconds.
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

/** Waits after a process that ended by itself, twice as long each time up to the limit; milliseconds. */
const BACKOFF = { first: 1_000, limit: 60_000 };

/** Longest time for a process to stop; milliseconds. What it recorded is kept whenever it ends. */
const STOP_MS = 3000;

/** A process that runs beside the server. It ends when the channel to its parent does. */
interface Companion {
  /** Name in the log: `probing`. */
  readonly name: string;
  /** Its script, with arguments. */
  readonly command: readonly string[];
  readonly logger: Logger;
  readonly env?: NodeJS.ProcessEnv;
  /** Called with each message of the process, and with undefined once it has ended. */
  readonly onMessage?: (message: unknown) => void;
}

/**
 * Probes what is due while the server runs, in a child process, since the serving process never writes to the catalogue.
 * It is the operator's own command, so that there is one way to probe. Gives the function that stops it, which resolves
 * when no child is left.
 */
export function startProbing(logger: Logger): () => Promise<void> {
  return startCompanion({ name: 'probing', command: ['scripts/catalogue.ts', 'probe', '--watch'], logger });
}

const intakeMessage = z.object({ url: z.url(), outcome: z.string(), ms: z.number() }).partial();

/**
 * Runs the intake in a child process, without settings of a wallet. `getUrl` gives its address while it answers. `count`
 * gets each check that it did or refused.
 */
export function startIntake({ logger, count }: { logger: Logger; count?: ServiceMetrics['countCheck'] | undefined }) {
  let url: string | undefined;
  const stop = startCompanion({
    ...{ name: 'the intake', command: ['scripts/intake.ts'], logger, env: withoutPayer(readEnvironment()) },
    onMessage: (message) => {
      const told = intakeMessage.safeParse(message).data;
      if (told?.outcome === undefined) url = told?.url;
      else count?.(told.outcome, told.ms);
    },
  });
  return { stop, getUrl: () => url };
}

function startCompanion(companion: Companion): () => Promise<void> {
  const stopping = new AbortController();
  const watching = keepRunning(companion, stopping.signal);
  return async () => {
    stopping.abort();
    await watching;
  };
}

/** Resolves once `signal` is aborted and no child is left. */
async function keepRunning({ name, command, logger, env, onMessage }: Companion, signal: AbortSignal): Promise<void> {
  const [script = '', ...args] = command;
  const whole = ['--max-semi-space-size=8', join(PROJECT_DIR, script), ...args];
  for (let backoff = BACKOFF.first; !signal.aborted; backoff = Math.min(backoff * 2, BACKOFF.limit)) {
    const child = spawn(process.execPath, whole, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'], ...(env && { env }) });
    child.on('error', (error) => logger.error({ err: error }, `the process of ${name} cannot be started or reached`));
    child.on('message', (message) => onMessage?.(message));
    const stop = () => {
      child.kill('SIGTERM');
      setTimeout(() => child.kill('SIGKILL'), STOP_MS).unref();
    };
    signal.addEventListener('abort', stop, { once: true });
    logLines(child, logger, name);
    const code = await waitForEnd(child);
    onMessage?.(undefined);
    signal.removeEventListener('abort', stop);
    if (signal.aborted) return;
    logger.error({ code, retry_in_ms: backoff }, `${name} ended by itself`);
    await sleep(backoff, undefined, { signal }).catch(() => undefined);
  }
}

function logLines({ stderr }: { stderr: Readable | null }, logger: Logger, name: string): void {
  if (stderr) createInterface({ input: stderr }).on('line', (line) => logger.info({ text: line }, name));
}

async function waitForEnd(child: ChildProcess): Promise<number | null> {
  // One that could not be started never exits, but it closes.
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.once('close', resolve);
  return promise;
}
