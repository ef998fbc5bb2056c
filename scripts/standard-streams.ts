import { getExitCode, getFailure } from '../src/commands/failure.ts';

/**
 * For commands that write what they found: a reader that has seen enough (`| head`) ends the command quietly, with exit
 * code 0. Whatever else keeps standard output from being written, such as a full disk, is one sentence and exit code 1.
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

/** For what goes on whether or not anybody reads it: a server, a rebuild. */
export function goOnWhereUnread({ stdout, stderr }: NodeJS.Process): void {
  for (const stream of [stdout, stderr]) stream.on('error', ignore);
}

function ignore(): void {
  // There is nobody left to tell.
}
