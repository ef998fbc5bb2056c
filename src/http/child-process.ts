import type { ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Logger } from 'pino';

/** Longest time for a process to stop, in milliseconds. What it has recorded stays, however it ends. */
const STOP_MS = 3000;

/** The flags of `npm start`. Without them a process uses half as much memory again. */
export const FLAGS = ['--max-semi-space-size=8'];

/** Ends a process: asks it to stop, and kills it after `STOP_MS`. */
export function endChild(child: ChildProcess): void {
  child.kill('SIGTERM');
  setTimeout(() => child.kill('SIGKILL'), STOP_MS).unref();
}

/** Logs the error output of a process. Returns its exit code once it has ended; null if a signal ended it. */
export async function followChild(child: ChildProcess, logger: Logger, name: string): Promise<number | null> {
  child.on('error', (error) => logger.error({ err: error }, `the process of ${name} cannot be started or reached`));
  if (child.stderr) createInterface({ input: child.stderr }).on('line', (line) => logger.info({ text: line }, name));
  // A process that could not be started never exits, but it closes.
  const { promise, resolve } = Promise.withResolvers<number | null>();
  child.once('close', resolve);
  // A process that the system has no room for does not even close.
  child.once('error', () => child.pid === undefined && resolve(null));
  return promise;
}
