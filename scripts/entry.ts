import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { addHint, buildUsageFailure, getExitCode } from '../src/cli/failure.ts';
import { getVersion } from '../src/cli/version.ts';
import { getErrorMessage } from '../src/errors.ts';
import { getFailure } from '../src/model/failure.ts';

const COMMON = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean', short: 'V' } } as const;

/** Usage of an entry point, for `--help`. */
export interface Usage {
  /** One line: `npm start -- [--no-rebuild]`. */
  readonly line: string;
  /** Its purpose, and the meaning of each option. */
  readonly about: string;
}

/**
 * Returns the parsed command line of an entry point. For `--help` and `--version` it writes the text and ends the process
 * with 0. Throws `bad_input` (`usage`) for anything else that is not in `options`.
 */
export function readArguments<const Options extends ParseArgsOptionsConfig>(
  { line, about }: Usage,
  options: Options,
  { allowPositionals = false } = {},
) {
  const parsed = attempt(line, () => parseArgs({ options: { ...options, ...COMMON }, allowPositionals }));
  const { help, version } = parsed.values as { help?: boolean; version?: boolean };
  if (help || version) {
    process.stdout.write(help ? `Usage: ${line}\n\n${about}\n` : `${getVersion()}\n`);
    process.exit(0);
  }
  return parsed;
}

function attempt<Parsed>(line: string, parse: () => Parsed): Parsed {
  try {
    return parse();
  } catch (error) {
    // Some messages of Node go on with advice.
    const [sentence = ''] = getErrorMessage(error).split('. ');
    throw buildUsageFailure(`${sentence.replace(/\.$/, '')}.`, line);
  }
}

/** Writes a failure as one sentence with a hint, and ends the process with its exit code. */
export function endWithFailure(error: unknown): never {
  const failure = addHint(getFailure(error));
  process.stderr.write(`error: ${failure.message}\nhint: ${failure.hint}\n`);
  process.exit(getExitCode(failure));
}
