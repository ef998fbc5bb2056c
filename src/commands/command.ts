import type { z } from 'zod';
import type { Config } from '../config.ts';
import { type Output, openPage, type Page } from './terminal/page.ts';
import { formatJson } from './terminal/printable.ts';

/** What a command has besides its own arguments. */
export interface CommandContext {
  /** Reads the settings; throws as `readConfig` does. */
  getConfig: () => Config;
  /** The report, and nothing else. */
  stdout: Output;
  /** Progress and remarks. */
  stderr: Output;
  now: () => Date;
  /** Aborted by Ctrl-C: stop at the next safe point and report what is done. */
  signal: AbortSignal;
  json: boolean;
}

/** How an argument or option is written, and what it is for: `['<slug>', 'the listing']`, `['--limit <n>', '…']`. */
type Described = readonly [flags: string, description: string];

export interface CommandDefinition<Input, Result> {
  /** One line, for the list of commands. */
  summary: string;
  /** What a user should know besides, in the command's own help. */
  details?: string;
  arguments?: readonly Described[];
  options?: readonly Described[];
  examples: readonly (readonly [line: string, meaning: string])[];
  /** Checks arguments and options, by name; what it refuses is wrong usage. */
  input: z.ZodType<Input>;
  /** Does the work. `undefined`: the output is already written. */
  run: (input: Input, context: CommandContext) => Promise<Result | undefined> | Result | undefined;
  /** Writes the result for a person or a pipe; `--json` writes the result itself. */
  render: (result: Result, page: Page) => void;
  /** False where the work was done in part only: exit code 1. */
  isDone?: (result: Result) => boolean;
}

/** A command as the command line runs it. `execute` takes arguments already checked, and gives the exit code. */
export interface Command
  extends Pick<CommandDefinition<unknown, unknown>, 'summary' | 'details' | 'arguments' | 'options' | 'examples'> {
  input: z.ZodType;
  execute: (raw: unknown, context: CommandContext) => Promise<number>;
}

/** Makes a command of its definition: its types are checked here once, so that commands of all kinds fit one record. */
export function defineCommand<Input, Result>(definition: CommandDefinition<Input, Result>): Command {
  const { input, run, render, isDone, ...described } = definition;
  return {
    ...described,
    input,
    execute: async (raw, context) => {
      const result = await run(input.parse(raw), context);
      if (result === undefined) return 0;
      const { stdout } = context;
      if (context.json) {
        stdout.write(`${formatJson(result, 2)}\n`);
      } else {
        const page = openPage(stdout);
        render(result, page);
        stdout.write(page.getText());
      }
      return (isDone?.(result) ?? true) ? 0 : 1;
    },
  };
}
