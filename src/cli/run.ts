import { debuglog } from 'node:util';
import { readConfig } from '../config.ts';
import { getFailure } from '../model/failure.ts';
import { formatJson } from '../model/json-text.ts';
import type { Command, CommandContext } from './command.ts';
import { addHint, buildFailureDocument, EXIT, getExitCode } from './failure.ts';
import { loadCommands } from './index.ts';
import { parseCommandLine } from './program.ts';
import { getPrintable } from './terminal/printable.ts';

const debug = debuglog('catalogue');

/**
 * Runs one command line (without program name) and returns its exit code. A failure is written as one sentence with a
 * hint to standard error, and with `--json` also as the only document to standard output. Never throws.
 */
export async function runCommandLine(
  args: readonly string[],
  { stdout, stderr, signal, now }: Pick<CommandContext, 'stdout' | 'stderr' | 'signal' | 'now'>,
  commands?: Readonly<Record<string, Command>>,
): Promise<number> {
  let json = args.includes('--json');
  try {
    const request = parseCommandLine(commands ?? (await loadCommands(args)), args, stdout.columns);
    if (request.kind !== 'run') {
      stdout.write(json ? `${formatJson({ [request.kind]: request.text.trimEnd() }, 2)}\n` : request.text);
      return EXIT.done;
    }
    json = request.json;
    const { command, input } = request;
    const context = { stdout, stderr, signal, now, json, getConfig: readConfig };
    return await command.execute(input, context);
  } catch (error) {
    debug('%o', error);
    const failure = addHint(getFailure(error));
    if (json) stdout.write(`${formatJson(buildFailureDocument(failure), 2)}\n`);
    stderr.write(`error: ${getPrintable(failure.message)}\n`);
    stderr.write(`hint: ${getPrintable(failure.hint)}\n`);
    return getExitCode(failure);
  }
}
