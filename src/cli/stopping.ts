import { isRunByNpm } from '../config.ts';
import { EXIT } from './failure.ts';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Time within which a repeated signal is the same one, in milliseconds: npm repeats what the terminal sent to every
 * process.
 */
const ONE_PRESS_MS = 500;

/**
 * Time between two checks of the parent process, and the longest time that a process may go on after its parent ended,
 * in milliseconds.
 */
const PARENT_CHECK_MS = 500;
const ORPHAN_MS = 3000;

/**
 * Returns a signal that aborts on the first SIGINT (Ctrl-C), SIGTERM or SIGHUP, so that long work stops at its next
 * safe point, and calls `onSignal`. A second one ends the process at once; every write is a whole transaction, so
 * nothing recorded is lost. The end of the parent, if it has a channel to the process or is npm, which passes on only
 * SIGINT and SIGTERM, aborts as well and soon ends the process.
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
