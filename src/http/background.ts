import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { ServiceMetrics } from '../metrics/service.ts';
import { PROJECT_DIR } from '../site/page-code.ts';
import { watchAndRebuild } from '../site/watch.ts';
import { endChild, FLAGS, followChild } from './child-process.ts';

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
    const ended = followChild(child, logger, 'probing');
    const stop = () => endChild(child);
    signal.addEventListener('abort', stop, { once: true });
    const code = await ended;
    signal.removeEventListener('abort', stop);
    if (signal.aborted) return;
    logger.error({ code, retry_in_ms: backoff }, 'probing ended by itself');
    await sleep(backoff, undefined, { signal }).catch(() => undefined);
  }
}
