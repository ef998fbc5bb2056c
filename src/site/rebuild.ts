import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import type { OnRebuildEvent, RebuildResult } from './events.ts';
import type { RebuildMessage, RebuildRequest } from './rebuild-process.ts';
import { SEMI_SPACE_MB } from './threads.ts';

const PROCESS = join(import.meta.dirname, 'rebuild-process.ts');

/**
 * The process lives for seconds, so its code is compiled at once with the baseline compiler: an eighth less work than
 * interpreting it first.
 */
const FLAGS = [`--max-semi-space-size=${SEMI_SPACE_MB}`, '--always-sparkplug', '--expose-gc'];

/** Time for which the process waits for the next rebuild and keeps what it has read, in milliseconds. */
const KEPT_MS = 5 * 60 * 1000;

/** Options of one rebuild, and its callbacks. */
export interface RebuildOptions {
  config: Config;
  force?: boolean;
  onEvent?: OnRebuildEvent | undefined;
  /** Stops it at any moment. */
  signal?: AbortSignal | undefined;
}

/** Writes the site folder, one rebuild after the other. */
export interface Rebuilder {
  /** See `rebuild`. Only one at a time. */
  rebuild(options: RebuildOptions): Promise<RebuildResult>;
  /** Resolves when the process has ended. */
  close(): Promise<void>;
}

/**
 * Opens the writing of pages in a process of its own. The process is kept for the next rebuild, which then reads only what
 * changed. It is replaced after a failure, for other code, and after some minutes of rest. With `background` it runs with low
 * priority.
 */
export function openRebuilder({ background = false }: { background?: boolean } = {}): Rebuilder {
  let child: ChildProcess | undefined;
  let rest: NodeJS.Timeout | undefined;
  const close = async () => {
    clearTimeout(rest);
    const closing = child;
    child = undefined;
    if (!closing || closing.exitCode !== null || closing.signalCode !== null) return;
    holdOpen(closing, true);
    const closed = once(closing, 'exit');
    // It has nothing to finish, and its low priority would make a normal end slow.
    closing.kill('SIGKILL');
    await closed;
  };
  return {
    close,
    async rebuild({ config, force = false, onEvent, signal }) {
      if (signal?.aborted) throw buildEndError(null, null, true);
      clearTimeout(rest);
      const request: RebuildRequest = { config, force, background };
      try {
        let result: RebuildResult | undefined;
        while (!result) {
          child ??= fork(PROCESS, {
            execArgv: FLAGS,
            stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
          });
          result = await ask(child, request, { onEvent, signal });
          if (!result) await close();
        }
        rest = setTimeout(close, KEPT_MS).unref();
        return result;
      } catch (error) {
        await close();
        throw error;
      }
    },
  };
}

/**
 * Brings the site folder up to date with the catalogue, in a process of its own. Every page stays whole, even if that process
 * runs out of memory or is killed. Waits while another rebuild runs. Throws `ServiceError` with the cause as its reason
 * (`disk_full`, `page_failed`, `compile_failed`, `killed`, `stopped` …).
 */
export async function rebuild(options: RebuildOptions): Promise<RebuildResult> {
  const rebuilder = openRebuilder();
  try {
    return await rebuilder.rebuild(options);
  } finally {
    await rebuilder.close();
  }
}

/** Asks the process for one rebuild. Returns undefined if its code is outdated. */
async function ask(
  child: ChildProcess,
  request: RebuildRequest,
  { onEvent, signal }: Pick<RebuildOptions, 'onEvent' | 'signal'>,
): Promise<RebuildResult | undefined> {
  const stop = () => child.kill('SIGKILL');
  const listeners = new AbortController();
  signal?.addEventListener('abort', stop, { once: true, signal: listeners.signal });
  const onText = (text: string) => onEvent?.({ type: 'said', text });
  child.stderr?.setEncoding('utf8').on('data', onText);
  const { promise, resolve, reject } = Promise.withResolvers<RebuildResult | undefined>();
  const onMessage = (message: RebuildMessage) => {
    if ('event' in message) return onEvent?.(message.event);
    if ('failure' in message) {
      const { code, message: text, ...options } = message.failure;
      return reject(new ServiceError(code, text, options));
    }
    resolve('result' in message ? message.result : undefined);
  };
  const onClose = (code: number | null, killedBy: NodeJS.Signals | null) =>
    reject(buildEndError(code, killedBy, signal?.aborted ?? false));
  child.on('message', onMessage).once('error', reject).once('close', onClose);
  holdOpen(child, true);
  try {
    child.send(request);
    return await promise;
  } finally {
    holdOpen(child, false);
    listeners.abort();
    child.stderr?.off('data', onText).resume();
    child.off('message', onMessage).off('error', reject).off('close', onClose);
  }
}

/** Sets whether the child keeps this process running. A child that waits for its next rebuild does not. */
function holdOpen(child: ChildProcess, isHeld: boolean): void {
  const { stderr, channel } = child;
  for (const handle of [child, channel, stderr instanceof Socket ? stderr : undefined]) {
    if (isHeld) handle?.ref();
    else handle?.unref();
  }
}

function buildEndError(code: number | null, killedBy: NodeJS.Signals | null, stopped: boolean): ServiceError {
  if (stopped)
    return new ServiceError('unavailable', 'The rebuild was stopped.', {
      hint: 'Run it again: it continues with the pages that are left.',
      reason: 'stopped',
    });
  return new ServiceError('unavailable', `The rebuild ended before it was done (${killedBy ?? `exit code ${code}`}).`, {
    hint: 'The pages that are there keep being served, and the next rebuild goes on.',
    reason: killedBy ? 'killed' : 'ended_early',
  });
}
