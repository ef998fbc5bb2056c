import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { ServiceMetrics } from '../metrics/service.ts';
import { PROJECT_DIR } from '../release/page-code.ts';
import { watchAndRebuild } from '../release/watch.ts';

/**
 * Makes a release in a child process whenever the catalogue is ahead of the current one. Gives the function that stops it,
 * which resolves when no child is left. `count` gets the outcome of each try, and how long it took; milliseconds.
 */
export function startRebuilding({
  config,
  logger,
  onRelease,
  count,
}: {
  config: Config;
  logger: Logger;
  onRelease: () => void;
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
      onRelease();
      count?.(result.outcome, result.outcome === 'released' ? result.ms : undefined);
      const { outcome, release, ...figures } = result;
      logger.info({ outcome, release: release.id, revision: release.revision, ...figures }, 'rebuilt');
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

/** Waits after a probing process that ended by itself, twice as long each time up to the limit; milliseconds. */
const BACKOFF = { first: 1_000, limit: 60_000 };

/** Longest time for a probing process to stop; milliseconds. What it recorded is kept whenever it ends. */
const STOP_MS = 3000;

/** The operator's own command, so that there is one way to probe. It ends when the channel to its parent does. */
const COMMAND = ['--max-semi-space-size=8', join(PROJECT_DIR, 'scripts/catalogue.ts'), 'probe', '--watch'];

/**
 * Probes what is due while the server runs, in a child process, since the serving process never writes to the catalogue.
 * Gives the function that stops it, which resolves when no child is left.
 */
export function startProbing(logger: Logger): () => Promise<void> {
  const stopping = new AbortController();
  const watching = keepProbing(logger, stopping.signal);
  return async () => {
    stopping.abort();
    await watching;
  };
}

/** Resolves once `signal` is aborted and no child is left. */
async function keepProbing(logger: Logger, signal: AbortSignal): Promise<void> {
  for (let backoff = BACKOFF.first; !signal.aborted; backoff = Math.min(backoff * 2, BACKOFF.limit)) {
    const child = spawn(process.execPath, COMMAND, { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    child.on('error', (error) => logger.error({ err: error }, 'the probing process cannot be started or reached'));
    const stop = () => {
      child.kill('SIGTERM');
      setTimeout(() => child.kill('SIGKILL'), STOP_MS).unref();
    };
    signal.addEventListener('abort', stop, { once: true });
    logLines(child, logger);
    const code = await waitForEnd(child);
    signal.removeEventListener('abort', stop);
    if (signal.aborted) return;
    logger.error({ code, retry_in_ms: backoff }, 'probing ended by itself');
    await sleep(backoff, undefined, { signal }).catch(() => undefined);
  }
}

function logLines({ stderr }: { stderr: Readable | null }, logger: Logger): void {
  if (stderr) createInterface({ input: stderr }).on('line', (line) => logger.info({ text: line }, 'probing'));
}

async function waitForEnd(child: ChildProcess): Promise<number | null> {
  // One that could not be started never exits, but it closes.
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.once('close', resolve);
  return promise;
}
