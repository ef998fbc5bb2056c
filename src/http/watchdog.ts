import { url as getDebuggerUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';

/** Time between a process's signs that it does not hang, in milliseconds, and number that may be missing in a row. */
const TICK_MS = 1000;
const TICKS = 30;

/** Ticks while a debugger is listening: it may hold the process up for as long as a person thinks. */
const TICKS_DEBUGGED = 2 ** 31 - 1;

/** Data of the watching thread. */
interface Watched {
  /** Number of ticks left: set again by the process, and counted down by the thread. */
  readonly left: Int32Array;
  readonly tickMs: number;
  readonly limit: number;
  readonly isTerminal: boolean;
}

/**
 * Ends this process, with a line in the log, once its event loop stood still for 30 seconds, and returns the function that
 * stops watching. A hung server keeps its port and answers nobody, which no supervisor notices; each notices that it ended.
 * A thread watches. It counts its own ticks, since the clock goes on while the machine is suspended, and the thread does
 * not. `onError` is called if the thread fails: nobody watches then.
 */
export function startWatchdog({
  isTerminal,
  onError,
  tickMs = TICK_MS,
}: {
  /** True if people read the log: they get only the sentence. */
  isTerminal: boolean;
  onError: (error: unknown) => void;
  tickMs?: number;
}): () => void {
  const left = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const show = () => Atomics.store(left, 0, getDebuggerUrl() === undefined ? TICKS : TICKS_DEBUGGED);
  show();
  const showing = setInterval(show, tickMs).unref();
  const workerData: Watched = { left, tickMs, limit: TICKS, isTerminal };
  // The code is text, because a thread that reads TypeScript takes twice the memory. The limit is no tighter: where V8
  // cannot even start the thread within it, V8 ends the whole process.
  const thread = new Worker(`(${countDown})(require('node:worker_threads').workerData)`, {
    ...{ eval: true, workerData, execArgv: [], env: {} },
    resourceLimits: { maxOldGenerationSizeMb: 16 },
  });
  thread.on('error', onError);
  thread.unref();
  return () => {
    clearInterval(showing);
    void thread.terminate();
  };
}

/** Runs in the thread. It is handed over as text, so it knows nothing of this file. */
function countDown({ left, tickMs, limit, isTerminal }: Watched): void {
  const { write } = process.getBuiltinModule('node:fs');
  const watching = setInterval(() => {
    if (Atomics.sub(left, 0, 1) > 1) return;
    clearInterval(watching);
    // An exit would end the thread alone, and any other signal wait for the event loop that hangs.
    const end = () => process.kill(process.pid, 'SIGKILL');
    // Writing may never end, for example to a terminal whose output somebody paused.
    setTimeout(end, 1000);
    const msg = 'The server did nothing for 30 seconds: it hangs, and ends itself to be started again.';
    const line = { level: 60, time: Date.now(), silent_ms: limit * 1000, msg };
    write(2, `${isTerminal ? msg : JSON.stringify(line)}\n`, end);
  }, tickMs);
}
