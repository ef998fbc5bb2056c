import { getExitCode } from '../src/cli/failure.ts';
import { getFailure } from '../src/model/failure.ts';

/**
 * Makes a command end quietly with exit code 0 when its reader stops reading (`| head`). For any other failure of standard
 * output, such as a full disk, it writes one sentence and ends with 1.
 */
export function endWhereUnread({ stdout, stderr }: NodeJS.Process): void {
  stderr.on('error', ignore);
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    const failure = getFailure(error);
    stderr.write(`error: ${failure.message}\n${failure.hint ? `hint: ${failure.hint}\n` : ''}`);
    process.exit(getExitCode(failure));
  });
}

/** Makes a process go on when nobody reads its output, for a server or a rebuild. */
export function goOnWhereUnread({ stdout, stderr }: NodeJS.Process): void {
  for (const stream of [stdout, stderr]) stream.on('error', ignore);
}

function ignore(): void {
  // The failure cannot be reported, because it is that of the output.
}
