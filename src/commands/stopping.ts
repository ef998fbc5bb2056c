import { isRunByNpm } from '../config.ts';
import { EXIT } from './failure.ts';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * A signal that comes again so soon is the same: npm passes on what the terminal has sent to every process;
 * milliseconds.
 */
const ONE_PRESS_MS = 500;

/** How often the parent is looked for, and how long a process whose parent is gone may still take; milliseconds. */
const PARENT_CHECK_MS = 500;
const ORPHAN_MS = 3000;

/**
 * Turns the first SIGINT (Ctrl-C), SIGTERM or SIGHUP into an abort, which long work obeys at its next safe point, and
 * says so through `onSignal`. A second one ends the process at once: every write is a whole transaction, so nothing
 * recorded is lost. The end of the parent aborts as well, and ends the process soon: of a parent that holds a channel
 * to it, or of npm, which passes on SIGINT and SIGTERM alone.
 */
export function listenForStop(process: NodeJS.Process, onSignal: () => void): AbortSignal {
  const stopping = new AbortController();
  let stoppedAt = Number.POSITIVE_INFINITY;
  const stop = () => {
    if (stopping.signal.aborted) return;
    stoppedAt = performance.now();
    stopping.abort();
  };
  for (const name of STOP_SIGNALS) {
    process.on(name, () => {
      if (performance.now() - stoppedAt > ONE_PRESS_MS) process.exit(EXIT.failed);
      if (!stopping.signal.aborted) onSignal();
      stop();
    });
  }
  const endWithParent = () => {
    stop();
    setTimeout(() => process.exit(EXIT.failed), ORPHAN_MS).unref();
  };
  process.once('disconnect', endWithParent);
  if (isRunByNpm()) {
    const parent = process.ppid;
    const watch = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(watch);
      endWithParent();
    }, PARENT_CHECK_MS).unref();
  }
  return stopping.signal;
}
