import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { ServiceMetrics } from '../metrics/service.ts';
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
