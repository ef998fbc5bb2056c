import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import type { OnRebuildEvent, RebuildResult } from './events.ts';
import { buildFailureError, type Failure } from './failure.ts';
import type { RebuildMessage, RebuildRequest } from './rebuild-process.ts';

const PROCESS = join(import.meta.dirname, 'rebuild-process.ts');

/**
 * Makes a release of the catalogue as it is and makes it the current one, in a process of its own: whatever happens there,
 * even a full memory or a `kill -9`, this process and the current release are as they were. Waits while another rebuild
 * runs. With `signal` it can be stopped at any moment; in the `background` it gives way to everything else. Throws
 * `ServiceError` with what happened as its reason (`disk_full`, `page_failed`, `check_failed`, `compile_failed`,
 * `killed`, `stopped` …).
 */
export async function rebuild({
  config,
  force = false,
  background = false,
  onEvent,
  signal,
}: {
  config: Config;
  force?: boolean;
  background?: boolean;
  onEvent?: OnRebuildEvent | undefined;
  signal?: AbortSignal | undefined;
}): Promise<RebuildResult> {
  if (signal?.aborted) throw buildEndError(null, null, true);
  const child = fork(PROCESS, { execArgv: [], stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  const stop = () => child.kill('SIGKILL');
  signal?.addEventListener('abort', stop, { once: true });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => onEvent?.({ type: 'said', text }));
  try {
    return await new Promise<RebuildResult>((resolve, reject) => {
      let end: { result: RebuildResult } | { failure: Failure } | undefined;
      child.on('message', (message: RebuildMessage) => {
        if ('event' in message) onEvent?.(message.event);
        else end = message;
      });
      child.once('error', reject);
      child.once('close', (code, killedBy) => {
        if (end && 'result' in end) resolve(end.result);
        else reject(end ? buildFailureError(end.failure) : buildEndError(code, killedBy, signal?.aborted ?? false));
      });
      const request: RebuildRequest = { config, force, background };
      child.send(request);
    });
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

function buildEndError(code: number | null, killedBy: NodeJS.Signals | null, stopped: boolean): ServiceError {
  if (stopped) return new ServiceError('unavailable', 'The rebuild was stopped.', { reason: 'stopped' });
  return new ServiceError('unavailable', `The rebuild ended before it was done (${killedBy ?? `exit code ${code}`}).`, {
    hint: 'The last release keeps serving, and the next rebuild starts afresh.',
    reason: killedBy ? 'killed' : 'ended_early',
  });
}
