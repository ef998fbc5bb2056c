import type { Output } from './terminal/page.ts';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Turns the first Ctrl-C (or SIGTERM) into an abort, which long work obeys at its next safe point. A second one ends the
 * process at once, as it would have without this: every write is a whole transaction, so nothing recorded is lost. The
 * end of a parent that holds a channel to the process aborts as well.
 */
export function listenForStop(process: NodeJS.EventEmitter, stderr: Output): AbortSignal {
  const stopping = new AbortController();
  process.once('disconnect', () => stopping.abort());
  for (const name of STOP_SIGNALS) {
    process.once(name, () => {
      if (!stopping.signal.aborted) stderr.write('\nStopping at the next safe point; once more stops at once.\n');
      stopping.abort();
    });
  }
  return stopping.signal;
}
